// Options of the commands, from words and variables to checked values. Whatever is wrong is said in one line.
import { parseArgs } from 'node:util'
import type { Console } from './console.ts'
import { wholeNumber } from './limit-options.ts'
import type { ServerOptions } from './server-options.ts'
import { SERVER_WORDS, serverOptions, withProxyCount } from './server-options.ts'
import type { StoreLocation } from './store-location.ts'
import { storeLocation } from './store-location.ts'
import { UsageError } from './usage-error.ts'

export { UsageError } from './usage-error.ts'

export type Variables = Readonly<Record<string, string | undefined>>

export interface ServeOptions {
  readonly command: 'serve'
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly host: string
  readonly port: number
  readonly origins: readonly string[] | undefined
  readonly json: boolean
  /** Exchanges of the window, from MAX_TURNS. */
  readonly exchanges: number | undefined
  readonly store: StoreLocation
  /** Days that a session is kept after its last use; for ever without. */
  readonly keepDays: number | undefined
  readonly server: ServerOptions
  /** The other words, when the server is to start anew at every change. */
  readonly dev: readonly string[] | undefined
}

export interface ChatOptions {
  readonly command: 'chat'
  readonly once: string
  readonly agent: string | undefined
  readonly model: string | undefined
  readonly exchanges: number | undefined
}

export type CommandName = 'serve' | 'chat'

export function isCommand(text: string): text is CommandName {
  return text === 'serve' || text === 'chat'
}

/** @throws UsageError */
export function parseOptions(
  command: CommandName,
  words: readonly string[],
  { variables, folder }: Pick<Console, 'variables' | 'folder'>,
): ServeOptions | ChatOptions {
  return command === 'serve' ? serveOptions(words, variables, folder) : chatOptions(words, variables)
}

const SHARED = { agent: { type: 'string' }, model: { type: 'string' } } as const

function serveOptions(words: readonly string[], variables: Variables, folder: string): ServeOptions {
  const known = {
    ...SHARED,
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string' },
    store: { type: 'string' },
    'keep-days': { type: 'string' },
    'allow-origin': { type: 'string', multiple: true },
    json: { type: 'boolean', default: false },
    ...SERVER_WORDS,
  } as const
  const args = [...withProxyCount(words)]
  const { values } = readWords(() => parseArgs({ args, options: known, allowPositionals: false }), 'serve')
  if (values.host.trim() === '')
    throw new UsageError('--host must not be empty; 0.0.0.0 is every address of the machine')
  return {
    command: 'serve',
    agent: values.agent,
    model: values.model,
    host: values.host,
    port: portOf(values.port, variables),
    origins: values['allow-origin'],
    json: values.json,
    exchanges: numberOf(variables, 'MAX_TURNS', 10_000),
    store: storeLocation(values.store, variables, folder),
    keepDays:
      values['keep-days'] === undefined ? undefined : wholeNumber(values['keep-days'], '--keep-days', [1, 36_500]),
    server: serverOptions(values, variables),
    dev: values.dev ? words.filter((word) => word !== '--dev') : undefined,
  }
}

function chatOptions(words: readonly string[], variables: Variables): ChatOptions {
  const known = { ...SHARED, once: { type: 'string' } } as const
  const { values } = readWords(() => parseArgs({ args: [...words], options: known, allowPositionals: false }), 'chat')
  if (values.once === undefined) throw new UsageError('chat needs --once "what you want to know"')
  if (values.once.trim() === '') throw new UsageError('--once must not be empty')
  return {
    command: 'chat',
    once: values.once,
    agent: values.agent,
    model: values.model,
    exchanges: numberOf(variables, 'MAX_TURNS', 10_000),
  }
}

/** The messages of parseArgs are good; only their advice about `--` is for others. */
function readWords<Parsed>(read: () => Parsed, command: string): Parsed {
  try {
    return read()
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const [first = message] = message.split(/\. To specify|\n/)
    throw new UsageError(`${first.replace(/\.$/, '')}; see "baton ${command} --help"`)
  }
}

const PORT = 8080
const PORT_MAX = 65_535

function portOf(option: string | undefined, variables: Variables): number {
  const text = option ?? variables['PORT']?.trim() ?? ''
  if (text === '' && option === undefined) return PORT
  if (/^\d{1,5}$/.test(text) && Number(text) <= PORT_MAX) return Number(text)
  const name = option === undefined ? 'the variable PORT' : '--port'
  throw new UsageError(`${name} must be a number from 0 to ${PORT_MAX}, not "${text}"`)
}

function numberOf(variables: Variables, name: string, most: number): number | undefined {
  const text = variables[name]?.trim() ?? ''
  return text === '' ? undefined : wholeNumber(text, `the variable ${name}`, [1, most])
}
