// Commands of a person in a chat.
import { suggestion } from '../words/words.ts'

export type SlashCommand =
  | { readonly type: PlainCommand }
  | { readonly type: 'model'; readonly name: string | undefined }
  /** Number of a call shown in the chat; without one, the newest. */
  | { readonly type: 'show'; readonly call: number | undefined }
  | { readonly type: 'approve'; readonly isAlways: boolean }
  | { readonly type: 'wrong'; readonly message: string }

const PLAIN = ['quit', 'help', 'log', 'new', 'retry', 'undo', 'fork', 'tools', 'usage'] as const
type PlainCommand = (typeof PLAIN)[number]

export const SLASH_COMMANDS: readonly { readonly usage: string; readonly does: string }[] = [
  { usage: '/model [NAME]', does: 'switch to another model; without a name, show the current one' },
  { usage: '/retry', does: 'ask for the last answer again' },
  { usage: '/undo', does: 'take back the last message and its answer' },
  { usage: '/fork', does: 'continue in a copy of this session' },
  { usage: '/show [N]', does: 'show the whole result of call N; without a number, of the newest' },
  { usage: '/tools', does: "list the agent's tools" },
  { usage: '/usage', does: 'show tokens, cost and context of this session' },
  {
    usage: '/approve always|ask',
    does: 'approve all calls in this chat without asking, or ask again',
  },
  { usage: '/new', does: 'start a new session' },
  { usage: '/log', does: 'show the session so far: messages, calls and how they ended' },
  {
    usage: '/help',
    does: 'show this help; //text sends text that begins with a slash; Alt+Enter, or \\ before Enter, adds a line',
  },
  { usage: '/quit', does: 'exit, like Ctrl+D; Ctrl+C interrupts a running answer, or exits if there is none' },
]

export const SLASH_NAMES: readonly string[] = SLASH_COMMANDS.map(({ usage }) => usage.split(' ')[0] ?? usage)

export function readSlashCommand(text: string): SlashCommand {
  const [word = '', ...rest] = text.split(/\s+/).filter((each) => each !== '')
  if (word === '/model') {
    if (rest.length > 1) return { type: 'wrong', message: `/model takes one name, not "${rest.join(' ')}"` }
    return { type: 'model', name: rest[0] }
  }
  if (word === '/exit' || word === '/q') return { type: 'quit' }
  if (word === '/show') {
    const [number] = rest
    if (rest.length > 1 || (number !== undefined && !/^[1-9]\d{0,5}$/.test(number)))
      return { type: 'wrong', message: `/show takes the number of a call, not "${rest.join(' ')}"` }
    return { type: 'show', call: number === undefined ? undefined : Number(number) }
  }
  if (word === '/approve') {
    const [how = ''] = rest
    if (rest.length !== 1 || !['always', 'ask'].includes(how))
      return { type: 'wrong', message: '/approve takes always or ask' }
    return { type: 'approve', isAlways: how === 'always' }
  }
  const type = PLAIN.find((each) => word === `/${each}`)
  if (type) return { type }
  const near = suggestion(word, SLASH_NAMES)
  return {
    type: 'wrong',
    message: `there is no command ${word}${near || ';'} the commands are ${SLASH_NAMES.join(', ')}`,
  }
}
