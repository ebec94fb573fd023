// Sessions whose one writer is a workflow: inputs go out as Updates, records come back through the log.
import type { Agent, JsonObject, Logger } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Input } from '@baton/core/machine'
import type { Catalog, CopyingEngine, Engine, OpenedSession, SessionOpening } from '@baton/runtime'
import { copySession, OpenWorld, waitForTurns } from '@baton/runtime'
import type { Client } from '@temporalio/client'
import { WithStartWorkflowOperation, WorkflowIdConflictPolicy, WorkflowIdReusePolicy } from '@temporalio/client'
import type { Identity, SessionStart, Tuning } from '../contract.ts'
import { SESSION_WORKFLOW } from '../contract.ts'
import type { LiveBus } from '../live/live-bus.ts'
import { NODE_WORLD } from '../node-world.ts'
import type { SessionLog } from '../session-view.ts'
import { SessionView } from '../session-view.ts'
import { Submitter } from '../submitter.ts'
import { ClientLeases } from './client-leases.ts'

export interface TemporalEngineInit {
  readonly client: Client
  readonly taskQueue: string
  readonly catalog: Catalog
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
  readonly tuning: Tuning
  /** Milliseconds after which the clients of a gateway that died count as gone. */
  readonly leaseMs: number
}

/** Milliseconds for which the first record of a session is waited for: a worker that dies with it is missed after ten seconds. */
const OPEN_MS = 60_000

export class TemporalEngine implements Engine {
  readonly #init: TemporalEngineInit
  readonly #open = new Map<string, Promise<Gateway>>()
  readonly #identities = new Map<string, Identity>()
  readonly #submitter: Submitter

  constructor(init: TemporalEngineInit) {
    this.#init = init
    const { client } = init
    this.#submitter = new Submitter({ client, start: (session) => this.#createStart(session) })
  }

  async open(session: string, opening: SessionOpening): Promise<OpenedSession> {
    const opened = this.#open.get(session) ?? this.#begin(session, opening)
    this.#open.set(session, opened)
    let gateway: Gateway
    try {
      gateway = await opened
    } catch (cause) {
      if (this.#open.get(session) === opened) this.#open.delete(session)
      throw cause
    }
    const { replica } = gateway.view
    const isOwn = replica.state().principal === opening.principal.id
    if (opening.agent && isOwn) await this.#adopt(gateway, opening.agent)
    gateway.users += 1
    let hasLeft = false
    const leave = (): void => {
      if (hasLeft) return
      hasLeft = true
      gateway.users -= 1
      if (gateway.users === 0) this.#close(session, gateway)
    }
    return { engine: gateway.engine, leave }
  }

  async stop({ drainMs }: { readonly drainMs: number }): Promise<void> {
    const gateways = (await Promise.allSettled(this.#open.values())).flatMap((one) =>
      one.status === 'fulfilled' ? [one.value] : [],
    )
    const isRunning = (): boolean => gateways.some(({ view }) => view.replica.state().turn !== null)
    await waitForTurns({ clock: NODE_WORLD.clock, timers: NODE_WORLD.timers }, drainMs, isRunning)
    for (const gateway of gateways) this.#close(gateway.view.replica.session, gateway)
  }

  #close(session: string, gateway: Gateway): void {
    this.#open.delete(session)
    this.#identities.delete(session)
    gateway.leases.close()
    gateway.view.close()
    void gateway.world.dispose()
  }

  async #begin(session: string, { principal, agent, meta = {} }: SessionOpening): Promise<Gateway> {
    const { store, bus, log, catalog, client, leaseMs } = this.#init
    const world = new OpenWorld({ catalog, onChange: () => {}, isClosed: () => false })
    const submit = this.#submitter.submitTo(session)
    const leases = new ClientLeases({ leaseMs, submit, log })
    const update = (inputs: readonly Input[]): ReturnType<typeof submit> => submit(leases.addLeases(inputs))
    const view = new SessionView({ session, store, bus, log, world, update })
    try {
      await view.open()
      const isNew = view.replica.state().pos < 0
      const name = isNew ? (agent?.name ?? '') : view.replica.state().agent
      const identity = { session, principal: principal.id, agent: name, meta }
      await world.open({ id: session, agent: name, principal: principal.id, meta }, isNew ? agent : undefined)
      this.#identities.set(session, { ...identity, agent: world.current.agent.name })
      if (isNew) {
        await client.workflow.start(SESSION_WORKFLOW, this.#startOptions(session))
        await view.reach(0, OPEN_MS)
      } else if (view.replica.state().turn !== null)
        // Where its workflow was terminated, it goes on with what it owes before anybody says something.
        client.workflow.start(SESSION_WORKFLOW, this.#startOptions(session)).catch((cause: unknown) => {
          log.warn('the workflow of a session with an open turn could not be started', {
            session,
            cause: String(cause),
          })
        })
      const engine = createEngine(view, store)
      return { view, world, leases, engine, users: 0 }
    } catch (cause) {
      view.close()
      leases.close()
      void world.dispose()
      throw cause
    }
  }

  /** The workflow goes on with the agent of this name, which its workers must have. */
  async #adopt({ world, view, engine }: Gateway, agent: Agent): Promise<void> {
    const before = view.replica.state().agent
    await world.adopt(agent, () => view.replica.state())
    if (agent.name === before) return
    await this.#submitter.submit(engine.session, { inputs: [], agent: agent.name })
    const identity = this.#identities.get(engine.session)
    if (identity) this.#identities.set(engine.session, { ...identity, agent: agent.name })
  }

  #createStart(session: string): WithStartWorkflowOperation<() => Promise<void>> {
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
    const identity = this.#identities.get(session)
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

interface Gateway {
  readonly view: SessionView
  readonly world: OpenWorld
  readonly leases: ClientLeases
  readonly engine: CopyingEngine
  users: number
}

/** The replica, with what only a host over a log can do. */
function createEngine(view: SessionView, store: SessionLog): CopyingEngine {
  const { replica } = view
  return {
    session: replica.session,
    get world() {
      return replica.world
    },
    state: () => replica.state(),
    history: () => replica.history(),
    submit: (inputs) => replica.submit(inputs),
    follow: (fromPos, onEnd) => replica.follow(fromPos, onEnd),
    copyTo: (to) => copySession(store, { from: replica.session, to }),
  }
}
