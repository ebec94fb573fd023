// The local host: sessions as actors in this process, over a store.
import { hash } from 'node:crypto'
import type { Environment, Host, Logger, Model, Store, Usage } from '@baton/core'
import type { AgentChoice, Engine } from '@baton/runtime'
import { createCatalog, createHostOver } from '@baton/runtime'
import { createNodeEnvironment } from '../environment.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import type { LocalSessionInit } from './local-session.ts'
import { openLocalSession } from './local-session.ts'
import type { OpenSessions } from './open-sessions.ts'
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
  const newId = (): string => environment.newId()
  const digest = (text: string): string => hash('sha256', text, 'base64url')
  const digestMedia = (base64: string): string => hash('sha256', Buffer.from(base64, 'base64'), 'hex')
  const catalog = createCatalog({ ...options, environment, blobs: store.blobs, log, digest, digestMedia })
  const { snapshotRecords = SNAPSHOT_RECORDS } = options
  const shared: SharedParts = { owner: newId(), catalog, store, environment, log, snapshotRecords }
  const openSessions = createOpenSessions(environment)
  const engine = createLocalEngine(shared, openSessions)

  const { isOpen, alone } = openSessions
  const stopRetention =
    options.retentionMs === undefined
      ? () => {}
      : startRetention({ store, environment, log, keepMs: options.retentionMs, isOpen, alone })
  const stop: Engine['stop'] = async ({ drainMs }) => {
    stopRetention()
    await engine.stop({ drainMs })
    if (!options.store) await store.close()
  }
  const host = createHostOver({ engine: { ...engine, stop }, newId })
  const recover = (): Promise<Recovery> =>
    recoverSessions({
      store,
      log,
      knows: (agent) => catalog.knows(agent),
      open: (name, principal) => host.session(name, { principal: { id: principal } }),
    })
  return { ...host, recover, remove: (name) => alone(name, () => store.remove(name)) }
}

type SharedParts = Omit<LocalSessionInit, 'session' | 'agent' | 'principal'>

/** Sessions as actors in this process. */
function createLocalEngine(shared: SharedParts, openSessions: OpenSessions): Engine {
  const { environment, log } = shared
  const open: Engine['open'] = async (session, { agent, principal }) => {
    const { local, leave } = await openSessions.hold(session, () =>
      openLocalSession({ ...shared, session, agent, principal }),
    )
    const { agent: own } = local.world()
    if (agent && own !== agent)
      log.info('a session that is open keeps the agent that it began with', { session, agent: own.name })
    return local.hold(leave)
  }
  const stop: Engine['stop'] = async ({ drainMs }) => {
    const sessions = await openSessions.all()
    const untilMs = environment.clock.nowMs() + drainMs
    const busy = (): boolean => sessions.some((local) => !local.isClosed() && local.state().turn !== null)
    while (busy() && environment.clock.nowMs() < untilMs)
      await new Promise<void>((resolve) => void environment.timers.start(DRAIN_LOOK_MS, resolve))
    await openSessions.closeAll()
  }
  return { open, stop }
}

const SILENT: Logger = { info: () => {}, warn: () => {} }
