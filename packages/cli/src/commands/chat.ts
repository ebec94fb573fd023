// `baton chat`: connects a person (a terminal, a pipe, one question) with the place where turns run (here, or a
// server).
import type { ChatOptions, EmbeddedOptions } from './chat-options.ts'
import { CHAT_HELP, chatOptions } from './chat-options.ts'
import envPaths from 'env-paths'
import { join } from 'node:path'
import { openChatHistory } from '../terminal/chat-history.ts'
import type { Command } from '../command.ts'
import type { Console, ConsoleStreams, TerminalOutput } from '../console.ts'
import { wantsColor } from '../console.ts'
import type { AskPerson, ChatPartner, Person } from '../terminal/conversation.ts'
import { openEmbeddedChat } from '../places/embedded-chat.ts'
import { createEventLines } from '../words/event-lines.ts'
import { joinInput } from '../words/joined-input.ts'
import { createOncePerson, createPipedPerson } from '../terminal/piped-person.ts'
import { createQuestions } from '../terminal/questions.ts'
import { createRemoteChat } from '../places/remote-chat.ts'
import type { Screen } from '../terminal/screen.ts'
import { createScreen } from '../terminal/screen.ts'
import { findAnsweringServer } from '../places/server-address.ts'
import { createShownCalls } from '../terminal/shown-calls.ts'
import { SLASH_NAMES } from '../terminal/slash-commands.ts'
import type { Talk } from '../terminal/talk.ts'
import { startTalk } from '../terminal/talk.ts'
import { createTurnDisplay } from '../terminal/turn-display.ts'
import { UsageError } from '../words/usage-error.ts'
import type { ChatHistory } from '../terminal/chat-history.ts'
import type { LineEditorOptions } from '../terminal/line-editor.ts'
import { createLineEditor } from '../terminal/line-editor.ts'

export const chatCommand: Command = {
  help: CHAT_HELP,
  run: (words, terminal) => chat(chatOptions(words, terminal), terminal),
}

async function chat(options: ChatOptions, terminal: Console): Promise<number> {
  const isTyped = options.once === undefined && !options.json && terminal.streams?.input.isTTY === true
  const screen = createScreenFor(terminal, isTyped)
  const current: { talk?: Talk } = {}
  const interrupt = (hadText?: boolean): void => current.talk?.interrupt(hadText)
  const person = await createPerson(options, terminal, interrupt)
  const questions = createQuestions(person, screen)
  const shownCalls = createShownCalls()
  let partner: ChatPartner | undefined
  const stopListening = terminal.onStop(() => interrupt())
  try {
    partner = await createPartner(options, terminal, { ask: questions.result, screen })
    for (const line of [...(isTyped ? partner.about : partner.about.slice(0, 1)), ...partner.may])
      screen.note(line, 'dim')
    if (isTyped && partner.hint !== undefined) screen.note(partner.hint, 'dim')
    if (isTyped) screen.note('/help lists the commands; Ctrl+D exits', 'dim')
    current.talk = await startTalk({
      partner,
      session: options.session,
      person,
      questions,
      screen,
      display: options.json
        ? createEventLines(terminal.write)
        : createTurnDisplay(screen, isTyped ? shownCalls : undefined),
      shownCalls,
      nowMs: () => performance.now(),
      failsAtOnce: options.once !== undefined,
    })
    return await current.talk.ended
  } finally {
    stopListening()
    person.close()
    await questions.settleAll()
    await partner?.close()
  }
}

async function createPerson(
  { once, json, partner }: ChatOptions,
  terminal: Console,
  onInterrupt: (hadText: boolean) => void,
): Promise<Person> {
  const { streams, variables } = terminal
  if (once !== undefined) return createOncePerson(await joinInput(once, terminal))
  if (!streams) throw new UsageError(NOBODY)
  if (json || streams.input.isTTY !== true) return await withFirstLine(createPipedPerson(streams.input))
  const output = shownOn(streams)
  const prompt = wantsColor(output, variables) ? '\u001b[1m›\u001b[22m ' : '› '
  const history = keepsNothing(partner)
    ? undefined
    : openChatHistory(join(envPaths('baton', { suffix: '' }).data, HISTORY))
  return createTerminalPerson({
    input: streams.input,
    output,
    prompt,
    completions: SLASH_NAMES,
    onInterrupt,
    ...(history && { history }),
  })
}

const HISTORY = 'chat-history'

/** Whether the chat leaves no session behind, and so writes nothing. */
function keepsNothing(partner: ChatOptions['partner']): boolean {
  return partner.type === 'embedded' && partner.store.type === 'memory'
}

const NOBODY = 'chat needs a terminal, lines on standard input, or --once "your question"'

/** Input without a line is not a conversation: the question was forgotten. @throws UsageError */
async function withFirstLine(person: Person): Promise<Person> {
  let first: string | undefined
  do first = await person.next(new AbortController().signal)
  while (first?.trim() === '')
  if (first === undefined) throw new UsageError(NOBODY)
  const lines = [first]
  return {
    next: (signal) => (lines.length > 0 ? Promise.resolve(lines.shift()) : person.next(signal)),
    close: () => person.close(),
  }
}

/** Conversations stay on the terminal even if answers are redirected. */
function shownOn({ output, errors }: ConsoleStreams): ConsoleStreams['output'] {
  return output.isTTY === true ? output : errors
}

function createScreenFor(terminal: Console, isTyped: boolean): Screen {
  const { streams, variables } = terminal
  const output = streams?.output
  const notes = isTyped && streams ? shownOn(streams) : streams?.errors
  const writeNote = (text: string): void => {
    if (isTyped && notes) notes.write(text)
    else terminal.note(text.replace(/\n$/, ''))
  }
  return createScreen({
    writeText: terminal.write,
    writeNote,
    ...(output?.isTTY === true && { columns: () => output.columns ?? 80 }),
    color: wantsColor(notes, variables),
  })
}

interface Asked {
  readonly ask: AskPerson
  readonly screen: Screen
}

async function createPartner(
  { partner }: ChatOptions,
  terminal: Console,
  { ask, screen }: Asked,
): Promise<ChatPartner> {
  const onNews = (line: string): void => screen.note(line, 'dim')
  if (partner.type === 'server') return createRemoteChat({ ...partner, askPerson: ask, onNews })
  const server = hasOwnWords(partner) ? undefined : await findAnsweringServer(partner.store)
  if (server) return createRemoteChat({ url: server.url, token: server.token, askPerson: ask, onNews, isHolder: true })
  return await openEmbeddedChat({ ...partner, keepDays: undefined, terminal, askPerson: ask, onNews })
}

/**
 * Whether options set anything that the store's server has already decided; such a chat runs by itself, alongside the
 * server.
 */
function hasOwnWords({ agent, model, baseUrl, mcp, permissions }: EmbeddedOptions): boolean {
  return [agent, model, baseUrl, permissions].some((one) => one !== undefined) || mcp.length > 0
}

interface TerminalPersonOptions {
  readonly input: LineEditorOptions['input']
  readonly output: TerminalOutput
  readonly prompt: string
  /** Words completed by the tab key. */
  readonly completions: readonly string[]
  /** Called at Ctrl+C; `hadText` if it discarded a started line. */
  readonly onInterrupt: (hadText: boolean) => void
  /** History of this and earlier chats. */
  readonly history?: ChatHistory
}

const WAITING_MAX = 100

/**
 * The person at a terminal. While a turn runs, keys are kept for the next line and not shown, so that they do not
 * appear within the answer.
 */
function createTerminalPerson({ prompt, ...init }: TerminalPersonOptions): Person {
  /** Messages that were finished while a turn was running. */
  const waiting: string[] = []
  const editor = createLineEditor({
    ...init,
    onLine: (line) => {
      if (waiting.length < WAITING_MAX) waiting.push(line)
    },
    onEnd: () => {},
  })
  return {
    next: async (signal) => {
      const [first] = waiting
      if (first === undefined) return await editor.readMessage(prompt, signal)
      init.output.write(`${prompt}${first}\r\n`)
      return waiting.shift()
    },
    ask: (question, signal) => editor.readAnswer(question, signal),
    close: () => editor.close(),
  }
}
