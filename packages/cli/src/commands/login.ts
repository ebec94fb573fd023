// `baton login`: saves a provider's key, so that it need not be in the environment. A key is never shown.
import { NETWORK_PROVIDERS, findVariables } from '@baton/models/internal'
import type { Command } from '../command.ts'
import type { Console, ConsoleStreams } from '../console.ts'
import { KEY_CHARS_MAX, findKeysFile, keepKey, readKeys } from '../places/kept-keys.ts'
import { UsageError } from '../words/usage-error.ts'
import { readWords, suggestion } from '../words/words.ts'

const HELP = `baton login: save the key of a provider

The key is saved in a file in your config folder that only you can read. Commands use it if the provider's variable,
such as ANTHROPIC_API_KEY, is not set. On a terminal, the command asks for the key without showing it; otherwise it
reads the key from standard input.

Usage: baton login [PROVIDER] [options]

Options:
  --list        list the variables with a saved key, without the keys
  --remove      delete the provider's saved key

Examples:
  baton login anthropic
  baton login openai < key.txt
  baton login anthropic --remove
`

export const loginCommand: Command = {
  help: HELP,
  run: async (words, terminal) => {
    const { values, positionals } = readWords(words, {
      command: 'login',
      options: { list: { type: 'boolean', default: false }, remove: { type: 'boolean', default: false } },
      words: ['PROVIDER'],
    })
    if (values.list) return listKeys(terminal)
    const [provider] = positionals
    if (values.remove) {
      if (provider === undefined) throw new UsageError('login --remove needs the provider whose key to delete')
      const variable = findKeyVariable(provider)
      keepKey(variable, undefined)
      terminal.note(`the saved key for ${variable} was deleted`)
      return 0
    }
    return await logIn(provider, terminal)
  },
}

/** Asks a person, or reads piped input. @throws UsageError, BatonError */
export async function logIn(given: string | undefined, terminal: Console): Promise<number> {
  const { streams } = terminal
  if (!streams) throw new UsageError('there is no standard input to read a key from')
  const isTerminal = streams.input.isTTY === true
  const provider = given ?? (isTerminal ? await askProvider(streams) : undefined)
  if (provider === undefined) throw new UsageError(`login needs a provider: ${listProviders().join(', ')}`)
  const variable = findKeyVariable(provider)
  const key = isTerminal ? await readHidden(streams, `Key for ${provider} (hidden): `) : (await readAll(streams)).trim()
  if (!/^[\x21-\x7e]+$/.test(key) || key.length > KEY_CHARS_MAX)
    throw new UsageError('that is not a key: it must be one word of printable ASCII characters')
  keepKey(variable, key)
  terminal.note(`the key was saved in ${findKeysFile()}; ${variable} in the environment takes precedence`)
  return 0
}

function listKeys({ write, note }: Console): number {
  const names = Object.keys(readKeys())
  if (names.length === 0) note('no keys are saved')
  for (const name of names) write(`${name}\n`)
  return 0
}

function listProviders(): readonly string[] {
  return NETWORK_PROVIDERS.filter((provider) => findVariables(provider)?.needsKey === true)
}

/** @throws UsageError */
function findKeyVariable(provider: string): string {
  const known = findVariables(provider)
  if (known?.needsKey === true) return known.keyVariable
  const providers = listProviders()
  throw new UsageError(
    `there is no provider "${provider}" with a key${suggestion(provider, providers) || ';'} the providers are ${providers.join(', ')}`,
  )
}

async function askProvider({ input, output }: ConsoleStreams): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input, output })
  try {
    const answer = (await lines.question(`Provider (${listProviders().join(', ')}): `)).trim()
    return answer === '' ? undefined : answer
  } finally {
    lines.close()
  }
}

async function readAll({ input }: ConsoleStreams): Promise<string> {
  let text = ''
  for await (const piece of input as AsyncIterable<Buffer | string>) {
    text += piece.toString()
    if (text.length > KEY_CHARS_MAX * 2) break
  }
  return text
}

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'

/** @throws UsageError when the person leaves */
function readHidden({ input, output }: ConsoleStreams, question: string): Promise<string> {
  const terminal = input as typeof input & { setRawMode?: (raw: boolean) => void } // a terminal's stream
  output.write(question)
  terminal.setRawMode?.(true)
  return new Promise<string>((resolve, reject) => {
    let key = ''
    const end = (settle: () => void): void => {
      input.off('data', take)
      terminal.setRawMode?.(false)
      input.pause()
      output.write('\n')
      settle()
    }
    const take = (piece: Buffer | string): void => {
      for (const character of piece.toString()) {
        if (character === '\r' || character === '\n') return end(() => resolve(key))
        if (character === CTRL_C || character === CTRL_D)
          return end(() => reject(new UsageError('no key was entered; nothing was changed')))
        if (character === '\u007f' || character === '\b') key = key.slice(0, -1)
        else if (key.length < KEY_CHARS_MAX) key += character
      }
      return undefined
    }
    input.on('data', take)
    input.resume()
  })
}
