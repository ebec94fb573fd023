// The host that a front needs, and the refusal of options with a wrong name or type: ignoring a misspelt `authenticate` would let everyone in, and a
// string instead of a list would allow each of its substrings.
import type { Host, SessionDirectory, SessionViews } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, describeValue, findNearName } from '@baton/core/internal'
import type { AllowedSettings } from './allowed-settings.ts'

/** Fields of the world and the environment, which programs pass as a whole. */
const WORLD = ['clock', 'timers', 'newId', 'log', 'transport']

/** Other libraries' names for options of a front. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  auth: 'authenticate',
  authentication: 'authenticate',
  authorize: 'authenticate',
  verify: 'authenticate',
  getUser: 'authenticate',
  cors: 'origins',
  allowedOrigins: 'origins',
  corsOrigins: 'origins',
  path: 'basePath',
  prefix: 'basePath',
  hostname: 'address',
  tokens: 'token',
}

const CHECK_CALLERS = 'To check who calls, write authenticate: (request) => ({ id: … }), and undefined for a stranger'
/** Options that another function takes: a handler that ignored one would let everyone in, or count the wrong address. */
const OF_OTHERS: Readonly<Record<string, string>> = {
  token: CHECK_CALLERS,
  tokens: CHECK_CALLERS,
  metricsToken: CHECK_CALLERS,
  apiKey: CHECK_CALLERS,
  password: CHECK_CALLERS,
  trustedProxies: 'Write createNodeListener(handler, { trustedProxies: 1 })',
}

const OWN_SERVER =
  'It has an HTTP server of its own: to answer other requests on its port, write requests: createNodeListener(handler)'
const SAY_OBSERVERS = 'To follow what sessions do, write createHost({ observers: [ … ] })'

/** Options of the `ws` library for a server. */
const OF_WS: Readonly<Record<string, string>> = {
  path: 'Its paths are fixed: apps connect to /ws, and front.listen() resolves with the address',
  server: OWN_SERVER,
  noServer: OWN_SERVER,
  host: 'address',
  onConnection: SAY_OBSERVERS,
  onMessage: SAY_OBSERVERS,
  onClose: SAY_OBSERVERS,
  verifyClient: 'authenticate',
  handleProtocols: 'It chooses the subprotocol itself: baton.v2 for protocol 2',
  maxPayload: 'Write limits: { socketBytes: 1_048_576 }',
  perMessageDeflate: 'It does not compress; a proxy in front of it may',
  clientTracking: 'It keeps its connections itself: front.drain() waits for them, and front.close() closes them',
  backlog: 'Write limits: { connections: 1_000 }',
}

const KINDS = {
  authenticate: 'a function',
  isDraining: 'a function',
  hasSession: 'a function',
  metrics: 'a function',
  chats: 'a function',
  editors: 'a function',
  requests: 'a function',
  unreadyReason: 'a function',
  operators: 'a function',
  newId: 'a function',
  cancelWaiting: 'true or false',
  basePath: 'text',
  address: 'text',
  clock: 'an object',
  timers: 'an object',
  log: 'an object',
  tls: 'an object',
  clientModels: 'an array',
  hosts: 'an array',
  publicHosts: 'an array',
  allow: 'an object',
  limits: 'an object',
  peers: 'an object',
  webhooks: 'an object',
} as const

const ALLOWED = new Set(['models', 'temperature', 'maxOutputTokens'])

export interface OptionNames {
  /** The function that takes the options. */
  readonly what: string
  readonly names: readonly string[]
  /** An object with a field for each limit. */
  readonly limits: object
}

/** @throws BatonError `invalid_option` for a misspelt option or a value of the wrong type */
export function checkOptions(options: object, { what, names, limits }: OptionNames): void {
  const refuse = (elsewhere: Readonly<Record<string, string>>): void => {
    const wrong = Object.keys({ ...options }).find((name) => Object.hasOwn(elsewhere, name) && !names.includes(name))
    const fields = new Set(names)
    if (wrong !== undefined) checkFields({ [wrong]: true }, { what, code: 'invalid_option', fields, elsewhere })
  }
  if (what === 'createWebSocketFront') refuse(OF_WS)
  refuseMisspelt(options, what, names)
  refuse(OF_OTHERS)
  checkKinds(options, { what, code: 'invalid_option', kinds: KINDS })
  const given: { readonly [name: string]: unknown } = { ...options }
  const { origins } = given
  if (origins !== undefined && !Array.isArray(origins) && typeof origins !== 'function')
    throw createKindError(`${what}: origins must be an array, such as ["https://app.example"]`, origins)
  checkProxies(given['trustedProxies'], what)
  checkPort(given['port'], what)
  for (const name of ['token', 'metricsToken']) checkTokens(given[name], `${what}: ${name}`)
  const check = (field: string, fields: ReadonlySet<string>): void => {
    if (given[field] !== undefined)
      checkFields(given[field], { what: `${field} of ${what}`, code: 'invalid_option', fields })
  }
  check('limits', new Set(Object.keys(limits)))
  check('allow', ALLOWED)
  checkAllowed((given['allow'] ?? {}) as object, `${what}: allow`) // checked above
  const limited = (given['limits'] ?? {}) as object // checked above
  for (const [name, limit] of Object.entries(limited)) checkNumber(limit, `${what}: limits.${name}`)
}

function checkAllowed(allow: object, what: string): void {
  const { models, temperature, maxOutputTokens }: { readonly [name in keyof AllowedSettings]?: unknown } = allow
  if (models !== undefined && models !== 'any' && !Array.isArray(models))
    throw createKindError(`${what}.models must be an array or "any"`, models)
  if (temperature !== undefined && typeof temperature !== 'boolean')
    throw createKindError(`${what}.temperature must be true or false`, temperature)
  checkNumber(maxOutputTokens, `${what}.maxOutputTokens`)
}

function checkNumber(value: unknown, what: string): void {
  if (value !== undefined && !(typeof value === 'number' && value >= 0))
    throw createKindError(`${what} must be a number, 0 or more`, value)
}

/** Refuses an empty token, which any caller could present, for example if an environment variable is not set. */
function checkTokens(token: unknown, what: string): void {
  if (token === undefined) return
  const each: readonly unknown[] = [token].flat()
  if (each.includes(''))
    throw new BatonError({ code: 'invalid_option', message: `${what} is empty, so any caller could present it` })
  if (!each.every((one) => typeof one === 'string'))
    throw new BatonError({ code: 'invalid_option', message: `${what} must be a string or an array of strings` }) // never with its value
}

/** @throws BatonError `invalid_option`: with any other value, clients could choose the address that limits count */
export function checkProxies(proxies: unknown, what: string): void {
  if (proxies === undefined || (Number.isSafeInteger(proxies) && Number(proxies) >= 0)) return
  throw createKindError(`${what}: trustedProxies must be a whole number, 0 or more`, proxies)
}

function checkPort(port: unknown, what: string): void {
  if (port === undefined || (Number.isSafeInteger(port) && Number(port) >= 0 && Number(port) <= 65_535)) return
  throw createKindError(`${what}: port must be a whole number from 0 to 65535`, port)
}

function createKindError(right: string, given: unknown): BatonError {
  return new BatonError({ code: 'invalid_option', message: `${right}, not ${describeValue(given)}` })
}

/** @throws BatonError `invalid_option` for a name that is a likely mistake for one of these fields */
export function refuseMisspelt(options: object, what: string, names: readonly string[]): void {
  if (typeof (options as unknown) !== 'object' || (options as object | null) === null)
    throw createKindError(`${what}: the options must be an object`, options)
  const fields = new Set([...names, ...WORLD])
  const elsewhere = Object.fromEntries(Object.entries(ELSEWHERE).filter(([, field]) => fields.has(field)))
  const isMeant = (name: string): boolean => Object.hasOwn(elsewhere, name) || findNearName(fields, name) !== undefined
  // Other names may come from a program that passes everything it has.
  const wrong = Object.keys(options).find((name) => !fields.has(name) && isMeant(name))
  if (wrong !== undefined) checkFields({ [wrong]: true }, { what, code: 'invalid_option', fields, elsewhere })
}

/** @throws BatonError `invalid_option` */
export function demandHost(host: unknown, how: string): void {
  if (typeof host === 'object' && host !== null && 'session' in host) return
  throw new BatonError({ code: 'invalid_option', message: `${how.split('(')[0]} needs a host`, hint: `Write ${how}.` })
}

export type HostWithSessions = Host & Partial<SessionDirectory & { readonly views: SessionViews }>
