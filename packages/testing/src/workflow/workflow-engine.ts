// A host whose sessions are workflows: an in-memory engine that behaves like one over a workflow service. Everything
// that crosses a boundary is JSON, messages are late, and workers and activities may die. Shares only the runtime with
// the local host.
import type { Agent, Clock, Environment } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { AwaitedEffect, HostReport, Input, SessionRecord, State } from '@baton/core/machine'
import { createHistory, decideBatch, openSession } from '@baton/core/machine'
import type { Catalog, ChildOpening, ChildPlace, Engine, LinkedChild, SessionOpening, WorkEffect } from '@baton/runtime'
import {
  AbortedCalls,
  ChildLinks,
  createLossReport,
  isWorkEffect,
  OpenWorld,
  performEffect,
  performModel,
  performTool,
  ReplicatedSession,
  startSessionClock,
  hasRunningWork,
  waitForTurns,
} from '@baton/runtime'
import type { Decided, WorkflowService } from './workflow.ts'
import { SessionWorkflow } from './workflow.ts'

export interface WorkflowEngineOptions {
  readonly environment: Environment
  readonly catalog: Catalog
  /** When the worker of this activity dies: before it did anything, or before it reports. Never by default. */
  readonly loses?: (effect: WorkEffect) => 'early' | 'late' | undefined
  /**
   * Called after every workflow task; if true, its worker dies and another one replays the history. Never by default.
   */
  readonly killsWorker?: () => boolean
  /** Called with new records of a session as soon as they are recorded. */
  readonly onRecords?: (records: readonly SessionRecord[], session: string) => void
}

export interface WorkflowEngine extends Engine {
  records(session: string): readonly SessionRecord[]
}

/** An activity counts as lost after this many milliseconds without a heartbeat. */
const HEARTBEAT_MS = 2000

export function createWorkflowEngine(init: WorkflowEngineOptions): WorkflowEngine {
  const runs = new Map<string, WorkflowRun>()
  const open: Engine['open'] = async (session, opening) => {
    const run = runs.get(session) ?? new WorkflowRun({ ...init, runs }, session, opening)
    runs.set(session, run)
    try {
      await run.begun
      const isOwn = run.gateway.state().principal === opening.principal.id
      if (opening.agent && isOwn) await run.adopt(opening.agent)
      return { engine: run.gateway, leave: () => {} }
    } catch (cause) {
      if (run.records.length === 0) runs.delete(session)
      throw cause
    }
  }
  const stop: Engine['stop'] = async ({ drainMs }) => {
    await waitForTurns(init.environment, drainMs, () =>
      [...runs.values()].some(({ gateway }) => hasRunningWork(gateway.state())),
    )
    await Promise.all([...runs.values()].map((run) => run.close()))
  }
  return { open, stop, records: (session) => runs.get(session)?.records ?? [] }
}

interface Activity {
  readonly effect: AwaitedEffect
  readonly cancellation: AbortController
  /** Resolves when its work has ended; never rejects. */
  readonly settled: Promise<void>
  /** Whether its report is on its way to the workflow. */
  hasEnded: boolean
}

interface WorkflowRunOptions extends WorkflowEngineOptions {
  /** The runs of all sessions, by name. */
  readonly runs: Map<string, WorkflowRun>
}

interface WorkflowOpening extends SessionOpening {
  /** For the session of a delegated call. */
  readonly child?: ChildPlace
}

/** The view of a process that talks to the service. */
class Gateway extends ReplicatedSession {
  links: ChildLinks | undefined

  child(callId: string): LinkedChild | undefined {
    return this.links?.find(callId)
  }
}

/** The service's part of one session: the workflow, its recorded history, its activities, and its followers. */
class WorkflowRun implements WorkflowService {
  readonly begun: Promise<void>
  readonly gateway: Gateway
  /** The recorded history as text, as a service would keep it. */
  readonly #log: string[] = []
  readonly #init: WorkflowRunOptions
  /** The workflow's own time. */
  readonly #clock: Clock
  readonly #session: string
  readonly #world: OpenWorld
  readonly #activities = new Map<string, Activity>()
  readonly #aborted: AbortedCalls
  readonly #links: ChildLinks
  readonly #opening: WorkflowOpening
  #workflow: SessionWorkflow
  #stopTimer = (): void => {}
  #closed = false

  constructor(init: WorkflowRunOptions, session: string, opening: WorkflowOpening) {
    this.#init = init
    this.#opening = opening
    this.#clock = startSessionClock(init.environment.clock)
    this.#session = session
    const { timers } = init.environment
    this.#aborted = new AbortedCalls({ timers, log: { info: () => {}, warn: () => {} } })
    this.#world = new OpenWorld({
      catalog: init.catalog,
      onChange: () => this.#report({ type: 'agent-changed' }),
      isClosed: () => this.#closed,
    })
    this.gateway = new Gateway({
      session,
      world: this.#world,
      update: (inputs) => this.#workflow.update(copy(inputs)),
      readPast: (fromPos) => this.#readPast(fromPos),
    })
    this.#links = new ChildLinks({
      session: this.gateway,
      open: (child) => this.#openChild(child),
      timers,
      log: { info: () => {}, warn: () => {} },
    })
    this.gateway.links = this.#links
    this.#workflow = new SessionWorkflow(session, this)
    this.begun = this.#begin(opening)
  }

  get isClosed(): boolean {
    return this.#closed
  }

  get records(): readonly SessionRecord[] {
    return this.#log.map((text) => JSON.parse(text) as SessionRecord) // as it was recorded
  }

  adopt(agent: NonNullable<SessionOpening['agent']>): Promise<void> {
    return this.#world.adopt(agent, () => this.gateway.state())
  }

  /** Starts a child workflow, or finds it. It continues when its followers leave. */
  async #openChild({ name, place, agent, mustExist }: ChildOpening): Promise<LinkedChild> {
    const { runs } = this.#init
    const known = runs.get(name)
    if (!known && mustExist)
      throw new BatonError({ code: 'unknown_session', message: `session ${name} has no workflow` })
    const { principal } = this.#opening
    const run = known ?? new WorkflowRun(this.#init, name, { principal, agent, child: place })
    runs.set(name, run)
    try {
      await run.begun
    } catch (cause) {
      if (run.records.length === 0) runs.delete(name)
      throw cause
    }
    return new Followed(run)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#links.close()
    this.gateway.end(new BatonError({ code: 'session_closed', message: `session ${this.#session} was closed` }))
    this.#stopTimer()
    for (const { cancellation } of this.#activities.values()) cancellation.abort()
    await this.#world.dispose()
  }

  async #begin({ principal, agent, meta = {}, child }: WorkflowOpening): Promise<void> {
    await this.#world.open({ id: this.#session, agent: '', principal, meta }, agent)
    const birth = this.#init.environment.newId().replaceAll('-', '').slice(0, 8)
    const spec = this.#world.current.spec
    const opening = { session: this.#session, birth, principal: principal.id, spec, nowMs: this.nowMs(), epoch: 1 }
    this.publish([openSession({ ...opening, ...(child && { child }) })])
    this.#workflow.replay(this.records, [])
    await this.gateway.reached(0)
  }

  nowMs(): number {
    return this.#clock.nowMs()
  }

  wallMs(): number {
    return this.#init.environment.clock.nowMs()
  }

  /** A local activity, on any worker: plain data in, plain data out. */
  async decide(state: State, inputs: readonly Input[]): Promise<Decided> {
    await Promise.resolve()
    const start = {
      spec: this.#world.current.spec,
      state: copy(state),
      nowMs: this.nowMs(),
      wallMs: this.#init.environment.clock.nowMs(),
    }
    const { records, answers } = decideBatch(start, inputs)
    return copy({ records, answers })
  }

  /** Records immediately; followers receive it later, and the worker may die before its next task. */
  publish(records: readonly SessionRecord[]): void {
    this.#log.push(...records.map((record) => JSON.stringify(record)))
    const told = copy(records)
    this.#init.onRecords?.(told, this.#session)
    queueMicrotask(() => {
      this.gateway.publishRecords(told)
      this.#report(this.gateway.takeStoppedModel())
      if (this.#init.killsWorker?.()) this.#replaceWorker()
    })
  }

  /** The worker died between two tasks: the next one has only the history, and must reach the same state. */
  #replaceWorker(): void {
    const died = this.#workflow
    this.#workflow = new SessionWorkflow(this.#session, this)
    const running = [...this.#activities.values()].map(({ effect }) => effect)
    this.#workflow.replay(this.records, running)
    if (JSON.stringify(this.#workflow.state()) !== JSON.stringify(died.state()))
      throw new Error('the replayed workflow has another state')
    died.handOver(this.#workflow)
  }

  startActivity(key: string, effect: AwaitedEffect, state: State): void {
    const { promise: settled, resolve: settle } = Promise.withResolvers<void>()
    const activity = { effect, cancellation: new AbortController(), settled, hasEnded: false }
    this.#activities.set(key, activity)
    if (effect.type === 'run-child') this.#follow(key, effect.callId, activity)
    if (!isWorkEffect(effect)) return // questions to people and clients are in the records
    this.#perform(effect, copy(state), activity)
      .finally(settle)
      .then(
        (report) => {
          activity.hasEnded = true
          // The machine reports a tool that was too late; a stopped model has nothing to report.
          if (this.#activities.get(key) === activity || effect.type === 'run-tool') this.#report(report)
        },
        () => {}, // the session was closed meanwhile
      )
  }

  /** A link reads what the gateway has, which gets the record of the call later. */
  #follow(key: string, callId: string, activity: Activity): void {
    queueMicrotask(() => {
      if (this.#activities.get(key) === activity) this.#links.start(callId)
    })
  }

  async #perform(effect: WorkEffect, state: State, activity: Activity): Promise<HostReport | undefined> {
    const before = effect.type === 'run-tool' ? undefined : this.#aborted.settled(this.#session)
    if (before) await before
    if (activity.cancellation.signal.aborted && before) return undefined
    const lost = this.#init.loses?.(effect)
    const report = lost === 'early' ? undefined : await this.#work(effect, state, activity)
    if (!lost) return report && copy(report)
    await new Promise<void>((resolve) => void this.#init.environment.timers.start(HEARTBEAT_MS, resolve))
    return createLossReport(effect)
  }

  #work(effect: WorkEffect, state: State, activity: Activity): Promise<HostReport | undefined> {
    const world = this.#world.current
    // An activity has no memory of its session: it folds the recorded history.
    const history = createHistory({ keepAll: true })
    for (const record of this.records) history.fold(record)
    return performEffect(effect, {
      work: {
        model: (job, io) => performModel(world, copy(job), io),
        tool: (job, io) => performTool(world, copy(job), io),
      },
      state,
      history,
      cancellation: activity.cancellation,
      questions: this.gateway.questions,
      isClosed: () => this.#closed,
      outlive: (settled) => this.#aborted.note(this.#session, settled),
      live: (frame) => {
        if (!activity.hasEnded && !activity.cancellation.signal.aborted) this.gateway.publishLive(copy(frame))
      },
      report: (report) => this.#report(report),
    })
  }

  /** Cancels work that is no longer outstanding. */
  cancelActivity(key: string): void {
    const activity = this.#activities.get(key)
    this.#activities.delete(key)
    if (activity?.effect.type === 'run-child') this.#links.leave(activity.effect.callId)
    if (!activity || activity.hasEnded) return
    activity.cancellation.abort()
    if (activity.effect.type === 'call-model' || activity.effect.type === 'summarise')
      this.#aborted.note(this.#session, activity.settled)
  }

  #report(report: HostReport | undefined): void {
    if (report && !this.#closed) this.#workflow.update([report]).catch(() => {})
  }

  setTimer(atMs: number | undefined): void {
    const { timers } = this.#init.environment
    this.#stopTimer()
    this.#stopTimer = () => {}
    if (atMs !== undefined && !this.#closed)
      this.#stopTimer = timers.start(Math.max(0, atMs - this.nowMs()), () => this.#workflow.wake())
  }

  async *#readPast(fromPos: number): AsyncGenerator<SessionRecord> {
    for (const record of this.records.slice(fromPos)) yield record
  }
}

/** A child as its caller follows it. */
class Followed implements LinkedChild {
  readonly #run: WorkflowRun
  readonly session: string
  readonly stream: LinkedChild['stream']

  constructor(run: WorkflowRun) {
    this.#run = run
    this.session = run.gateway.session
    this.stream = run.gateway.stream
  }

  get world(): LinkedChild['world'] {
    return this.#run.gateway.world
  }

  state(): State {
    return this.#run.gateway.state()
  }

  history(): ReturnType<LinkedChild['history']> {
    return this.#run.gateway.history()
  }

  submit(inputs: readonly Input[]): ReturnType<LinkedChild['submit']> {
    return this.#run.gateway.submit(inputs)
  }

  child(callId: string): LinkedChild | undefined {
    return this.#run.gateway.child(callId)
  }

  adopt(agent: Agent): Promise<void> {
    return this.#run.adopt(agent)
  }

  isClosed(): boolean {
    return this.#run.isClosed
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** Copies across a boundary: plain data, nothing shared. */
function copy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value // the same data
}
