// A session as a durable workflow: deterministic, it awaits messages and only folds. Decisions, model calls and tool
// runs are activities elsewhere; their results arrive as messages and their records are its history. It knows no store,
// system timers or host.
import type { Accepted, Refused } from '@baton/core/internal'
import type { AwaitedEffect, Input, SessionRecord, State } from '@baton/core/machine'
import { applyRecord, effectKey, findDue, followRecord, initialState, outstanding } from '@baton/core/machine'
import { listDue } from '@baton/runtime'

/** Requests of a workflow to the service that runs it. */
export interface WorkflowService {
  /** The workflow's own time, which is the same when the history is replayed. */
  nowMs(): number
  /** The wall clock, for reminders. */
  wallMs(): number
  /** A local activity: policy runs outside, its facts are recorded. */
  decide(state: State, inputs: readonly Input[]): Promise<Decided>
  /** Starts work whose report arrives as a message. */
  startActivity(key: string, effect: AwaitedEffect, state: State): void
  cancelActivity(key: string): void
  /** One timer, for the earliest deadline. */
  setTimer(atMs: number | undefined): void
  publish(records: readonly SessionRecord[]): void
}

export interface Decided {
  readonly records: readonly SessionRecord[]
  readonly answers: readonly (Accepted | Refused)[]
}

interface Update {
  readonly inputs: readonly Input[]
  readonly resolve: (answers: readonly (Accepted | Refused)[]) => void
  readonly reject: (cause: unknown) => void
}

/** Maximum milliseconds between two looks at the wall clock. */
const LOOK_MS = 30_000

export class SessionWorkflow {
  readonly #service: WorkflowService
  /** Running work by key. Equals the outstanding effects, except for timers, of which there is one. */
  #running = new Map<string, AwaitedEffect>()
  #state: State
  #inbox: Update[] = []
  #busy = false
  #isDead = false

  constructor(session: string, service: WorkflowService) {
    this.#service = service
    this.#state = initialState(session)
  }

  state(): State {
    return this.#state
  }

  /** Continues from its history after its worker died: nothing is decided again, and work elsewhere keeps running. */
  replay(records: readonly SessionRecord[], running: readonly AwaitedEffect[]): void {
    for (const record of records) this.#fold(record)
    this.#running = new Map(running.map((effect) => [effectKey(effect), effect]))
    this.#perform()
  }

  /** An update: everything that arrives before the next workflow task is decided together. */
  update(inputs: readonly Input[]): Promise<readonly (Accepted | Refused)[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly (Accepted | Refused)[]>()
    this.#inbox.push({ inputs, resolve, reject })
    if (!this.#busy) {
      this.#busy = true
      void this.#run()
    }
    return promise
  }

  /** The worker is dead: its successor gets the messages that it had not fully handled. */
  handOver(to: SessionWorkflow): void {
    const updates = this.#inbox
    this.#isDead = true
    this.#inbox = []
    for (const { inputs, resolve, reject } of updates) to.update(inputs).then(resolve, reject)
  }

  /** Fires every deadline that has passed. */
  wake(): void {
    const due = this.#deadlines().filter(({ atMs }) => atMs <= this.#service.nowMs())
    const timers = due.map(({ timer, generation }) => ({ type: 'timer-fired', timer, generation }) as const)
    const dueMs = findDue(this.#state)
    const isDue = dueMs !== null && dueMs <= this.#service.wallMs()
    if (isDue) this.#remind().catch(() => {})
    if (timers.length > 0) this.update(timers).catch(() => {})
    else if (!isDue) this.#setTimer()
  }

  async #remind(): Promise<void> {
    const due = await listDue(this.#state, this.#service.wallMs())
    if (!this.#isDead) await this.update(due)
  }

  async #run(): Promise<void> {
    await Promise.resolve()
    while (this.#inbox.length > 0) {
      const updates = [...this.#inbox]
      try {
        const inputs = updates.flatMap((update) => update.inputs)
        const { records, answers } = await this.#service.decide(this.#state, inputs)
        if (this.#isDead) return
        this.#inbox = this.#inbox.slice(updates.length)
        for (const record of records) this.#fold(record)
        this.#service.publish(records)
        this.#perform()
        let next = 0
        for (const { inputs: own, resolve } of updates) resolve(answers.slice(next, (next += own.length)))
      } catch (cause) {
        if (this.#isDead) return
        this.#inbox = this.#inbox.filter((update) => !updates.includes(update))
        for (const { reject } of updates) reject(cause)
      }
    }
    this.#busy = false
  }

  #fold(record: SessionRecord): void {
    followRecord(this.#state, record)
    this.#state = applyRecord(this.#state, record)
  }

  /** Starts outstanding work that is not running, and cancels running work that is not outstanding. */
  #perform(): void {
    const owed = new Map(
      outstanding(this.#state)
        .filter((effect) => effect.type !== 'set-timer')
        .map((effect) => [effectKey(effect), effect]),
    )
    for (const key of this.#running.keys()) if (!owed.has(key)) this.#service.cancelActivity(key)
    for (const [key, effect] of owed) if (!this.#running.has(key)) this.#service.startActivity(key, effect, this.#state)
    this.#running = owed
    this.#setTimer()
  }

  #setTimer(): void {
    const times = this.#deadlines().map(({ atMs }) => atMs)
    const dueMs = findDue(this.#state)
    const { nowMs, wallMs } = { nowMs: this.#service.nowMs(), wallMs: this.#service.wallMs() }
    // The wall clock may be set meanwhile.
    if (dueMs !== null) times.push(nowMs + Math.min(Math.max(0, dueMs - wallMs), LOOK_MS))
    this.#service.setTimer(times.length === 0 ? undefined : Math.min(...times))
  }

  #deadlines(): readonly Extract<AwaitedEffect, { readonly type: 'set-timer' }>[] {
    return outstanding(this.#state).filter((effect) => effect.type === 'set-timer')
  }
}
