// The queue for all writes to the file: acts that arrive during a commit share the next one. One batch is committed at
// a time, on the caller's thread or the worker's, so the two connections never write at once.
import { BatonError } from '@baton/core'
import type { Act, ActOutcome, ActValue } from './acts.ts'
import { measureAct } from './acts.ts'
import type { Batch, CommitPace } from './commit-pace.ts'
import type { Committed } from './protocol.ts'

export interface WriteQueueOptions {
  /** Commits on the caller's thread; `undefined` while another program briefly holds the file. */
  readonly commitHere: (acts: readonly Act[]) => readonly ActOutcome[] | undefined
  /** Rejects only when the thread has ended. */
  readonly commitElsewhere: (acts: readonly Act[]) => Promise<Committed>
  readonly pace: CommitPace
  /** Monotonic clock in milliseconds. */
  readonly nowMs: () => number
  /** Called after each commit. */
  readonly onCommit: (chars: number) => void
}

interface Waiting {
  readonly act: Act
  readonly promise: Promise<ActValue>
  readonly resolve: (value: ActValue) => void
  readonly reject: (cause: unknown) => void
}

/** Maximum acts and UTF-16 units per commit. */
const BATCH_ACTS = 256
const BATCH_CHARS = 4_194_304

export class WriteQueue {
  readonly #init: WriteQueueOptions
  #waiting: Waiting[] = []
  /** Work that must not run during a commit. */
  readonly #alone: (() => Promise<void>)[] = []
  #running: Promise<void> | undefined
  #committing: Promise<void> | undefined

  constructor(init: WriteQueueOptions) {
    this.#init = init
  }

  /** Durable when it resolves. @throws BatonError from the file or its thread */
  ask(act: Act): Promise<ActValue> {
    const { promise, resolve, reject } = Promise.withResolvers<ActValue>()
    this.#waiting.push({ act, promise, resolve, reject })
    this.#start()
    return promise
  }

  /** Runs `work` between commits; writes wait meanwhile. `work` never rejects. */
  alone(work: () => Promise<void>): void {
    this.#alone.push(work)
    this.#start()
  }

  /** Settles when every earlier act is committed or refused; `undefined` when idle. */
  settled(): Promise<unknown> | undefined {
    const last = this.#waiting.at(-1)?.promise ?? this.#committing
    return last && Promise.allSettled([last])
  }

  /** Settles when the queue is idle; `undefined` if it already is. */
  ended(): Promise<void> | undefined {
    return this.#running
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      if (this.#waiting.length + this.#alone.length > 0) this.#start()
    })
  }

  async #run(): Promise<void> {
    await Promise.resolve() // writes of the same tick share a commit
    while (this.#waiting.length + this.#alone.length > 0) {
      for (const work of this.#alone.splice(0)) await work()
      const taken = this.#take()
      if (taken.length === 0) continue
      this.#committing = this.#commit(taken)
      await this.#committing
      this.#committing = undefined
    }
  }

  async #commit(taken: readonly Waiting[]): Promise<void> {
    const { commitHere, commitElsewhere, pace, nowMs, onCommit } = this.#init
    const acts = taken.map(({ act }) => act)
    const batch: Batch = {
      sessions: acts.map(({ session }) => session),
      chars: acts.reduce((sum, act) => sum + measureAct(act), 0),
    }
    const startMs = nowMs()
    try {
      let outcomes = pace.isQuick(batch, startMs) ? commitHere(acts) : undefined
      if (outcomes) pace.noteHere(nowMs() - startMs, nowMs())
      else {
        const committed = await commitElsewhere(acts)
        outcomes = committed.outcomes
        pace.noteElsewhere(batch, committed.tookMs, nowMs() - startMs)
      }
      for (const [index, one] of taken.entries()) settle(one, outcomes[index])
      onCommit(batch.chars)
    } catch (cause) {
      for (const one of taken) one.reject(cause)
    }
  }

  #take(): readonly Waiting[] {
    let chars = 0
    let count = 0
    for (const { act } of this.#waiting) {
      chars += measureAct(act)
      if (count > 0 && (count === BATCH_ACTS || chars > BATCH_CHARS)) break
      count += 1
    }
    return this.#waiting.splice(0, count)
  }
}

function settle({ resolve, reject }: Waiting, outcome: ActOutcome | undefined): void {
  if (outcome?.type === 'done') resolve(outcome.value)
  else if (outcome) reject(new BatonError(outcome.failure))
}
