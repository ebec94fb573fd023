// Sessions whose only writer is a workflow: inputs are sent as Updates, and records arrive through the log.
import type { Agent, JsonObject, Logger } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type { Input, State } from '@baton/core/machine'
import type { Catalog, CopyingEngine, Engine, OpenedSession, SessionOpening } from '@baton/runtime'
import { copySession, OpenWorld, readOpening, waitForTurns, SYSTEM_TIME } from '@baton/runtime'
import type { Client } from '@temporalio/client'
import {
  WithStartWorkflowOperation,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  WorkflowNotFoundError,
} from '@temporalio/client'
import type { Identity, SessionStart, Tuning } from '../contract.ts'
import { SESSION_WORKFLOW } from '../contract.ts'
import { TASK_PREFIX } from '../task-workflow.ts'
import type { LiveBus } from '../live/live-bus.ts'
import type { ServiceCalls } from '../service-calls.ts'
import type { SessionLog } from '../session-view.ts'
import { SessionView } from '../session-view.ts'
import { Submitter } from '../submitter.ts'
import { ChildViews } from './child-views.ts'
import { ClientLeases } from './client-leases.ts'

export interface TemporalEngineOptions {
  readonly client: Client
  readonly calls: ServiceCalls
  readonly taskQueue: string
  readonly catalog: Catalog
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
  readonly tuning: Tuning
  /** Milliseconds until the clients of a dead gateway count as disconnected. */
  readonly leaseMs: number
}

/** Milliseconds to wait for a session's first record; a worker that dies during it is detected after ten seconds. */
const OPEN_MS = 60_000

export class TemporalEngine implements Engine {
  readonly #init: TemporalEngineOptions
  readonly #open = new Map<string, HeldGateway>()
  readonly #known = new Map<string, KnownSession>()
  readonly #submitter: Submitter

  constructor(init: TemporalEngineOptions) {
    this.#init = init
    const { client, calls } = init
    this.#submitter = new Submitter({
      client,
      calls,
      start: (session) => this.#createStart(session),
      findBirth: (session) => findBirth(this.#known.get(session)),
    })
  }

  async open(session: string, opening: SessionOpening): Promise<OpenedSession> {
    if (session.startsWith(TASK_PREFIX)) throw createTaskNameError(session)
    const held = this.#open.get(session) ?? this.#hold(session, opening)
    // Counted before the wait: a caller that leaves meanwhile must not close it.
    held.users += 1
    let hasLeft = false
    const leave = (): void => {
      if (hasLeft) return
      hasLeft = true
      held.users -= 1
      if (held.users === 0 && held.gateway) this.#close(session, held.gateway)
    }
    try {
      const gateway = await held.opened
      const isOwn = gateway.view.replica.state().principal === opening.principal.id
      if (opening.agent && isOwn) await this.#adopt(gateway, opening.agent)
      return { engine: gateway.engine, leave }
    } catch (cause) {
      leave()
      // The caller shared an opening that creates no session.
      if (!opening.mustExist && held.mustExist && isBatonError(cause) && cause.code === 'unknown_session')
        return await this.open(session, opening)
      throw cause
    }
  }

  #hold(session: string, opening: SessionOpening): HeldGateway {
    const { mustExist = false } = opening
    const held: HeldGateway = { opened: this.#begin(session, opening), gateway: undefined, users: 0, mustExist }
    this.#open.set(session, held)
    held.opened.then(
      (gateway) => {
        held.gateway = gateway
      },
      // After a failed opening, the next request tries again.
      () => this.#open.get(session) === held && this.#open.delete(session),
    )
    return held
  }

  async stop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    const opened = [...this.#open.values()].map((held) => held.opened)
    const gateways = (await Promise.allSettled(opened)).flatMap((one) =>
      one.status === 'fulfilled' ? [one.value] : [],
    )
    const isRunning = (): boolean => gateways.some(({ view }) => view.replica.state().turn !== null)
    await waitForTurns(SYSTEM_TIME, drainMs, isRunning)
    for (const gateway of gateways) this.#close(gateway.view.replica.session, gateway)
  }

  /** Called when the session was removed: handles open here are notified, and the next request opens a new session. */
  drop(session: string, birth: string | undefined): void {
    const known = this.#known.get(session)
    if (known && (birth === undefined || birth === findBirth(known))) this.#forget(session, known.view)
  }

  #close(session: string, { leases, view, world, children }: Gateway): void {
    leases.close()
    children.close()
    this.#forget(session, view)
    void world.dispose()
  }

  /** Another session of this name may already exist. */
  #forget(session: string, view: SessionView): void {
    view.close()
    if (this.#known.get(session)?.view !== view) return
    this.#known.delete(session)
    this.#open.delete(session)
  }

  async #begin(session: string, { principal, agent, meta = {}, mustExist }: SessionOpening): Promise<Gateway> {
    const { store, bus, log, catalog, leaseMs } = this.#init
    const world = new OpenWorld({ catalog, onChange: () => {}, isClosed: () => false })
    const isNeeded = (): boolean => isAtWork(view.replica.state())
    const submit = this.#submitter.submitTo(session)
    const leases = new ClientLeases({ ...SYSTEM_TIME, leaseMs, submit, isNeeded, log })
    const update = async (inputs: readonly Input[]): ReturnType<typeof submit> => {
      try {
        return await leases.submit(inputs)
      } catch (cause) {
        // It was removed without notice: the next request here opens whatever exists now.
        if (isBatonError(cause) && cause.code === 'session_closed') this.#forget(session, view)
        throw cause
      }
    }
    const isRunning = (): Promise<boolean> => this.#isWorkflowRunning(session)
    const onRemoved = (): void => this.#forget(session, view)
    const view = new SessionView({ session, store, bus, log, world, update, isRunning, onRemoved })
    try {
      let isNew = false
      await view.open(async () => {
        isNew = view.replica.state().pos < 0
        if (isNew && mustExist) throw createUnknownError(session)
        const name = isNew ? (agent?.name ?? '') : view.replica.state().agent
        await world.open({ id: session, agent: name, principal, meta }, isNew ? agent : undefined)
      })
      const children = new ChildViews({ catalog, store, bus, log }, view.replica)
      view.onRecords(() => {
        leases.notice()
        children.prune()
      })
      const identity = { session, principal: principal.id, agent: world.current.agent.name, meta }
      this.#known.set(session, { identity, view })
      if (isNew) {
        await this.#start(session)
        await view.reach(0, OPEN_MS)
      } else if (isOwed(view.replica.state()))
        // Restarts a terminated workflow, so that outstanding work continues without waiting for an input.
        this.#start(session).catch((cause: unknown) => {
          log.warn('the workflow of a session with an open turn could not be started', {
            session,
            cause: String(cause),
          })
        })
      const engine = createEngine(view, store, children)
      return { view, world, leases, children, engine }
    } catch (cause) {
      view.close()
      leases.close()
      void world.dispose()
      throw cause
    }
  }

  /** Switches the workflow to the agent of this name, which its workers must have. */
  async #adopt({ world, view, engine }: Gateway, agent: Agent): Promise<void> {
    const state = (): State => view.replica.state()
    const { agent: name } = state()
    const { agent: before } = world.current
    await world.adopt(agent, state)
    if (agent.name === name) return
    try {
      await this.#submitter.submit(engine.session, { inputs: [], agent: agent.name })
    } catch (cause) {
      // Another caller may have changed it meanwhile.
      if (world.current.agent === agent) await world.adopt(before, state)
      throw cause
    }
    const known = this.#known.get(engine.session)
    if (known) this.#known.set(engine.session, { view, identity: { ...known.identity, agent: agent.name } })
  }

  async #start(session: string): Promise<void> {
    const { client, calls } = this.#init
    await calls.run(() => client.workflow.start(SESSION_WORKFLOW, this.#startOptions(session)))
  }

  /** Also true if the service does not answer: only "not found" means that the workflow is not running. */
  async #isWorkflowRunning(session: string): Promise<boolean> {
    const { client, calls } = this.#init
    try {
      const { status } = await calls.run(() => client.workflow.getHandle(session).describe())
      return status.name === 'RUNNING'
    } catch (cause) {
      return !(cause instanceof WorkflowNotFoundError)
    }
  }

  /** A removed session must not be started again by an input for the old one. */
  async #createStart(session: string): Promise<WithStartWorkflowOperation<() => Promise<void>>> {
    const known = this.#known.get(session)
    const opening = await readOpening(this.#init.store, session)
    if (known && opening?.birth !== findBirth(known)) {
      this.#forget(session, known.view)
      throw new BatonError({ code: 'session_closed', message: `session ${session} was removed` })
    }
    return new WithStartWorkflowOperation(SESSION_WORKFLOW, this.#startOptions(session))
  }

  #startOptions(session: string): {
    readonly workflowId: string
    readonly taskQueue: string
    readonly args: [SessionStart]
    readonly workflowIdConflictPolicy: WorkflowIdConflictPolicy
    readonly workflowIdReusePolicy: WorkflowIdReusePolicy
    readonly memo: JsonObject
  } {
    const { taskQueue, tuning } = this.#init
    const { identity } = this.#known.get(session) ?? {}
    if (!identity) throw new BatonError({ code: 'session_closed', message: `session ${session} is not open here` })
    return {
      workflowId: session,
      taskQueue,
      args: [{ identity, tuning }],
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      memo: { agent: identity.agent, principal: identity.principal },
    }
  }
}

/** `undefined` until it has a record. */
function findBirth(known: KnownSession | undefined): string | undefined {
  return known?.view.replica.state().birth || undefined
}

/** Whether a terminated workflow is restarted when its session is opened. */
function isOwed({ turn, children, tasks }: State): boolean {
  return turn !== null || children.length > 0 || tasks.length > 0
}

/** Whether a client may be needed, or has been. */
function isAtWork({ turn, step, queue, relayed, tasks }: State): boolean {
  const isAwaited = tasks.some(({ runs }) => runs === 'client') || relayed.some(({ call }) => call !== undefined)
  return turn !== null || step !== null || queue.length > 0 || isAwaited
}

interface KnownSession {
  readonly identity: Identity
  readonly view: SessionView
}

interface Gateway {
  readonly view: SessionView
  readonly world: OpenWorld
  readonly leases: ClientLeases
  readonly children: ChildViews
  readonly engine: CopyingEngine
}

interface HeldGateway {
  readonly opened: Promise<Gateway>
  /** Set once it is open. */
  gateway: Gateway | undefined
  users: number
  /** Whether its opening creates no session. */
  readonly mustExist: boolean
}

function createTaskNameError(session: string): BatonError {
  return new BatonError({
    code: 'illegal_input',
    message: `the name ${session.slice(0, 100)} is reserved: names with ${TASK_PREFIX} belong to tasks of sessions`,
    hint: 'Give the session another name.',
  })
}

function createUnknownError(session: string): BatonError {
  return new BatonError({
    code: 'unknown_session',
    message: `session ${session} has no records: it was removed, or never created`,
    hint: 'Open it without `existing` to begin a new session.',
  })
}

/** The replica, plus what only a host over a log can do. */
function createEngine(view: SessionView, store: SessionLog, children: ChildViews): CopyingEngine {
  const { replica } = view
  return {
    session: replica.session,
    get world() {
      return replica.world
    },
    state: () => replica.state(),
    history: () => replica.history(),
    submit: (inputs) => replica.submit(inputs),
    stream: replica.stream,
    child: (callId) => children.find(callId),
    readBelow: (child, fromPos) => store.read(child, fromPos),
    copyTo: (to) => copySession(store, { from: replica.session, to, birth: replica.state().birth }),
  }
}
