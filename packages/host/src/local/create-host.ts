// The local host: sessions as actors in this process, over a store.
import { createHmac, hash, randomBytes } from 'node:crypto'
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
import type { AgentChoice } from '@baton/runtime'
import { createCatalog, createSession } from '@baton/runtime'
import { createNodeEnvironment } from '../environment.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createStoppedError } from './host-stopped.ts'
import type { LocalSession } from './local-session.ts'
import { openLocalSession } from './local-session.ts'
import { createOpenSessions } from './open-sessions.ts'
import type { Recovery } from './recover.ts'
import { recoverSessions } from './recover.ts'
import { startRetention } from './retention.ts'
import { SNAPSHOT_RECORDS } from './snapshot-taker.ts'

export interface HostOptions extends AgentChoice {
  /** The system's clock, timers, randomness and network by default. */
  readonly environment?: Environment
  /** Turns a model's id into a model. @throws BatonError `unknown_model`, `model_not_configured` */
  readonly modelOf?: (id: string) => Model
  /** The model of agents that name none. */
  readonly defaultModel?: string | Model
  /** What a model call costs, in millionths of a US dollar; undefined where that is not known. See @baton/models/prices. */
  readonly priceOf?: (model: string, usage: Usage) => number | undefined
  /** In memory by default. Whoever opened it closes it, after the host has stopped. */
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
   * Opens every session that a former host left with something outstanding, so that its turn goes on without waiting for
   * its user. Call it once, before or while clients come.
   * @throws BatonError `store_failed`
   */
  recover(): Promise<Recovery>
  /** Closes a session and removes it with all that belongs to it; the next who asks for it gets a new one. */
  remove(session: string): Promise<void>
}

/** Milliseconds between two looks at whether the running turns have ended. */
const DRAIN_LOOK_MS = 20

export function createHost(options: HostOptions = {}): LocalHost {
  const store = options.store ?? createMemoryStore()
  const environment = options.environment ?? createNodeEnvironment()
  const log = options.log ?? SILENT
  const digest = (text: string): string => hash('sha256', text, 'base64url')
  const tokenHash = createTokenHash(randomBytes(32))
  const catalog = createCatalog({ ...options, environment, blobs: store.blobs, log, digest, tokenHash })
  const { snapshotRecords = SNAPSHOT_RECORDS } = options
  const shared = { owner: environment.newId(), catalog, store, environment, log, snapshotRecords }
  const openSessions = createOpenSessions(environment)
  let stopping: Promise<void> | undefined
  const isStopping = (): boolean => stopping !== undefined // a session that opens meanwhile asks too

  const session = async (id: string | undefined, init: SessionInit = {}): Promise<Session> => {
    if (isStopping()) throw createStoppedError()
    const { agent, principal = ANONYMOUS } = init
    const name = id ?? environment.newId()
    const { local, leave } = await openSessions.hold(name, () =>
      openLocalSession({ ...shared, session: name, agent, principal }),
    )
    const refusal = isStopping() ? createStoppedError() : refuseOpening(local, { principal, agent, log })
    if (!refusal) return createSession({ engine: local.hold(leave), principal, newId: () => environment.newId() })
    leave()
    throw refusal
  }

  const { isOpen, alone } = openSessions
  const remove = (name: string): Promise<void> => alone(name, () => store.remove(name))
  const recover = (): Promise<Recovery> =>
    recoverSessions({
      store,
      knows: (agent) => catalog.knows(agent),
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
    const busy = (): boolean => open.some((local) => !local.isClosed() && local.state().turn !== null)
    while (busy() && environment.clock.nowMs() < untilMs)
      await new Promise<void>((resolve) => void environment.timers.start(DRAIN_LOOK_MS, resolve))
    await openSessions.closeAll()
    if (!options.store) await store.close()
  }

  return { session, recover, remove, stop: ({ drainMs = 0 } = {}) => (stopping ??= close(drainMs)) }
}

const ANONYMOUS: Principal = { id: 'anonymous' }

interface Opening {
  readonly principal: Principal
  readonly agent: Agent | undefined
  readonly log: Logger
}

function refuseOpening(local: LocalSession, { principal, agent, log }: Opening): BatonError | undefined {
  const { session } = local
  if (local.state().principal !== principal.id) {
    const message = `session ${session} belongs to another principal than ${principal.id}`
    return new BatonError({ code: 'unauthorized', message })
  }
  const { name } = local.world().agent
  if (agent && local.world().agent !== agent)
    log.info('a session that is open keeps the agent that it began with', { session, agent: name })
  return undefined
}

function createTokenHash(secret: Buffer): (key: string) => string {
  return (key) => createHmac('sha256', secret).update(key).digest('base64url')
}

const SILENT: Logger = { info: () => {}, warn: () => {} }
