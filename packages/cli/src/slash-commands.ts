// Commands of a person in a chat.
import { suggestion } from './words.ts'

export type SlashCommand =
  | { readonly type: PlainCommand }
  | { readonly type: 'model'; readonly name: string | undefined }
  /** Number of a call that the chat has shown; the newest without one. */
  | { readonly type: 'show'; readonly call: number | undefined }
  | { readonly type: 'approve'; readonly isAlways: boolean }
  | { readonly type: 'wrong'; readonly message: string }

const PLAIN = ['quit', 'help', 'log', 'new', 'retry', 'undo', 'fork', 'tools', 'usage'] as const
type PlainCommand = (typeof PLAIN)[number]

export const SLASH_COMMANDS: readonly { readonly usage: string; readonly does: string }[] = [
  { usage: '/model [NAME]', does: 'another model answers from now on; without a name, which one does' },
  { usage: '/retry', does: 'the last answer once more' },
  { usage: '/undo', does: 'takes back the last message and its answer' },
  { usage: '/fork', does: 'goes on in a copy of this session' },
  { usage: '/show [N]', does: 'the whole result of a call, of the newest one without a number' },
  { usage: '/tools', does: 'what the agent may call' },
  { usage: '/usage', does: 'tokens, cost and context of this session' },
  {
    usage: '/approve always|ask',
    does: 'calls that need an approval get it unasked in this chat, or are asked about again',
  },
  { usage: '/new', does: 'a new session' },
  { usage: '/log', does: 'the session so far: who said what, which calls, how they ended' },
  {
    usage: '/help',
    does: 'these lines; //text says a text that begins with a slash; Alt+Enter, or \\ before Enter, begins a further line',
  },
  { usage: '/quit', does: 'leave, as Ctrl+D does; Ctrl+C interrupts the answer, and leaves where there is none' },
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
  return { type: 'wrong', message: `there is no command ${word}${near || ';'} there are ${SLASH_NAMES.join(', ')}` }
}
