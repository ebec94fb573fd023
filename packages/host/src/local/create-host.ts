// The local host: runs sessions as actors in this process, over a store.
import { AsyncLocalStorage } from 'node:async_hooks'
import type {
  Agent,
  NeededServices,
  BlobStore,
  DeadNotices,
  Environment,
  Host,
  Logger,
  SessionDirectory,
  SessionViews,
  Model,
} from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { Engine, RunTool, ToolJob, OpenedSession, SessionOpening } from '@baton/runtime'
import {
  createCatalog,
  createDefaultLog,
  createForeignError,
  createHostOver,
  decideFor,
  Directory,
  readOpening,
  SessionViewer,
  SharedTimers,
  AbortedCalls,
  hasRunningWork,
  Notices,
  waitForTurns,
} from '@baton/runtime'
import { createNodeEnvironment, digest, digestMedia } from '../environment.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { joinObservers, createSessionWarnings } from '../observer.ts'
import { Alarm } from './alarm.ts'
import type { HostOptions } from './host-options.ts'
import { checkOptions, LINGER_MS } from './host-options.ts'
import { OpenSessions } from './open-sessions.ts'
import type { Recovery, RecoverOptions, RecoveryParts } from './recover.ts'
import { createRecovery } from './recover.ts'
import { startRetention } from './retention.ts'
import { SessionLeases } from './session-leases.ts'
import { foldSession, SNAPSHOT_RECORDS } from './session-log.ts'
import type { LimitedStore } from './store-in-time.ts'
import { limitStoreActs } from './store-in-time.ts'
import type { LocalSession, LocalSessionOptions } from './local-session.ts'
import { openLocalSession } from './local-session.ts'
import { secretsIn, describeToolVerdict } from '@baton/models/internal'
import type { ModelOfOptions } from '@baton/models/choose-model'
import { createModelOf } from '@baton/models/choose-model'

/**
 * A host over a store. `await using host = createHost(…)` stops it at the end of the block. Its methods can be used
 * detached.
 */
export interface LocalHost<A extends Agent = Agent> extends Host<A>, SessionDirectory, AsyncDisposable {
  /** Reads any session, for operators. */
  readonly views: SessionViews

  /**
   * Returns the call whose tool caused the current error, for handlers of `uncaughtException` or `unhandledRejection`:
   * a tool's timer may throw after the tool returned, for example. `undefined` if no tool of this host caused it.
   */
  strayCall(): { readonly session: string; readonly callId: string; readonly tool: string } | undefined

  /**
   * Opens every session that a dead host left with outstanding work and that no host holds, so that its turn continues
   * without waiting for its user. Call it at startup, before or while clients connect. On a store shared by several
   * hosts, pass `everyMs` to also pick up sessions of hosts that die later. Afterwards, the host also keeps the reminders of
   * closed sessions; missed ones fire at once.
   * @throws BatonError `store_failed`
   */
  recover(options?: RecoverOptions): Promise<Recovery>

  /** The notices that no destination took. */
  readonly notices: DeadNotices
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
  const { snapshotRecords = SNAPSHOT_RECORDS, observers = [], lingerMs = LINGER_MS, retentionMs: keepMs } = options
  const openSessions = new OpenSessions(environment, { lingerMs })
  const blobs = guardBlobs(store.blobs, openSessions)
  const models = options.modelOf ? undefined : createNamedModels(options, environment, log)
  const openSession: Host['session'] = (id, given) => session(id, given)
  const world = { environment, blobs, log, digest, digestMedia, runTool, openSession }
  const catalog = createCatalog({ ...options, ...models, ...world, runsChildren: true })
  const leases = createLeases({ store, disk, environment, log, openSessions }, options.address)
  const directory = createDirectory({ store, environment, log }, openSessions)
  const secrets = options.secrets ?? models?.secrets
  const findOpen = openSessions.findLive.bind(openSessions)
  const views = new SessionViewer({ store, environment, log, digest, digestMedia, catalog, secrets, findOpen })
  const observer = joinObservers(options.log ? [createSessionWarnings(log), ...observers] : observers, log)
  const aborted = new AbortedCalls({ timers: environment.timers, log, abortMs: options.abortMs })
  const left: RecoveryParts = {
    store,
    log,
    knows: (agent) => catalog.knows(agent),
    open: (session, principal) => engine.open(session, { principal: { id: principal }, mustExist: true }),
  }
  const alarm = new Alarm({ ...left, ...environment, isOpen: (session) => openSessions.isOpen(session) })
  const notices = createNotices({ ...environment, store, log, directory }, options)
  const parts = { observer, leases, catalog, directory, aborted, alarm, notices, snapshotRecords }
  const shared = { ...parts, store, disk, environment, log, openChildren: openSessions.children }
  const engine = createLocalEngine(shared, openSessions)

  const { isUnrecovered, ...recovery } = createRecovery({ ...left, timers: environment.timers })
  const { remove, removeAlone } = createRemoval({ store, leases, directory, openSessions })
  const retained = { store, environment, log, openSessions, isUnrecovered, remove: removeAlone }
  const stopRetention = keepMs === undefined ? () => {} : startRetention({ ...retained, keepMs })
  const stop: Engine['stop'] = async ({ drainMs }) => {
    stopRetention()
    recovery.stop()
    alarm.stop()
    directory.close()
    await engine.stop({ drainMs })
    await notices.stop()
    if (!options.store) await disk.close()
  }
  const over = { ...environment, wallMs: () => environment.clock.nowMs(), catalog }
  const host = createHostOver({ ...over, engine: { ...engine, stop } })
  const session: LocalHost['session'] = async (id, given) => {
    if (models && given?.agent && typeof given.agent === 'object') checkNamedModels(models.modelOf, [given.agent])
    return await host.session(id, given)
  }
  return {
    session,
    stop: host.stop,
    recover: (given) => recoverAll(recovery, [alarm, notices], given),
    strayCall: () => {
      const job = running.getStore()
      return job && { session: job.session, callId: job.callId, tool: job.name }
    },
    remove,
    notices: notices.methods,
    ...directory.methods,
    views,
    decide: decideFor({ session }, directory),
    [Symbol.asyncDispose]: () => host.stop(),
  }
}

interface LeaseParts extends Pick<SharedOptions, 'store' | 'disk' | 'environment' | 'log'> {
  readonly openSessions: OpenSessions
}

function createLeases(parts: LeaseParts, address: string | undefined): SessionLeases {
  const { store, disk, environment, log, openSessions } = parts
  return new SessionLeases({
    store,
    disk,
    owner: environment.newId(),
    address,
    timers: environment.timers,
    log,
    onHandover: (session) => openSessions.handOver(session),
  })
}

function createNotices(
  parts: Pick<Environment, 'clock' | 'timers' | 'newId'> &
    Pick<DirectoryOptions, 'store' | 'log'> & { readonly directory: Directory },
  { notify = [] }: Pick<HostOptions, 'notify'>,
): Notices {
  const owner = notify.length === 0 ? '' : parts.newId()
  const { directory } = parts
  return new Notices({
    ...parts,
    destinations: notify,
    digest,
    listRequests: (session) => directory.listRequests(session),
    owner,
  })
}

async function recoverAll(
  recovery: Pick<ReturnType<typeof createRecovery>, 'recover'>,
  started: readonly Pick<Alarm, 'start'>[],
  given: RecoverOptions | undefined,
): Promise<Recovery> {
  const recovered = await recovery.recover(given)
  for (const one of started) one.start({ isShared: given?.everyMs !== undefined })
  return recovered
}

interface DirectoryOptions {
  readonly store: LimitedStore
  readonly environment: Environment
  readonly log: Logger
}

function createDirectory(init: DirectoryOptions, open: OpenSessions): Directory {
  const { store, log, environment } = init
  return new Directory({
    store,
    log,
    clock: environment.clock,
    timers: environment.timers,
    findOpen: (session) => open.find(session)?.state(),
    fold: (session) => foldSession(init.store, session),
  })
}

/**
 * Models by name, for programs without their own `modelOf`: keys and addresses come from variables under the names that
 * the providers use. A name that cannot be used is refused here.
 * @throws BatonError `unknown_model`, `model_not_configured`, `invalid_option` when a variable has an invalid value
 */
function createNamedModels(options: HostOptions, { transport, clock }: Environment, log: Logger) {
  const { variables = process.env, agents = [], agent, defaultModel, secrets = secretsIn(variables) } = options
  let find: ((id: string) => Model) | undefined
  const onToolVerdict: ModelOfOptions['onToolVerdict'] = (verdict, model) => {
    const line = describeToolVerdict(model, verdict)
    if (verdict.type === 'native') log.info(line, { model })
    else log.warn(line, { model, reason: verdict.reason, format: verdict.format })
  }
  // Created for the first name: an invalid variable must not affect a program that names no model.
  const modelOf = (id: string): Model => (find ??= createModelOf({ variables, transport, clock, onToolVerdict }))(id)
  checkNamedModels(modelOf, agent ? [...agents, agent] : agents, defaultModel)
  return { modelOf, secrets }
}

/** Resolves every model that the agents name, fallbacks included. @throws BatonError as `modelOf` does */
function checkNamedModels(
  modelOf: (id: string) => Model,
  agents: readonly Pick<Agent, 'models'>[],
  defaultModel?: string | Model,
): void {
  const named = [...agents.flatMap(({ models }) => models), defaultModel]
  for (const model of named) if (typeof model === 'string') modelOf(model)
}

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

/** Dependencies shared by all sessions of a host. */
type SharedOptions = Omit<LocalSessionOptions, 'session' | 'agent' | 'principal' | 'meta' | 'mustExist' | 'child'>

/** Opens sessions as actors in this process. It does not check who may open a session. */
function createLocalEngine(shared: SharedOptions, openSessions: OpenSessions) {
  const { environment, leases } = shared
  const open = async (session: string, opening: SessionOpening): Promise<OpenedSession> => {
    const { agent, principal, meta = {}, mustExist = false } = opening
    // A principal that does not own the session must be refused before anything changes.
    const owns = (local: LocalSession): boolean => local.state().principal === principal.id
    const { local, leave } = await openSessions.hold(session, {
      mustExist,
      open: () => openLocalSession({ ...shared, session, agent, principal, meta, mustExist }),
      wake: (lingering) => lingering.wake(owns(lingering) ? agent : undefined),
    })
    try {
      if (agent && owns(local)) await local.adopt(agent)
    } catch (cause) {
      leave()
      throw cause
    }
    return { engine: local, leave }
  }
  const stop: Engine['stop'] = async ({ drainMs }) => {
    const sessions = await openSessions.all()
    const isBusy = (local: LocalSession): boolean => !local.isClosed() && hasRunningWork(local.state())
    await waitForTurns(environment, drainMs, () => sessions.some(isBusy))
    await openSessions.closeAll()
    leases.stop()
  }
  return { open, stop }
}
