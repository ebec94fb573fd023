// What a person may command in a chat.
import { suggestion } from './words.ts'

export type SlashCommand =
  | { readonly type: 'quit' | 'help' | 'log' | 'new' }
  | { readonly type: 'model'; readonly name: string | undefined }
  | { readonly type: 'wrong'; readonly message: string }

export const SLASH_COMMANDS: readonly { readonly usage: string; readonly does: string }[] = [
  { usage: '/model [NAME]', does: 'another model answers from now on; without a name, which one does' },
  { usage: '/new', does: 'a new session' },
  { usage: '/log', does: 'the session so far: who said what, which calls, how they ended' },
  { usage: '/help', does: 'these lines; //text says a text that begins with a slash' },
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
  const type = (['quit', 'help', 'log', 'new'] as const).find((each) => word === `/${each}`)
  if (type) return { type }
  const near = suggestion(word, SLASH_NAMES)
  return { type: 'wrong', message: `there is no command ${word}${near || ';'} there are ${SLASH_NAMES.join(', ')}` }
}
