// The options of `createHost`, and what is refused of them.
import type {
  Agent,
  Environment,
  FieldKind,
  Logger,
  Model,
  NoticeDestination,
  Store,
  Usage,
} from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, describeValue } from '@baton/core/internal'
import type { AgentChoice } from '@baton/runtime'
import { checkDestinations } from '@baton/runtime'
import type { SessionObserver } from '../observer.ts'

/**
 * Options of `createHost`. `{ agent }` runs it in memory; `{ agent, store: openSqliteStore(path) }` keeps its sessions.
 */
export interface HostOptions<A extends Agent = Agent> extends AgentChoice {
  /** The agent of sessions that name none. */
  readonly agent?: A
  /** Clock, timers, randomness and network. Defaults to those of the system. */
  readonly environment?: Environment
  /**
   * Turns a model id into a model. By default, ids are those of `baton models`, such as `anthropic/claude-haiku-4-5`,
   * and keys are read from `variables`. @throws BatonError `unknown_model`, `model_not_configured`
   */
  readonly modelOf?: (id: string) => Model
  /**
   * Environment variables with keys and addresses for the default `modelOf`, such as `ANTHROPIC_API_KEY`. Defaults to
   * `process.env`.
   */
  readonly variables?: Readonly<Record<string, string | undefined>>
  /** The model of agents that name none. */
  readonly defaultModel?: string | Model
  /**
   * Returns the cost of a model call in millionths of a US dollar, or `undefined` if unknown. See @baton/models/prices.
   */
  readonly priceOf?: (model: string, usage: Usage) => number | undefined
  /**
   * Storage for sessions. Defaults to memory. The caller that opened the store closes it, after the host has
   * stopped.
   */
  readonly store?: Store
  /**
   * The address where other hosts on the same store can reach this one. They find it in `session_held` and forward
   * requests for sessions this host owns. With @baton/server, use the `address` of its `peers`, such as
   * `ws://10.0.0.5:8080`.
   */
  readonly address?: string
  /** Passed to every tool as `context.services`. Its type is what the agent's tools require. */
  readonly services?: unknown
  /**
   * Secrets, such as keys, to hide in error messages of tools and models; each is replaced by `[redacted]`. Defaults to
   * the keys found in `variables` if `modelOf` is the default too.
   */
  readonly secrets?: readonly string[]
  /** Milliseconds an interrupted model has to report the text it had produced, 0 to 60,000. Default: 1,000. */
  readonly interruptMs?: number
  /**
   * Milliseconds a session's next model call waits for an aborted call to end, 0 to 60,000. After that, the aborted
   * call is logged as abandoned. Default: 5,000.
   */
  readonly abortMs?: number
  /**
   * Milliseconds to keep a session after its last record. Sessions are kept indefinitely by default; sessions in use
   * are always kept, and unfinished work of a dead host for an hour at least, so that it can be recovered.
   */
  readonly retentionMs?: number
  /**
   * Milliseconds to keep a session in memory after its last handle is closed and it rests, 0 to 3,600,000: the next
   * message of its chat then reads no log. Other hosts can still take it at once, and the process can end. 0 closes it
   * at once. At most 1,000 sessions and 64 MiB linger; beyond that the oldest are closed. Default: 60,000.
   */
  readonly lingerMs?: number
  /** Number of records between two snapshots of a busy session. Default: 256. */
  readonly snapshotRecords?: number
  /** By default a tool source that lists no tools is a process warning, and all else is silent. */
  readonly log?: Logger
  /**
   * Places that hear what happens in sessions: a request waits for a person, a turn ended. `webhook` of @baton/notices
   * makes one. None by default.
   */
  readonly notify?: readonly NoticeDestination[]
  /** Observers of all sessions, such as `traceSessions` and `createMetrics`. */
  readonly observers?: readonly SessionObserver[]
}

/** @throws BatonError `invalid_option` for an unknown field, or a store that is not open, such as a file name */
export function checkOptions(options: HostOptions): void {
  checkFields(options, { what: 'createHost', code: 'invalid_option', ...HOST_FIELDS })
  const { store, agents }: { readonly [name in keyof HostOptions]?: unknown } = options // untyped callers
  for (const [name, hint] of Object.entries(FUNCTIONS)) checkFunction(name, Reflect.get(options, name), hint)
  checkKinds(options, { what: 'createHost', code: 'invalid_option', kinds: HOST_KINDS })
  if (options.notify !== undefined) checkDestinations(options.notify)
  if (agents !== undefined && !Array.isArray(agents))
    throw new BatonError({
      code: 'invalid_option',
      message: `agents must be an array of agents, not ${describeValue(agents)}`,
      hint: 'Write agents: [shop, desk], or agent: shop for a single one.',
    })
  if (store === undefined || (typeof store === 'object' && store !== null && 'acquire' in store && 'blobs' in store))
    return
  throw new BatonError({
    code: 'invalid_option',
    message: `store must be an open store, not ${describeValue(store)}`,
    hint: 'Open one: const store = await openSqliteStore("chat.db"), then createHost({ agent, store }).',
  })
}

const FUNCTIONS = {
  priceOf: "Write priceOf: createPriceOf({ 'own/model': { input: 1, output: 5 } }), of @baton/models/prices.",
  modelOf: 'Write modelOf: (name) => the model of that name, or undefined.',
  agentOf: 'Write agentOf: ({ principal }) => defineAgent({ … }).',
}

/** @throws BatonError `invalid_option` */
function checkFunction(name: string, value: unknown, hint: string): void {
  if (value === undefined || typeof value === 'function') return
  const message = `${name} must be a function, not ${describeValue(value)}`
  throw new BatonError({ code: 'invalid_option', message, hint })
}

export const LINGER_MS = 60_000
const LINGER_MS_MAX = 3_600_000

/** Each option's kind, where nothing else checks it. */
const HOST_KINDS: Readonly<Record<keyof HostOptions, FieldKind | undefined>> = {
  agent: undefined,
  agents: undefined,
  agentOf: undefined,
  environment: 'an object',
  modelOf: undefined,
  variables: 'an object of secrets',
  defaultModel: 'text or an object',
  priceOf: undefined,
  store: undefined,
  address: 'text',
  services: undefined,
  secrets: 'an array of secrets',
  interruptMs: { unit: 'milliseconds', least: 0, most: 60_000 },
  abortMs: { unit: 'milliseconds', least: 0, most: 60_000 },
  retentionMs: { unit: 'milliseconds', least: 0 },
  lingerMs: { unit: 'milliseconds', least: 0, most: LINGER_MS_MAX },
  snapshotRecords: { unit: 'records', least: 1 },
  log: 'an object',
  observers: 'an array',
  notify: undefined,
}

const HOST_FIELDS = {
  fields: new Set(Object.keys(HOST_KINDS)),
  elsewhere: {
    storage: 'store',
    idleMs: 'lingerMs',
    memory: "conversations are kept in store; the agent's window limits how much of them the model reads",
    voice: 'set profile: voice on the agent; createVoice of @baton/client/voice speaks its answers',
    logger: 'log',
    models: 'modelOf',
    model: 'defaultModel',
    name: 'it belongs to an agent: createHost({ agent: defineAgent({ … }) })',
    tools: 'they belong to an agent: createHost({ agent: defineAgent({ … }) })',
    instructions: 'they belong to an agent: createHost({ agent: defineAgent({ … }) })',
    system: 'it belongs to an agent: createHost({ agent: defineAgent({ … }) })',
    context: 'services',
    telemetry: 'observers',
    notices: 'notify',
    webhooks: 'those that send events are of createHandler(host, { webhooks }); those that hear of sessions, of notify',
    onApproval: 'write notify: [webhook({ url, secret })], or follow host.watchApprovals()',
  },
} as const
