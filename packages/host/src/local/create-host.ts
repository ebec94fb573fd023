// The local host: sessions as actors in this process, over a store.
import { createHmac, randomBytes } from 'node:crypto'
import type {
  Agent,
  Environment,
  Host,
  Logger,
  Model,
  Principal,
  Session,
  SessionInit,
  Store,
  Usage,
} from '@baton/core'
import { BatonError } from '@baton/core'
import { createNodeEnvironment } from '../environment.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import type { ArgumentValidator } from './arguments.ts'
import { createArgumentValidator } from './arguments.ts'
import type { CircuitBreakers } from './circuit-breaker.ts'
import { createCircuitBreakers } from './circuit-breaker.ts'
import { hostStopped } from './host-stopped.ts'
import type { Recovery } from './recover.ts'
import { recoverSessions } from './recover.ts'
import { startRetention } from './retention.ts'
import { createOpenSessions } from './open-sessions.ts'
import { createSessionHandle } from './session-handle.ts'
import { SessionLeases } from './session-leases.ts'
import { SNAPSHOT_RECORDS } from './snapshot-taker.ts'
import { openSlot } from './session-slot.ts'

export interface HostOptions {
  /** The system's clock, timers, randomness and network by default. */
  readonly environment?: Environment
  /** The agent of sessions that name none. */
  readonly agent?: Agent
  /** Turns a model's id into a model. @throws BatonError `unknown_model`, `model_not_configured` */
  readonly modelOf?: (id: string) => Model
  /** The model of agents that name none. */
  readonly defaultModel?: string | Model
  /** What a model call costs, in millionths of a US dollar; undefined where that is not known. See @baton/models/prices. */
  readonly priceOf?: (model: string, usage: Usage) => number | undefined
  /** In memory by default. Who opened it closes it, after the host has stopped. */
  readonly store?: Store
  /** Handed to every tool as `context.services`. */
  readonly services?: unknown
  /** Milliseconds that a session is kept after its last record; for ever by default. Sessions in use are always kept. */
  readonly retentionMs?: number
  /** Records of a busy session between two snapshots of it. 256. */
  readonly snapshotRecords?: number
  readonly log?: Logger
}

export interface LocalHost extends Host {
  /**
   * Opens every session that a former host left with something outstanding and that no host holds, so that its turn goes
   * on without waiting for its user. Call it at the start, before or while clients come; on a store that several hosts
   * share also later, for the sessions of those that died.
   * @throws BatonError `store_failed`
   */
  recover(): Promise<Recovery>
  /** Closes a session and removes it with all that belongs to it; the next who asks for it gets a new one. */
  remove(session: string): Promise<void>
}

/** Milliseconds between two looks at whether the running turns have ended. */
const DRAIN_LOOK_MS = 20

export function createHost(options: HostOptions = {}): LocalHost {
  const shared = createShared(options, (name) => openSessions.handOver(name))
  const { store, environment, leases, log } = shared
  const openSessions = createOpenSessions(environment)
  let stopping: Promise<void> | undefined
  const isStopping = (): boolean => stopping !== undefined // a session that opens meanwhile asks too

  const session = async (id: string | undefined, init: SessionInit = {}): Promise<Session> => {
    if (isStopping()) throw hostStopped()
    const agent = init.agent ?? options.agent
    if (!agent)
      throw new BatonError({ code: 'invalid_agent', message: 'neither the session nor the host names an agent' })
    const principal = init.principal ?? { id: 'anonymous' }
    const name = id ?? environment.newId()
    const { slot, leave } = await openSessions.hold(name, () => openSlot(slotInit(shared, name, { agent, principal })))
    if (isStopping()) throw hostStopped()
    const owner = slot.actor().state().principal
    if (owner !== principal.id) {
      leave()
      throw new BatonError({
        code: 'unauthorized',
        message: `session ${name} belongs to another principal than ${principal.id}`,
      })
    }
    if (slot.agent !== agent)
      log.info('a session that is open keeps the agent that it began with', {
        session: name,
        agent: slot.agent.name,
      })
    return createSessionHandle({ slot, principal, newId: () => environment.newId(), onClose: leave })
  }

  const { isOpen, alone } = openSessions
  const remove = (name: string): Promise<void> => alone(name, () => store.remove(name))
  const recover = (): Promise<Recovery> =>
    recoverSessions({
      store,
      agent: options.agent?.name,
      log,
      open: (name, principal) => session(name, { principal: { id: principal } }),
    })
  const stopRetention =
    options.retentionMs === undefined
      ? () => {}
      : startRetention({ store, environment, log, keepMs: options.retentionMs, isOpen, alone })

  const close = async (drainMs: number): Promise<void> => {
    stopRetention()
    const open = await openSessions.all()
    const untilMs = environment.clock.nowMs() + drainMs
    const busy = (): boolean => open.some((slot) => !slot.isClosed() && slot.actor().state().turn !== null)
    while (busy() && environment.clock.nowMs() < untilMs)
      await new Promise<void>((resolve) => void environment.timers.start(DRAIN_LOOK_MS, resolve))
    await openSessions.closeAll()
    leases.stop()
    if (!options.store) await store.close()
  }

  return { session, recover, remove, stop: ({ drainMs = 0 } = {}) => (stopping ??= close(drainMs)) }
}

interface Shared {
  readonly options: HostOptions
  readonly environment: Environment
  readonly store: Store
  readonly leases: SessionLeases
  readonly validator: ArgumentValidator
  readonly breakers: CircuitBreakers
  /** Of the secret that this host's approval tokens are made with. */
  readonly tokenHash: (key: string) => string
  readonly log: Logger
}

function createShared(options: HostOptions, onHandover: (session: string) => void): Shared {
  // Nobody else can own what is in a store that nobody else has.
  const store = options.store ?? createMemoryStore({ leaseMs: Infinity })
  const environment = options.environment ?? createNodeEnvironment()
  const log = options.log ?? SILENT
  const { timers, clock } = environment
  return {
    options,
    environment,
    store,
    leases: new SessionLeases({ store, owner: environment.newId(), timers, log, onHandover }),
    validator: createArgumentValidator(),
    breakers: createCircuitBreakers(clock),
    tokenHash: tokenHashWith(randomBytes(32)),
    log,
  }
}

function slotInit(shared: Shared, session: string, init: { readonly agent: Agent; readonly principal: Principal }) {
  const { options, environment, store, leases, validator, tokenHash, log } = shared
  const named = init.agent.models.length > 0 ? init.agent.models : options.defaultModel ? [options.defaultModel] : []
  if (named.length === 0)
    throw new BatonError({
      code: 'unknown_model',
      message: `agent "${init.agent.name}" names no model, and the host has no default`,
    })
  const modelOf = (id: string): Model => {
    const own = named.find((model): model is Model => typeof model !== 'string' && model.id === id)
    const model = own ?? options.modelOf?.(id)
    if (!model) throw new BatonError({ code: 'unknown_model', message: `no model is named "${id}"` })
    // Somebody must be asked: the last candidate is never left alone.
    return model.id === lastOf(named) ? model : shared.breakers.guard(model)
  }
  return {
    session,
    leases,
    store,
    validator,
    log,
    modelOf,
    priceOf: options.priceOf,
    agent: init.agent,
    principal: init.principal,
    services: options.services ?? {},
    snapshotRecords: options.snapshotRecords ?? SNAPSHOT_RECORDS,
    environment,
    models: named.map((model) => (typeof model === 'string' ? model : model.id)),
    tokenHash,
  }
}

function tokenHashWith(secret: Buffer): Shared['tokenHash'] {
  return (key) => createHmac('sha256', secret).update(key).digest('base64url')
}

function lastOf(models: readonly (string | Model)[]): string | undefined {
  const last = models.at(-1)
  return typeof last === 'object' ? last.id : last
}

const SILENT: Logger = { info: () => {}, warn: () => {} }
