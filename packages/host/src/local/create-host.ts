// The local host: runs sessions as actors in this process, over a store.
import { AsyncLocalStorage } from 'node:async_hooks'
import type {
  FieldKind,
  Agent,
  NeededServices,
  BlobStore,
  Environment,
  Host,
  Logger,
  Model,
  SessionDirectory,
  Store,
  Usage,
} from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, describeValue } from '@baton/core/internal'
import type { AgentChoice, Engine, RunTool, ToolJob } from '@baton/runtime'
import {
  createCatalog,
  createDefaultLog,
  createForeignError,
  createHostOver,
  Directory,
  readOpening,
  SharedTimers,
} from '@baton/runtime'
import { createNodeEnvironment, digest, digestMedia } from '../environment.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import type { SessionObserver } from '../observer.ts'
import { joinObservers } from '../observer.ts'
import { createLocalEngine } from './local-engine.ts'
import type { NamedModels } from './named-models.ts'
import { checkNamedModels, createNamedModels } from './named-models.ts'
import { OpenSessions } from './open-sessions.ts'
import type { Recovery, RecoverOptions } from './recover.ts'
import { createRecovery } from './recover.ts'
import { startRetention } from './retention.ts'
import { SessionLeases } from './session-leases.ts'
import { foldState } from './session-log.ts'
import { createSessionWarnings } from './session-warnings.ts'
import { SNAPSHOT_RECORDS } from './snapshot-taker.ts'
import type { LimitedStore } from './store-in-time.ts'
import { limitStoreActs } from './store-in-time.ts'

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
  /** Observers of all sessions, such as `traceSessions` and `createMetrics`. */
  readonly observers?: readonly SessionObserver[]
}

/**
 * A host over a store. `await using host = createHost(…)` stops it at the end of the block. Its methods can be used
 * detached.
 */
export interface LocalHost<A extends Agent = Agent> extends Host<A>, SessionDirectory, AsyncDisposable {
  /**
   * Returns the call whose tool caused the current error, for handlers of `uncaughtException` or `unhandledRejection`:
   * a tool's timer may throw after the tool returned, for example. `undefined` if no tool of this host caused it.
   */
  strayCall(): { readonly session: string; readonly callId: string; readonly tool: string } | undefined

  /**
   * Opens every session that a dead host left with outstanding work and that no host holds, so that its turn continues
   * without waiting for its user. Call it at startup, before or while clients connect. On a store shared by several
   * hosts, pass `everyMs` to also pick up sessions of hosts that die later.
   * @throws BatonError `store_failed`
   */
  recover(options?: RecoverOptions): Promise<Recovery>
}

/**
 * Creates a host. The host alone does not keep the process alive; a running turn or a pending client call does.
 * @throws BatonError `unknown_model`, `model_not_configured` (the key for a model named by an agent is missing; only
 * checked without `modelOf`), `invalid_agent`, `invalid_option`
 */
export function createHost<A extends Agent = Agent>(options?: HostOptions<A> & NeededServices<A>): LocalHost<A>
export function createHost(options: HostOptions = {}): LocalHost {
  checkOptions(options)
  // No other process can reach this store, so leases need not expire.
  const disk = options.store ?? createMemoryStore({ leaseMs: Infinity })
  const environment = shareTimers(options.environment ?? createNodeEnvironment())
  const store = limitStoreActs(disk, environment.timers)
  const log = options.log ? guardLog(options.log) : createDefaultLog()
  const running = new AsyncLocalStorage<ToolJob>()
  const runTool = running.run.bind(running) as RunTool // runs a tool with the call's own input and context
  const { snapshotRecords = SNAPSHOT_RECORDS, observers = [], abortMs, lingerMs = LINGER_MS } = options
  const openSessions = new OpenSessions(environment, { lingerMs })
  const blobs = guardBlobs(store.blobs, openSessions)
  const models = options.modelOf ? undefined : readNamedModels(options, environment, log)
  const openSession: Host['session'] = (id, given) => session(id, given)
  const world = { environment, blobs, log, digest, digestMedia, runTool, openSession }
  const catalog = createCatalog({ ...options, ...models, ...world, runsChildren: true })
  const leases = new SessionLeases({
    store,
    disk,
    owner: environment.newId(),
    address: options.address,
    timers: environment.timers,
    log,
    onHandover: (session) => openSessions.handOver(session),
  })
  const directory = createDirectory({ store, log, openSessions })
  const observer = joinObservers(options.log ? [createSessionWarnings(log), ...observers] : observers, log)
  const engine = createLocalEngine(
    { observer, leases, catalog, store, disk, environment, log, snapshotRecords, directory, abortMs },
    openSessions,
  )

  const recovery = createRecovery({
    store,
    log,
    timers: environment.timers,
    knows: (agent) => catalog.knows(agent),
    open: (session, principal) => engine.open(session, { principal: { id: principal }, mustExist: true }),
  })
  const { remove, removeAlone } = createRemoval({ store, leases, directory, openSessions })
  const { retentionMs: keepMs } = options
  const { isUnrecovered } = recovery
  const stopRetention =
    keepMs === undefined
      ? () => {}
      : startRetention({ store, environment, log, keepMs, openSessions, isUnrecovered, remove: removeAlone })
  const stop: Engine['stop'] = async ({ drainMs }) => {
    stopRetention()
    recovery.stop()
    directory.close()
    await engine.stop({ drainMs })
    if (!options.store) await disk.close()
  }
  const host = createHostOver({ engine: { ...engine, stop }, newId: environment.newId, catalog })
  const session: LocalHost['session'] = async (id, given) => {
    if (models && given?.agent && typeof given.agent === 'object') checkNamedModels(models.modelOf, [given.agent])
    return await host.session(id, given)
  }
  return {
    session,
    stop: host.stop,
    recover: recovery.recover,
    strayCall: () => describeCall(running.getStore()),
    remove,
    sessions: directory.sessions,
    has: directory.has,
    watch: directory.watch,
    [Symbol.asyncDispose]: () => host.stop(),
  }
}

function describeCall(job: ToolJob | undefined): ReturnType<LocalHost['strayCall']> {
  return job && { session: job.session, callId: job.callId, tool: job.name }
}

function createDirectory({
  store,
  log,
  openSessions,
}: Pick<RemovalOptions, 'store' | 'openSessions'> & { readonly log: Logger }): Directory {
  return new Directory({
    store,
    log,
    findOpen: (session) => openSessions.find(session)?.state(),
    fold: (session) => foldState(store, session),
  })
}

/** @throws BatonError `unknown_model`, `model_not_configured`, `invalid_option` */
function readNamedModels(options: HostOptions, environment: Environment, log: Logger): NamedModels {
  const { modelOf, secrets } = createNamedModels({ variables: options.variables ?? process.env, environment, log })
  const agents = [...(options.agents ?? []), ...(options.agent ? [options.agent] : [])]
  checkNamedModels(modelOf, agents, options.defaultModel)
  return { modelOf, secrets: options.secrets ?? secrets }
}

/** @throws BatonError `invalid_option` for an unknown field, or a store that is not open, such as a file name */
function checkOptions(options: HostOptions): void {
  checkFields(options, { what: 'createHost', code: 'invalid_option', ...HOST_FIELDS })
  const { store, agents }: { readonly [name in keyof HostOptions]?: unknown } = options // untyped callers
  for (const [name, hint] of Object.entries(FUNCTIONS)) checkFunction(name, Reflect.get(options, name), hint)
  checkKinds(options, { what: 'createHost', code: 'invalid_option', kinds: HOST_KINDS })
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

const LINGER_MS = 60_000
const LINGER_MS_MAX = 3_600_000

interface RemovalOptions {
  readonly store: LimitedStore
  readonly leases: SessionLeases
  readonly directory: Directory
  readonly openSessions: OpenSessions
}

function createRemoval({ store, leases, directory, openSessions }: RemovalOptions) {
  const removeAlone = async (name: string): Promise<void> => {
    const opening = await readOpening(store, name).catch(() => undefined) // a damaged session can be removed
    await leases.remove(name)
    if (opening) directory.noteRemoval(name, opening.principal)
  }
  const remove: LocalHost['remove'] = async (name, by) => {
    // Checked before closing: a session must not be disturbed by a principal that does not own it, or when its owner
    // cannot be determined.
    const opening = by && (await readOpening(store, name))
    if (by && opening && opening.principal !== by.id) throw createForeignError(name, by)
    await openSessions.alone(name, () => removeAlone(name))
  }
  return { remove, removeAlone }
}

/**
 * Rejects blobs of closed or removed sessions: a late result would be orphaned, or end up in the next session of that
 * name.
 */
function guardBlobs(blobs: BlobStore, openSessions: OpenSessions): BlobStore {
  return {
    ...blobs,
    put: async (session, name, text) => {
      if (!openSessions.isOpen(session))
        throw new BatonError({ code: 'session_closed', message: `session ${session} was closed` })
      await blobs.put(session, name, text)
    },
  }
}

function shareTimers(environment: Environment): Environment {
  const { clock, transport } = environment
  return { clock, transport, timers: new SharedTimers(environment), newId: environment.newId.bind(environment) }
}

/** Catches errors thrown by the program's logger, so that logging never ends the work being logged. */
function guardLog(log: Logger): Logger {
  const guard =
    (level: keyof Logger): Logger['info'] =>
    (message, data) => {
      try {
        log[level](message, data)
      } catch {
        // There is nowhere left to report this.
      }
    }
  return { info: guard('info'), warn: guard('warn') }
}

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
  },
} as const
