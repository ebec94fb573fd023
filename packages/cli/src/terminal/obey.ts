// Performs a person's commands in a chat.
import type { Conversation, ConversationTurn, SessionControls } from './conversation.ts'
import { errorLine } from '../words/error-line.ts'
import { LOG_MARGIN } from '../words/log-lines.ts'
import type { Screen } from './screen.ts'
import type { ShownCalls } from './shown-calls.ts'
import { readSlashCommand, SLASH_COMMANDS } from './slash-commands.ts'
import { describeUsage } from './usage-line.ts'

/** State that a command may use and change. */
export interface ChatRoom {
  readonly screen: Screen
  readonly shownCalls: ShownCalls
  conversation: Conversation
  /** Whether calls that need an approval are approved without asking. */
  approvesAlways: boolean
  /** Opens that session, or a new one, instead of this one. */
  move(session: string | undefined): Promise<void>
  follow(turn: ConversationTurn): Promise<void>
}

/** Cells of the command column in the help. */
const HELP_COLUMN = 14

/** Returns true if the person leaves. */
export async function obey(room: ChatRoom, text: string): Promise<boolean> {
  try {
    return await obeyCommand(room, text)
  } catch (cause) {
    room.screen.note(errorLine(cause), 'bad')
    return false
  }
}

async function obeyCommand(room: ChatRoom, text: string): Promise<boolean> {
  const { screen, conversation } = room
  const command = readSlashCommand(text)
  switch (command.type) {
    case 'quit':
      return true
    case 'help':
      for (const { usage, does } of SLASH_COMMANDS)
        screen.note(
          usage.length < HELP_COLUMN ? `${usage.padEnd(HELP_COLUMN)}${does}` : `${usage}: ${does}`,
          'plain',
          HELP_COLUMN,
        )
      break
    case 'model':
      screen.note(await conversation.setModel(command.name), 'dim')
      break
    case 'log':
      for (const line of await conversation.log()) screen.note(line, 'plain', LOG_MARGIN)
      break
    case 'new':
      await room.move(undefined)
      screen.note(`new session ${room.conversation.session}`, 'dim')
      break
    case 'show':
      showCall(room, command.call)
      break
    case 'approve':
      room.approvesAlways = command.isAlways
      screen.note(
        command.isAlways ? 'calls in this chat are now approved without asking' : 'calls that need approval ask again',
        'dim',
      )
      break
    case 'wrong':
      screen.note(command.message, 'bad')
      break
    default:
      await control(room, command.type, findControls(conversation))
  }
  return false
}

type Control = 'retry' | 'undo' | 'fork' | 'tools' | 'usage'

async function control(room: ChatRoom, command: Control, controls: SessionControls): Promise<void> {
  const { screen } = room
  switch (command) {
    case 'retry':
      await room.follow(await controls.retry())
      break
    case 'undo': {
      screen.note(`undone: ${await controls.undo()}`, 'dim')
      break
    }
    case 'fork':
      await room.move(await controls.fork())
      screen.note(`copied to session ${room.conversation.session}`, 'dim')
      break
    case 'tools': {
      const lines = controls.tools()
      for (const line of lines) screen.note(line)
      if (lines.length === 0) screen.note('the agent has no tools', 'dim')
      break
    }
    case 'usage': {
      const [usage, status] = await Promise.all([controls.usage(), controls.status()])
      screen.note(describeUsage({ usage, ...status }))
      break
    }
    default:
      command satisfies never
  }
}

/** @throws Error */
function findControls({ controls }: Conversation): SessionControls {
  if (controls) return controls
  throw new Error('this chat does not support that command')
}

function showCall({ screen, shownCalls }: ChatRoom, number: number | undefined): void {
  const call = shownCalls.find(number)
  if (!call) {
    screen.note(number === undefined ? 'no call has a result yet' : `call ${number} has no result`, 'bad')
    return
  }
  screen.note(`${call.name}, call ${call.number}:`, 'bold')
  screen.copy(call.text)
}
