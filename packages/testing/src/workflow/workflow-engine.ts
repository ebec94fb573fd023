// A host whose sessions are workflows: an engine as one over a workflow service would be, in memory. Everything that
// crosses a border goes through JSON, messages are late, and workers and activities may die. It shares the runtime with
// the local host, and nothing else.
import type { BlobStore, Environment, LiveFrame } from '@baton/core'
import { BatonError } from '@baton/core'
import type { AwaitedEffect, HostReport, Input, SessionRecord, State } from '@baton/core/machine'
import { createHistory, decideBatch, openSession } from '@baton/core/machine'
import type { Catalog, Engine, SessionWorld, ToolIo } from '@baton/runtime'
import {
  Cancellation,
  createModelJob,
  createToolJob,
  performModel,
  performTool,
  ReplicatedSession,
  ToolQuestions,
} from '@baton/runtime'
import type { Decided } from './workflow.ts'
import { SessionWorkflow } from './workflow.ts'

export interface WorkflowEngineInit {
  readonly environment: Environment
  readonly catalog: Catalog
  readonly blobs: BlobStore
  /** Whether the worker of this activity dies before it reports; never by default. */
  readonly loses?: (effect: AwaitedEffect) => boolean
  /** Called at every workflow task; true: its worker dies, and another one replays the history. Never by default. */
  readonly killsWorker?: () => boolean
}

export interface WorkflowEngine extends Engine {
  records(session: string): readonly SessionRecord[]
}

/** Milliseconds without a heartbeat after which an activity counts as lost. */
const HEARTBEAT_MS = 2000

export function createWorkflowEngine(init: WorkflowEngineInit): WorkflowEngine {
  const runs = new Map<string, Promise<WorkflowRun>>()
  const opened = new Map<string, WorkflowRun>()
  const open: Engine['open'] = async (session, { principal, agent }) => {
    const start = async (): Promise<WorkflowRun> => {
      const identity = { id: session, agent: agent?.name ?? '', principal: principal.id, meta: {} }
      const run = new WorkflowRun(init, session, await init.catalog.open(identity, agent))
      await run.begin(principal.id)
      opened.set(session, run)
      return run
    }
    const run = runs.get(session) ?? start()
    runs.set(session, run)
    run.catch(() => runs.delete(session))
    return { engine: (await run).gateway, leave: () => {} }
  }
  const stop: Engine['stop'] = async ({ drainMs }) => {
    const { clock, timers } = init.environment
    const untilMs = clock.nowMs() + drainMs
    while ([...opened.values()].some((run) => run.isBusy()) && clock.nowMs() < untilMs)
      await new Promise<void>((resolve) => void timers.start(20, resolve))
    for (const run of opened.values()) run.close()
    runs.clear()
  }
  return { open, stop, records: (session) => opened.get(session)?.records ?? [] }
}

/** What the service has of one session: the workflow, its recorded history, its activities, and those that follow it. */
class WorkflowRun {
  /** The recorded history, as text: what a service keeps. */
  readonly #log: string[] = []
  readonly #init: WorkflowEngineInit
  readonly #session: string
  readonly #world: SessionWorld
  /** As a gateway has it. */
  readonly gateway: ReplicatedSession
  readonly #activities = new Map<string, { readonly effect: AwaitedEffect; readonly cancellation: Cancellation }>()
  readonly #questions: ToolQuestions
  #workflow: SessionWorkflow
  #stopTimer = (): void => {}
  #closed = false

  constructor(init: WorkflowEngineInit, session: string, world: SessionWorld) {
    this.#init = init
    this.#session = session
    this.#world = world
    this.gateway = new ReplicatedSession({
      session,
      world,
      update: (inputs) => this.#workflow.update(copy(inputs)),
      readPast: (fromPos) => this.#readPast(fromPos),
    })
    this.#workflow = this.#createWorkflow()
    this.#questions = new ToolQuestions({
      history: () => this.gateway.history(),
      submit: (reports) => this.gateway.submit(reports),
    })
  }

  get records(): readonly SessionRecord[] {
    return this.#log.map((text) => JSON.parse(text) as SessionRecord) // as it was recorded
  }

  async begin(principal: string): Promise<void> {
    const { environment } = this.#init
    const birth = environment.newId().replaceAll('-', '').slice(0, 8)
    const nowMs = environment.clock.nowMs()
    const opening = { session: this.#session, birth, principal, spec: this.#world.spec, nowMs, epoch: 1 }
    this.#record([openSession(opening)])
    this.#workflow.replay(this.records, [])
    await this.gateway.reached(0)
  }

  isBusy(): boolean {
    return this.#workflow.state().turn !== null
  }

  close(): void {
    this.#closed = true
    this.gateway.end(new BatonError({ code: 'session_closed', message: `session ${this.#session} was closed` }))
    this.#stopTimer()
    for (const { cancellation } of this.#activities.values()) cancellation.abort()
  }

  #createWorkflow(): SessionWorkflow {
    const { clock } = this.#init.environment
    return new SessionWorkflow(this.#session, {
      nowMs: () => clock.nowMs(),
      decide: (state, inputs) => this.#decide(state, inputs),
      startActivity: (key, effect, state) => this.#start(key, effect, state),
      cancelActivity: (key, effect, state) => this.#cancel(key, effect, state),
      setTimer: (atMs) => this.#setTimer(atMs),
      publish: (records) => this.#record(records),
    })
  }

  /** A local activity, on any worker: it gets plain data and gives plain data. */
  async #decide(state: State, inputs: readonly Input[]): Promise<Decided> {
    await Promise.resolve()
    const start = { spec: this.#world.spec, state: copy(state), nowMs: this.#init.environment.clock.nowMs() }
    const { records, answers } = decideBatch(start, inputs)
    return copy({ records, answers })
  }

  /** Recorded at once; those that follow hear of it later. */
  #record(records: readonly SessionRecord[]): void {
    this.#log.push(...records.map((record) => JSON.stringify(record)))
    const told = copy(records)
    queueMicrotask(() => {
      this.gateway.publishRecords(told)
      this.#questions.notice()
    })
    if (this.#init.killsWorker?.()) queueMicrotask(() => this.#replaceWorker())
  }

  /** The worker died between two tasks: the next one has the history alone, and must come to the same state. */
  #replaceWorker(): void {
    const died = this.#workflow
    if (died.state().pos !== this.#log.length - 1) return
    const next = this.#createWorkflow()
    const before = JSON.stringify(died.state())
    next.replay(
      this.records,
      [...this.#activities.values()].map(({ effect }) => effect),
    )
    if (JSON.stringify(next.state()) !== before) throw new Error('the replayed workflow has another state')
    this.#workflow = next
    died.handOver(next)
  }

  #start(key: string, effect: AwaitedEffect, state: State): void {
    if (effect.type !== 'call-model' && effect.type !== 'summarise' && effect.type !== 'run-tool') return
    const cancellation = new Cancellation()
    this.#activities.set(key, { effect, cancellation })
    this.#perform(effect, copy(state), cancellation).then(
      (report) => {
        if (!this.#activities.delete(key) && effect.type !== 'run-tool') return
        if (report) this.#report(report)
      },
      () => {}, // its worker died: the service notices that by the heartbeats
    )
  }

  async #perform(
    effect: Extract<AwaitedEffect, { readonly type: 'call-model' | 'summarise' | 'run-tool' }>,
    state: State,
    cancellation: Cancellation,
  ): Promise<HostReport | undefined> {
    // An activity has no memory of its session: it folds what was published.
    const history = createHistory()
    for (const record of this.records) history.fold(record)
    const live = (frame: LiveFrame): void => this.gateway.publishLive(copy(frame))
    const lost = this.#init.loses?.(effect) ?? false
    let report: HostReport | undefined
    if (effect.type === 'run-tool') {
      const job = createToolJob(state, history, effect)
      const { callId, attempt } = effect
      const io: ToolIo = {
        cancellation,
        live,
        isClosed: () => this.#closed,
        plan: (entries) => this.#report({ type: 'plan-set', callId, attempt, entries }),
        ask: (question) => this.#questions.ask(callId, attempt, question),
      }
      report = job && (await performTool(this.#world, copy(job), io))
    } else
      report = await performModel(this.#world, copy(createModelJob(state, effect)), {
        history,
        live,
        signal: cancellation.signal,
      })
    if (!lost) return report && copy(report)
    await new Promise<void>((resolve) => void this.#init.environment.timers.start(HEARTBEAT_MS, resolve))
    const work =
      effect.type === 'run-tool'
        ? ({ type: 'tool', callId: effect.callId, attempt: effect.attempt } as const)
        : ({ type: 'model', attempt: effect.attempt } as const)
    return { type: 'work-lost', work }
  }

  /** An interrupt wants to know what had been said; the heartbeats of the activity have it. */
  #cancel(key: string, effect: AwaitedEffect, state: State): void {
    const activity = this.#activities.get(key)
    this.#activities.delete(key)
    if (effect.type === 'call-model' && activity && state.interrupting)
      this.#report({
        type: 'model-stopped',
        attempt: effect.attempt,
        text: this.gateway.textOfAttempt(effect.attempt),
      })
    activity?.cancellation.abort()
  }

  #report(report: HostReport): void {
    if (!this.#closed) this.#workflow.update([report]).catch(() => {})
  }

  #setTimer(atMs: number | undefined): void {
    const { clock, timers } = this.#init.environment
    this.#stopTimer()
    this.#stopTimer = () => {}
    if (atMs !== undefined && !this.#closed)
      this.#stopTimer = timers.start(Math.max(0, atMs - clock.nowMs()), () => this.#workflow.wake())
  }

  async *#readPast(fromPos: number): AsyncGenerator<SessionRecord> {
    for (const record of this.records.slice(fromPos)) yield record
  }
}

/** Across a border: plain data, and nothing shared. */
function copy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value // the same data
}
