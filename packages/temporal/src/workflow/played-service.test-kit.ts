// A workflow service in this process, for the workflows of sessions and the activities of a worker: it has the primitives of
// Temporal's SDK, a virtual time, and faults that a test chooses. It replays no histories; the real service does.
import { asyncLocalStorage, Context } from '@temporalio/activity'
import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  RetryState,
  TimeoutFailure,
  TimeoutType,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common'
import { AsyncLocalStorage } from 'node:async_hooks'
import { WorkflowIdReusePolicy } from '@temporalio/common'
import type { BatonActivities, SessionStart } from '../contract.ts'
import { SESSION_WORKFLOW } from '../contract.ts'

type Act = (...args: never[]) => unknown

export interface PlayedFaults {
  /** Virtual milliseconds until a signal arrives. */
  readonly delayMs: () => number
  /** Virtual milliseconds until a signal arrives again; undefined: never. */
  readonly repeatsAfterMs: () => number | undefined
  /** Whether a local activity is run again, because its worker died before the task was completed. */
  readonly playsTwice: (type: string) => boolean
  /** When the worker of this activity dies, if it does. */
  readonly loses: (type: string) => 'early' | 'late' | undefined
}

interface ActivityKind {
  readonly isLocal: boolean
  /** Whether it is tried until it succeeds. */
  readonly retries: boolean
}

export const NO_FAULTS: PlayedFaults = {
  delayMs: () => 0,
  repeatsAfterMs: () => undefined,
  playsTwice: () => false,
  loses: () => undefined,
}

/** By type. */
export type PlayedWorkflows = Readonly<Record<string, (start: never) => Promise<void>>>

interface PlayedStart {
  readonly type?: string
  readonly start: unknown
  /** Signals that came to the run before. */
  readonly left?: readonly (() => void)[]
  /** Refused if there was a workflow of this id ever. */
  readonly onlyOnce?: boolean
}

interface Timer {
  readonly atMs: number
  readonly fire: () => void
}

const running = new AsyncLocalStorage<PlayedRun>()
const scopes = new AsyncLocalStorage<PlayedScope>()

export class PlayedService {
  nowMs = 1_000_000
  onEvent: (event: number) => void = () => {}
  faults = NO_FAULTS
  readonly #workflows: PlayedWorkflows
  readonly #activities: BatonActivities
  readonly #runs = new Map<string, PlayedRun>()
  readonly #timers = new Set<Timer>()
  #events = 0
  #acting = 0
  /** Failures of runs, which a test may expect. */
  readonly failures: string[] = []
  /** Starts of runs by workflow. */
  readonly starts = new Map<string, number>()

  constructor(workflows: PlayedWorkflows, activities: BatonActivities) {
    this.#workflows = workflows
    this.#activities = activities
  }

  find(id: string): PlayedRun | undefined {
    return this.#runs.get(id)
  }

  ids(): readonly string[] {
    return [...this.#runs.keys()]
  }

  /** @throws WorkflowExecutionAlreadyStartedError */
  start(id: string, { type = SESSION_WORKFLOW, start, left = [], onlyOnce = false }: PlayedStart): PlayedRun {
    if (this.#runs.has(id) || (onlyOnce && this.starts.has(id)))
      throw new WorkflowExecutionAlreadyStartedError('it is running', id, type)
    const run = new PlayedRun(this, id)
    this.#runs.set(id, run)
    this.starts.set(id, (this.starts.get(id) ?? 0) + 1)
    this.note()
    for (const arrive of left) run.buffer(arrive)
    const act = async (): Promise<void> => {
      await Promise.resolve()
      await this.#workflows[type]?.(copy(start) as never)
    }
    void running
      .run(run, () => scopes.run(run.scope, act))
      .then(
        () => this.#end(run, 'completed'),
        (cause: unknown) => {
          if (!(cause instanceof ContinuedAsNew)) return this.#end(run, 'failed', cause)
          if (run.isDead) return
          this.#runs.delete(id)
          run.isDead = true
          this.start(id, { type, start: cause.start, left: run.takeBuffered() }).onEnd(run.tellEnd)
        },
      )
    return run
  }

  #end(run: PlayedRun, how: string, cause?: unknown): void {
    if (run.isDead) return
    run.isDead = true
    this.#runs.delete(run.id)
    if (cause instanceof Error && !(cause instanceof CancelledFailure))
      this.failures.push(`${run.id}: ${cause.message}`)
    this.note()
    run.tellEnd(how)
  }

  terminate(id: string): boolean {
    const run = this.#runs.get(id)
    if (run) this.#end(run, 'terminated')
    return run !== undefined
  }

  /** Delivers a signal, unless the sending run ends first. */
  async signal(from: PlayedRun, id: string, name: string, args: readonly unknown[]): Promise<void> {
    const arrive = (): boolean => {
      const run = this.#runs.get(id)
      run?.buffer(() => void run.handlers.get(name)?.(...(copy(args) as never[])))
      return run !== undefined
    }
    const delayMs = this.faults.delayMs()
    if (delayMs > 0) await this.wait(delayMs)
    if (from.isDead) return
    if (!arrive()) throw new ApplicationFailure('the workflow was not found')
    const againMs = this.faults.repeatsAfterMs()
    if (againMs !== undefined) void this.wait(againMs).then(arrive)
  }

  cancel(id: string): void {
    const run = this.#runs.get(id)
    run?.buffer(() => run.scope.cancel())
  }

  /** An Update. @throws Error if the workflow is not running, or has ended before it answered */
  async update<Answer>(id: string, name: string, args: readonly unknown[]): Promise<Answer> {
    const run = this.#runs.get(id)
    if (!run) throw new Error(`workflow ${id} is not running`)
    const answered = Promise.withResolvers<Answer>()
    run.onEnd(() => answered.reject(new Error(`workflow ${id} has ended`)))
    run.buffer(() => {
      run.updates += 1
      const answering = run.handlers.get(name)?.(...(copy(args) as never[])) as Promise<Answer>
      answering
        .then((answer) => answered.resolve(copy(answer)), answered.reject)
        .finally(() => {
          run.updates -= 1
          this.note()
        })
    })
    return await answered.promise
  }

  async runActivity(type: string, job: unknown, { isLocal, retries }: ActivityKind): Promise<unknown> {
    const scope = scopes.getStore()
    const signal = scope?.signal ?? new AbortController().signal
    for (;;) {
      this.#acting += 1
      try {
        const lost = this.faults.loses(type)
        const run = (): Promise<unknown> => {
          const act = this.#activities[type as keyof BatonActivities] as (of: unknown) => Promise<unknown>
          return inContext(signal, () => act(copy(job)))
        }
        if (lost !== 'early') {
          const value = await run()
          if (isLocal && this.faults.playsTwice(type)) await run()
          if (!lost) return copy(value)
        }
        throw new TimeoutFailure('it was lost', undefined, TimeoutType.HEARTBEAT)
      } catch (cause) {
        const isFinal = cause instanceof ApplicationFailure && cause.nonRetryable === true
        if (!retries || isFinal)
          throw new ActivityFailure('it failed', type, '1', RetryState.MAXIMUM_ATTEMPTS_REACHED, '', cause as Error)
      } finally {
        this.#acting -= 1
        this.note()
      }
      await this.wait(100)
    }
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = { atMs: this.nowMs + ms, fire: resolve }
      this.#timers.add(timer)
    })
  }

  /** Virtual time for the work of an activity: it passes although the activity has not ended. */
  async work(ms: number): Promise<void> {
    this.#acting -= 1
    await this.wait(ms)
    this.#acting += 1
  }

  /** Notes an event, and checks all conditions. */
  note(): void {
    this.#events += 1
    this.onEvent(this.#events)
    for (const run of this.#runs.values()) run.look()
  }

  /** Plays until this holds. @throws Error if nothing is left to happen, or it takes longer than `forMs` of virtual time */
  async until(isSo: () => boolean | Promise<boolean>, forMs = 3_600_000): Promise<void> {
    const untilMs = this.nowMs + forMs
    while (!(await isSo())) {
      const before = this.#events
      await this.#settle()
      if (this.#events !== before) continue
      const [next] = [...this.#timers].toSorted((one, other) => one.atMs - other.atMs)
      if (!next || next.atMs > untilMs) throw new Error(`it did not happen by ${this.nowMs}`)
      this.#timers.delete(next)
      this.nowMs = Math.max(this.nowMs, next.atMs)
      next.fire()
      await Promise.resolve()
      this.note()
    }
  }

  /** Lets everything happen that needs no time. */
  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < 3;) {
      const before = this.#events
      await new Promise((resolve) => setImmediate(resolve))
      for (const run of this.#runs.values()) run.look()
      quiet = this.#events === before && this.#acting === 0 ? quiet + 1 : 0
    }
  }
}

export class PlayedRun {
  readonly id: string
  readonly service: PlayedService
  readonly handlers = new Map<string, Act>()
  readonly scope: PlayedScope
  isDead = false
  updates = 0
  #conditions: { readonly isSo: () => boolean; readonly resolve: () => void }[] = []
  #buffered: (() => void)[] = []
  readonly #ends: ((how: string) => void)[] = []

  constructor(service: PlayedService, id: string) {
    this.service = service
    this.id = id
    this.scope = new PlayedScope()
  }

  onEnd(tell: (how: string) => void): void {
    this.#ends.push(tell)
  }

  readonly tellEnd = (how: string): void => {
    for (const tell of this.#ends) tell(how)
  }

  /** Arrives with the next look, as with a workflow task. */
  buffer(arrive: () => void): void {
    this.#buffered.push(arrive)
    this.service.note()
  }

  takeBuffered(): readonly (() => void)[] {
    return this.#buffered.splice(0)
  }

  look(): void {
    if (this.isDead) return
    if (this.handlers.size > 0) for (const arrive of this.takeBuffered()) running.run(this, arrive)
    const met = this.#conditions.filter(({ isSo }) => running.run(this, isSo))
    this.#conditions = this.#conditions.filter((one) => !met.includes(one))
    for (const { resolve } of met) resolve()
  }

  async condition(isSo: () => boolean): Promise<void> {
    if (isSo()) return
    await new Promise<void>((resolve) => void this.#conditions.push({ isSo, resolve }))
  }

  /** Never settles for a dead run. */
  async guard<Value>(work: Promise<Value>): Promise<Value> {
    try {
      const value = await work
      return this.isDead ? await new Promise(() => {}) : value
    } catch (cause) {
      if (this.isDead) return await new Promise(() => {})
      throw cause
    }
  }
}

class PlayedScope {
  readonly #cancelled = Promise.withResolvers<never>()
  readonly #cancellation = new AbortController()

  constructor() {
    this.#cancelled.promise.catch(() => {})
  }

  get cancelRequested(): Promise<never> {
    return this.#cancelled.promise
  }

  get signal(): AbortSignal {
    return this.#cancellation.signal
  }

  run<Value>(act: () => Promise<Value>): Promise<Value> {
    return scopes.run(this, act)
  }

  cancel(): void {
    this.#cancellation.abort(new CancelledFailure('cancelled'))
    this.#cancelled.reject(new CancelledFailure('cancelled'))
  }

  static current(): PlayedScope {
    return scopes.getStore() ?? getRun().scope
  }

  static nonCancellable<Value>(act: () => Promise<Value>): Promise<Value> {
    return new PlayedScope().run(act)
  }
}

class ContinuedAsNew {
  readonly start: SessionStart

  constructor(start: SessionStart) {
    this.start = start
  }
}

function getRun(): PlayedRun {
  const run = running.getStore()
  if (!run) throw new Error('no workflow is running')
  return run
}

function copy<Value>(value: Value): Value {
  return value === undefined ? value : (JSON.parse(JSON.stringify(value)) as Value) // the same data
}

function inContext<Value>(signal: AbortSignal, act: () => Promise<Value>): Promise<Value> {
  const rest = [undefined, undefined, undefined, {}] as unknown as [never, never, never, never] // none is read
  const info = { activityId: '1' } as ConstructorParameters<typeof Context>[0] // the only field that is read
  return asyncLocalStorage.run(new Context(info, new Promise<never>(() => {}), signal, () => {}, ...rest), act)
}

/** The SDK's primitives, for `vi.mock('@temporalio/workflow')`. */
export const PLAYED_SDK = {
  allHandlersFinished: () => getRun().updates === 0,
  condition: (isSo: () => boolean) => {
    const run = getRun()
    return run.guard(run.condition(isSo))
  },
  continueAsNew: (start: SessionStart) => {
    throw new ContinuedAsNew(copy(start))
  },
  CancellationScope: PlayedScope,
  getExternalWorkflowHandle: (id: string) => ({
    signal: (name: string | { readonly name: string }, ...args: readonly unknown[]) => {
      const run = getRun()
      return run.guard(run.service.signal(run, id, typeof name === 'string' ? name : name.name, args))
    },
    cancel: () => Promise.resolve(getRun().service.cancel(id)),
  }),
  log: { info: () => {}, warn: () => {} },
  patched: () => true,
  scheduleActivity: (
    type: string,
    [job]: readonly unknown[],
    { retry }: { readonly retry?: { maximumAttempts?: number } },
  ) => {
    const run = getRun()
    return run.guard(run.service.runActivity(type, job, { isLocal: false, retries: retry?.maximumAttempts !== 1 }))
  },
  scheduleLocalActivity: (type: string, [job]: readonly unknown[]) => {
    const run = getRun()
    return run.guard(run.service.runActivity(type, job, { isLocal: true, retries: false }))
  },
  setHandler: ({ name }: { readonly name: string }, handler: Act) => {
    getRun().handlers.set(name, handler)
  },
  sleep: (ms: number) => {
    const run = getRun()
    return run.guard(run.service.wait(ms))
  },
  startChild: async (
    type: string,
    {
      workflowId,
      args,
      workflowIdReusePolicy: reuse,
    }: { readonly workflowId: string; readonly args: readonly [unknown]; readonly workflowIdReusePolicy?: string },
  ) => {
    const run = getRun()
    await run.guard(Promise.resolve())
    const onlyOnce = reuse === WorkflowIdReusePolicy.REJECT_DUPLICATE
    const child = run.service.start(workflowId, { type, start: args[0], onlyOnce })
    const ended = Promise.withResolvers<void>()
    child.onEnd((how) => (how === 'completed' ? ended.resolve() : ended.reject(new Error(how))))
    return { result: () => run.guard(ended.promise) }
  },
  upsertMemo: () => {},
  upsertSearchAttributes: () => {},
  workflowInfo: () => ({ workflowId: getRun().id, continueAsNewSuggested: false }),
}
