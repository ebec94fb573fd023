// Options of `baton serve` about the server itself: access, limits, transport and logging. Checked from words and
// variables; no file is read here.
import type { createLogger } from '@baton/host'
import type { HttpLimits } from '@baton/server/internal'
import type { PeerOptions, ConnectionLimits } from '@baton/server/internal'
import { checkPeers, isLoopback } from '@baton/server/internal'
import type { JwtOptions, JwtValues } from './jwt-options.ts'
import { JWT_WORDS, readJwtOptions } from './jwt-options.ts'
import { LIMIT_BOUNDS, readLimits, wholeNumber } from './limit-options.ts'
import { readToken } from '../words/token-option.ts'
import { UsageError } from '../words/usage-error.ts'
import type { Variables } from '../words/words.ts'

export type LogFormat = 'json' | 'pretty'

export interface LogOptions {
  readonly logFormat: LogFormat | undefined
  readonly logLevel: NonNullable<NonNullable<Parameters<typeof createLogger>[0]>['level']>
}

/** @throws UsageError */
export function readLogOptions(values: Pick<ServerValues, 'log-format' | 'log-level'>): LogOptions {
  return {
    logFormat: pickChoice<LogFormat>(values['log-format'], '--log-format', ['json', 'pretty']),
    logLevel: pickChoice(values['log-level'], '--log-level', ['info', 'warn', 'silent']) ?? 'info',
  }
}

export interface ServerOptions extends LogOptions {
  readonly token: string | undefined
  /** An issuer whose tokens are accepted too. */
  readonly jwt: JwtOptions | undefined
  /** File names. */
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined
  readonly trustedProxies: number
  /** Names of the server behind a proxy, in lower case, some with a port. */
  readonly publicHosts: readonly string[]
  /** Other servers over the same store. */
  readonly peers: PeerOptions | undefined
  readonly limits: Partial<ConnectionLimits>
  readonly httpLimits: Partial<HttpLimits>
  readonly drainMs: number
}

/** For `parseArgs`. */
export const SERVER_WORDS = {
  token: { type: 'string' },
  ...JWT_WORDS,
  insecure: { type: 'boolean', default: false },
  'tls-cert': { type: 'string' },
  'tls-key': { type: 'string' },
  'trust-proxy': { type: 'string' },
  'public-host': { type: 'string', multiple: true },
  'peer-address': { type: 'string' },
  'rate-limit': { type: 'string' },
  limit: { type: 'string', multiple: true },
  'drain-ms': { type: 'string' },
  'log-format': { type: 'string' },
  'log-level': { type: 'string', default: 'info' },
  dev: { type: 'boolean', default: false },
} as const

export interface ServerValues extends JwtValues {
  readonly host: string
  readonly token?: string | undefined
  readonly insecure: boolean
  readonly 'tls-cert'?: string | undefined
  readonly 'tls-key'?: string | undefined
  readonly 'trust-proxy'?: string | undefined
  readonly 'public-host'?: readonly string[] | undefined
  readonly 'peer-address'?: string | undefined
  readonly 'rate-limit'?: string | undefined
  readonly limit?: readonly string[] | undefined
  readonly 'drain-ms'?: string | undefined
  readonly 'log-format'?: string | undefined
  readonly 'log-level': string
}

const DRAIN_MS = 10_000
const HOUR_MS = 3_600_000
const PROXIES_MAX = 10

/** @throws UsageError */
export function serverOptions(values: ServerValues, variables: Variables): ServerOptions {
  const token = readToken(values.token, variables)
  const jwt = readJwtOptions(values, variables)
  if (token === undefined && jwt === undefined && !values.insecure && !isLoopback(values.host))
    throw new UsageError(
      `--host ${values.host} is open to others, so it needs --token (or BATON_TOKEN), --jwt-issuer, or --insecure to let everyone in`,
    )
  const { limits, httpLimits } = readLimits(values.limit ?? [])
  const { 'tls-cert': certFile, 'tls-key': keyFile } = values
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new UsageError('--tls-cert and --tls-key must be used together')
  return {
    token,
    jwt,
    tls: certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined,
    trustedProxies: readNumber(values['trust-proxy'], '--trust-proxy', [0, PROXIES_MAX]) ?? 0,
    publicHosts: (values['public-host'] ?? []).map(readHost),
    peers: readPeers(values['peer-address'], variables),
    limits: { ...limitsOfVariables(values['rate-limit'], variables), ...limits },
    httpLimits,
    drainMs: readNumber(values['drain-ms'], '--drain-ms', [0, HOUR_MS]) ?? DRAIN_MS,
    ...readLogOptions(values),
  }
}

/** Accepts an origin exactly as a browser sends it, because any other would never match. @throws UsageError */
export function readOrigin(text: string): string {
  // Apps in a shell have their own schemes, for which URL knows no origin.
  const origin = URL.parse(text)?.origin
  const isSent =
    text === '*' || text === 'null' || text === origin || /^(?!https?:)[a-z][a-z0-9+.-]*:\/\/[^/?#\s]+$/.test(text)
  if (isSent) return text
  const near = origin?.startsWith('http') ? `, did you mean ${origin}?` : ''
  throw new UsageError(
    `--allow-origin must be an origin such as https://app.example, or * for all, not "${text}"${near}`,
  )
}

/** @throws UsageError */
function readHost(text: string): string {
  const url = URL.parse(`https://${text}`)
  if (url && url.host !== '' && url.href === `https://${url.host}/`) return url.host
  throw new UsageError(`--public-host must be a name like chat.example or chat.example:8443, not "${text}"`)
}

/** @throws UsageError */
function readPeers(address: string | undefined, variables: Variables): PeerOptions | undefined {
  if (address === undefined) return undefined
  const secret = variables['BATON_PEER_SECRET']?.trim() ?? ''
  if (secret === '')
    throw new UsageError('--peer-address needs the variable BATON_PEER_SECRET, the same for all servers of the store')
  try {
    checkPeers({ address, secret })
  } catch (cause) {
    throw new UsageError(cause instanceof Error ? cause.message : String(cause))
  }
  return { address, secret }
}

/** `--trust-proxy` alone means one; parseArgs does not support optional values. */
export function withProxyCount(words: readonly string[]): readonly string[] {
  return words.map((word, at) =>
    word === '--trust-proxy' && !/^\d+$/.test(words[at + 1] ?? '') ? '--trust-proxy=1' : word,
  )
}

/** An address has the same rate as a session, since by default one address is one session. */
function limitsOfVariables(rateOption: string | undefined, variables: Variables): Partial<ConnectionLimits> {
  const rate =
    readNumber(rateOption, '--rate-limit', LIMIT_BOUNDS.sessionFramesPerMinute) ??
    readVariable(variables, 'SESSION_RATE_LIMIT_PER_MIN', LIMIT_BOUNDS.sessionFramesPerMinute)
  const eventBytes = readVariable(variables, 'MAX_EVENT_BYTES', LIMIT_BOUNDS.eventBytes)
  return {
    ...(rate !== undefined && { sessionFramesPerMinute: rate, addressFramesPerMinute: rate }),
    ...(eventBytes !== undefined && { eventBytes }),
  }
}

function readNumber(text: string | undefined, what: string, bounds: readonly [number, number]): number | undefined {
  return text === undefined ? undefined : wholeNumber(text, what, bounds)
}

function readVariable(variables: Variables, name: string, bounds: readonly [number, number]): number | undefined {
  return readNumber(variables[name]?.trim() || undefined, `the variable ${name}`, bounds)
}

export function pickChoice<Choice extends string>(
  text: string | undefined,
  what: string,
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((one) => one === text)
  if (text === undefined || choice !== undefined) return choice
  throw new UsageError(`${what} must be one of ${choices.join(', ')}, not "${text}"`)
}
