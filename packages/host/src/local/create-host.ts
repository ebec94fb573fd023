// The local host: sessions as actors in this process, over a store.
import { AsyncLocalStorage } from 'node:async_hooks'
import type {
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
} from '@baton/core'
import { checkFields, BatonError, describeValue } from '@baton/core'
import type { AgentChoice, Engine, RunTool, ToolJob } from '@baton/runtime'
import { createCatalog, createForeignError, createHostOver, Directory, readOpening, SharedTimers } from '@baton/runtime'
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

export interface HostOptions<A extends Agent = Agent> extends AgentChoice {
  /** The agent of sessions that name none. */
  readonly agent?: A
  /** The system's clock, timers, randomness and network by default. */
  readonly environment?: Environment
  /**
   * Turns a model's id into a model. By default ids are those of `baton models`, such as `anthropic/claude-haiku-4-5`, and
   * keys are read from the variables. @throws BatonError `unknown_model`, `model_not_configured`
   */
  readonly modelOf?: (id: string) => Model
  /** Environment variables with keys and addresses for the default `modelOf`, such as `ANTHROPIC_API_KEY`. Those of the process by default. */
  readonly variables?: Readonly<Record<string, string | undefined>>
  /** The model of agents that name none. */
  readonly defaultModel?: string | Model
  /** Returns the cost of a model call in millionths of a US dollar; undefined if it is not known. See @baton/models/prices. */
  readonly priceOf?: (model: string, usage: Usage) => number | undefined
  /** In memory by default. Whoever opened it closes it, after the host has stopped. */
  readonly store?: Store
  /**
   * The address at which other hosts over the same store reach this one; they find it in `session_held` and pass on what comes for its
   * sessions. With @baton/server: `ws://10.0.0.5:8080`, the same as the `address` of its `peers`.
   */
  readonly address?: string
  /** Handed to every tool as `context.services`; what the agent's tools say that they need. */
  readonly services?: unknown
  /**
   * Secrets, such as keys, that messages of failed tools and models must not show; each is replaced by `[redacted]`. Those of the
   * variables by default, where `modelOf` is the default too.
   */
  readonly secrets?: readonly string[]
  /** Milliseconds that an interrupted model has to say what it had said; 0 to 60,000. 1,000 by default. */
  readonly interruptMs?: number
  /**
   * Milliseconds that the next model call of a session waits for one that was aborted and has not ended; 0 to 60,000. 5,000 by
   * default. Then the log says that it was abandoned.
   */
  readonly abortMs?: number
  /** Milliseconds that a session is kept after its last record; for ever by default. Sessions in use are always kept. */
  readonly retentionMs?: number
  /** Records of a busy session between two snapshots of it. 256. */
  readonly snapshotRecords?: number
  readonly log?: Logger
  /** Watch the sessions from beside, as `traceSessions` and `createMetrics` do. */
  readonly observers?: readonly SessionObserver[]
}

/** `await using host = createHost(…)` stops it at the end of the block. Its methods work on their own. */
export interface LocalHost<A extends Agent = Agent> extends Host<A>, SessionDirectory, AsyncDisposable {
  /**
   * In a handler of `uncaughtException` or `unhandledRejection`: the call whose tool left the error behind, as in a timer
   * of its own; undefined where it was not a tool of this host.
   */
  strayCall(): { readonly session: string; readonly callId: string; readonly tool: string } | undefined

  /**
   * Opens every session that a former host left with something outstanding and that no host holds, so that its turn goes
   * on without waiting for its user. Call it at the start, before or while clients come; on a store that several hosts
   * share with `everyMs`, for the sessions of those that die later.
   * @throws BatonError `store_failed`
   */
  recover(options?: RecoverOptions): Promise<Recovery>
}

/**
 * Makes a host. It does not keep the process alive: what does is a turn that runs, or a client's call that is waited for.
 * @throws BatonError `unknown_model`, `model_not_configured` (the key of a model that an agent names is not set; not where
 * `modelOf` is given), `invalid_agent`, `invalid_option`
 */
export function createHost<A extends Agent = Agent>(options?: HostOptions<A> & NeededServices<A>): LocalHost<A>
export function createHost(options: HostOptions = {}): LocalHost {
  checkOptions(options)
  // Nobody else can own what is in a store that nobody else has.
  const disk = options.store ?? createMemoryStore({ leaseMs: Infinity })
  const environment = shareTimers(options.environment ?? createNodeEnvironment())
  const store = limitStoreActs(disk, environment.timers)
  const log = options.log ? guardLog(options.log) : SILENT
  const running = new AsyncLocalStorage<ToolJob>()
  const runTool = running.run.bind(running) as RunTool // with a call's own input and context
  const { snapshotRecords = SNAPSHOT_RECORDS, observers = [], abortMs } = options
  const openSessions = new OpenSessions(environment)
  const blobs = guardBlobs(store.blobs, openSessions)
  const models = options.modelOf ? undefined : readNamedModels(options, environment, log)
  const catalog = createCatalog({ ...options, ...models, environment, blobs, log, digest, digestMedia, runTool })
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

  const { remove, removeAlone } = createRemoval({ store, leases, directory, openSessions })
  const stopRetention =
    options.retentionMs === undefined
      ? () => {}
      : startRetention({ store, environment, log, keepMs: options.retentionMs, openSessions, remove: removeAlone })
  const stop: Engine['stop'] = async ({ drainMs }) => {
    stopRetention()
    stopRecovering()
    directory.close()
    await engine.stop({ drainMs })
    if (!options.store) await disk.close()
  }
  const host = createHostOver({ engine: { ...engine, stop }, newId: environment.newId })
  const { recover, stop: stopRecovering } = createRecovery({
    store,
    log,
    timers: environment.timers,
    knows: (agent) => catalog.knows(agent),
    open: (name, principal) => host.session(name, { principal: { id: principal } }),
  })
  const strayCall: LocalHost['strayCall'] = () => {
    const job = running.getStore()
    return job && { session: job.session, callId: job.callId, tool: job.name }
  }
  const session: LocalHost['session'] = async (id, init) => {
    if (models && init?.agent) checkNamedModels(models.modelOf, [init.agent])
    return await host.session(id, init)
  }
  return {
    session,
    stop: host.stop,
    recover,
    strayCall,
    remove,
    sessions: directory.sessions,
    has: directory.has,
    watch: directory.watch,
    [Symbol.asyncDispose]: () => host.stop(),
  }
}

function createDirectory({
  store,
  log,
  openSessions,
}: Pick<RemovalInit, 'store' | 'openSessions'> & { readonly log: Logger }): Directory {
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

/** @throws BatonError `invalid_option` for an unknown field, and for a store that is not open, such as a file name */
function checkOptions(options: HostOptions): void {
  checkFields(options, { what: 'createHost', code: 'invalid_option', ...HOST_FIELDS })
  const { store, agents } = options as { readonly store?: unknown; readonly agents?: unknown } // as JavaScript may give them
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

interface RemovalInit {
  readonly store: LimitedStore
  readonly leases: SessionLeases
  readonly directory: Directory
  readonly openSessions: OpenSessions
}

function createRemoval({ store, leases, directory, openSessions }: RemovalInit) {
  const removeAlone = async (name: string): Promise<void> => {
    const opening = await readOpening(store, name).catch(() => undefined) // what is damaged can be removed
    await leases.remove(name)
    if (opening) directory.noteRemoval(name, opening.principal)
  }
  const remove: LocalHost['remove'] = async (name, by) => {
    // Before it is closed: a session is not disturbed by someone whose it is not, nor where nobody can say whose it is.
    const opening = by && (await readOpening(store, name))
    if (by && opening && opening.principal !== by.id) throw createForeignError(name, by)
    await openSessions.alone(name, () => removeAlone(name))
  }
  return { remove, removeAlone }
}

/** Drops blobs of closed or removed sessions: a late result would belong to nobody, or to the next session of that name. */
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

/** Catches errors of a program's logger, which must not end the work that is logged. */
function guardLog(log: Logger): Logger {
  const guard =
    (level: keyof Logger): Logger['info'] =>
    (message, data) => {
      try {
        log[level](message, data)
      } catch {
        // Nobody is left to tell.
      }
    }
  return { info: guard('info'), warn: guard('warn') }
}

/** Takes what it is told and does nothing; a built-in is no step on the way of a call. */
const SILENT: Logger = { info: () => {}, warn: () => {} }

const HOST_FIELDS = {
  fields: new Set([
    'agent',
    'agents',
    'agentOf',
    'environment',
    'modelOf',
    'variables',
    'defaultModel',
    'priceOf',
    'store',
    'address',
    'services',
    'secrets',
    'interruptMs',
    'abortMs',
    'retentionMs',
    'snapshotRecords',
    'log',
    'observers',
  ]),
  elsewhere: {
    storage: 'store',
    memory: 'conversations are kept by store, and what of them the model reads is window of the agent',
    voice: 'an agent that is spoken with has profile: voice; createVoice of @baton/client/voice says its answers',
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
