// A session as one process sees it, be it a gateway or a worker: folded from the log, told of news by the bus, and read again
// where the bus was silent.
import type { Accepted, BlobStore, LiveFrame, Logger, LogStore, Refused } from '@baton/core'
import { BatonError } from '@baton/core'
import type { Input, SessionRecord } from '@baton/core/machine'
import { createHistory } from '@baton/core/machine'
import type { OpenWorld } from '@baton/runtime'
import { ReplicatedSession } from '@baton/runtime'
import type { Answers } from './contract.ts'
import type { BusMessage, LiveBus } from './live/live-bus.ts'

export interface SessionViewInit {
  readonly session: string
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
  readonly world: Pick<OpenWorld, 'current'>
  /** Hands inputs to the workflow. */
  readonly update: (inputs: readonly Input[]) => Promise<Answers>
  /** Whether a workflow of the session runs; absent: nobody asks, and what was decided is waited for. */
  readonly isRunning?: () => Promise<boolean>
  /** The session was removed, and nothing comes of it any more. */
  readonly onRemoved: () => void
}

/** The log into which workers put the records of sessions, and from which everybody reads. */
export type SessionLog = Pick<LogStore, 'put' | 'read' | 'restore' | 'list' | 'remove' | 'health'> & {
  readonly blobs: BlobStore
}

/** Milliseconds between two looks into the log: while somebody waits for a record, while a turn runs, and else. */
const POLL_MS = { waiting: 100, running: 1000, resting: 15_000 } as const
/** Milliseconds for which a record is waited for that the workflow has decided. */
const REACH_MS = 60_000
/** Milliseconds of that after which it is asked whether its workflow still runs. */
const LOOK_MS = 2000
/** Pieces that are held while a view opens. */
const EARLY_MAX = 10_000
/** Times that an input is handed in whose run was ended before it had written it. */
const UPDATE_TRIES = 3

export class SessionView {
  readonly replica: ReplicatedSession
  readonly #init: SessionViewInit
  readonly #listeners = new Set<() => void>()
  #unsubscribe = (): void => {}
  #reading: Promise<void> | undefined
  #readAgain = false
  /** From which record on each run has written. */
  readonly #epochs: { readonly fromPos: number; readonly epoch: number }[] = []
  #wantedPos = -1
  /** Pieces that come while the view opens: those that are kept of the attempt come before them. */
  #early: LiveFrame[] | undefined = []
  /** A piece came since the last look into the log. */
  #hasHeard = false
  #timer: NodeJS.Timeout | undefined
  #isClosed = false
  /** Rejects what waits for a record when the view is closed. */
  readonly #closing = Promise.withResolvers<never>()

  constructor(init: SessionViewInit) {
    this.#init = init
    const { session, store, world, update } = init
    this.#closing.promise.catch(() => {}) // mostly nobody waits
    this.replica = new ReplicatedSession({
      session,
      world,
      update: async (inputs) => {
        for (let tries = 0; tries < UPDATE_TRIES; tries++) {
          const answers = await update(inputs)
          // Closed meanwhile, it has nobody who would run what the client was attached for.
          const left = this.#isClosed ? listDetachments(inputs) : []
          if (left.length > 0) await update(left)
          if (await this.#isKept(answers)) return answers.map(hideEpoch)
        }
        const message = `session ${session} took an input ${UPDATE_TRIES} times, and was ended each time before it could keep it`
        throw new BatonError({ code: 'store_failed', message, retryable: true })
      },
      readPast: (fromPos) => store.read(session, fromPos),
    })
  }

  /** @throws BatonError `store_failed`, `log_damaged` */
  async open(): Promise<void> {
    const { bus, session } = this.#init
    this.#unsubscribe = await bus.subscribe(
      session,
      (message) => this.#hear(message),
      () => void this.#catchUp().then(() => this.#readKept()),
    )
    await this.#read()
    this.#poll()
    await this.#readKept()
    const early = this.#early ?? []
    this.#early = undefined
    for (const frame of early) this.replica.publishLive(frame)
  }

  /** Takes the running attempt's live text from the bus; older text changes nothing. */
  async #readKept(): Promise<void> {
    const { bus, session } = this.#init
    const frames = await bus.readAttempt(session)
    if (!this.#isClosed) for (const frame of frames) this.replica.publishLive(frame)
  }

  /** The bus may have lost the newest pieces of an attempt that is silent now. */
  async #readSilent(): Promise<void> {
    const isSilent = !this.#hasHeard
    this.#hasHeard = false
    if (isSilent && this.replica.state().attempt !== null) await this.#readKept()
  }

  /** Called after every record. */
  onRecords(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Resolves when the record of this position is folded. @throws BatonError `store_failed` when it does not come, `session_closed` */
  async reach(pos: number, timeoutMs = REACH_MS): Promise<void> {
    if (this.replica.state().pos >= pos) return
    this.#wantedPos = Math.max(this.#wantedPos, pos)
    this.#poll()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const message = `record ${pos} of session ${this.#init.session} did not reach the log in ${timeoutMs} ms; a worker must run for the same task queue ("baton worker") and reach the store`
      timer = setTimeout(() => reject(new BatonError({ code: 'store_failed', message })), timeoutMs)
    })
    try {
      await Promise.race([this.replica.reached(pos), late, this.#closing.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * Resolves when the log has what was decided. False: the run that decided it was ended before it could write it, so nothing
   * of it holds, and the inputs can be handed in again.
   */
  async #isKept(answers: Answers): Promise<boolean> {
    const accepted = answers.filter((answer) => answer.type === 'accepted')
    const pos = Math.max(-1, ...accepted.map((answer) => answer.pos))
    const { isRunning } = this.#init
    const untilMs = performance.now() + REACH_MS
    // Nobody else writes while the run lives. A closed view gets no more records, and `#reachesIn` returns at once.
    while (isRunning && untilMs > performance.now()) {
      if ((await this.#reachesIn(pos, LOOK_MS)) || this.#isClosed) break
      if ((await isRunning()) || (await this.#reachesIn(pos, LOOK_MS))) continue
      this.#wantedPos = -1
      return false
    }
    await this.reach(pos, Math.max(1, untilMs - performance.now()))
    return accepted.every((answer) => answer.epoch === undefined || this.#epochAt(answer.pos) === answer.epoch)
  }

  async #reachesIn(pos: number, ms: number): Promise<boolean> {
    return await this.reach(pos, ms).then(
      () => true,
      () => false,
    )
  }

  #epochAt(pos: number): number | undefined {
    return this.#epochs.findLast(({ fromPos }) => fromPos <= pos)?.epoch
  }

  /** Records that this process has put into the log itself. */
  take(records: readonly SessionRecord[]): void {
    this.#publish(records)
  }

  /** The messages of a request may reach behind the window after a rewind: then all of the log is folded again. */
  async completeHistory(): Promise<void> {
    const history = this.replica.history()
    const { session, store } = this.#init
    while (!history.has(this.replica.state().index)) {
      const whole = createHistory({ keepAll: true })
      let pos = -1
      for await (const record of store.read(session, 0)) {
        whole.fold(record)
        pos = record.pos
      }
      if (pos === this.replica.state().pos) history.takeOver(whole)
      else await this.#catchUp()
    }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#unsubscribe()
    const message = `session ${this.#init.session} was closed`
    const error = new BatonError({ code: 'session_closed', message })
    this.#closing.reject(error)
    this.replica.end(error)
  }

  #hear(message: BusMessage): void {
    if (this.#isClosed) return
    if (message.type === 'live') this.#hearLive(message.frames)
    else if (message.type === 'records') this.#publish(message.records)
    else if (message.type === 'removed') this.#hearRemoval(message.birth)
    else if (message.type === 'pos' && message.pos > this.replica.state().pos) void this.#catchUp()
  }

  #hearLive(frames: readonly LiveFrame[]): void {
    this.#hasHeard = true
    if (!this.#early) for (const frame of frames) this.replica.publishLive(frame)
    // More is dropped: it is kept by the bus.
    else if (this.#early.length + frames.length <= EARLY_MAX) this.#early.push(...frames)
  }

  /** Handles a removal. One of an earlier session of this name is ignored. */
  #hearRemoval(birth: string | undefined): void {
    if (birth === undefined || birth === this.replica.state().birth) this.#init.onRemoved()
  }

  #publish(records: readonly SessionRecord[]): void {
    const { pos } = this.replica.state()
    const news = records.filter((record) => record.pos > pos)
    const [first] = news
    if (!first) return
    if (first.pos !== pos + 1) {
      void this.#catchUp()
      return
    }
    try {
      this.replica.publishRecords(news)
    } catch (cause) {
      this.#init.log.warn('a record that was announced cannot be folded', {
        session: this.#init.session,
        cause: String(cause),
      })
      return
    }
    for (const { pos: fromPos, epoch } of news)
      if (this.#epochs.at(-1)?.epoch !== epoch) this.#epochs.push({ fromPos, epoch })
    for (const listener of this.#listeners) listener()
  }

  /** One reading at a time; who asks meanwhile gets the next one. Never rejects. */
  #catchUp(): Promise<void> {
    this.#readAgain = true
    this.#reading ??= this.#readOn().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #readOn(): Promise<void> {
    while (this.#readAgain && !this.#isClosed) {
      this.#readAgain = false
      try {
        await this.#read()
      } catch (cause) {
        this.#init.log.warn('the log of a session cannot be read; it is tried again', {
          session: this.#init.session,
          cause: cause instanceof Error ? cause.message : String(cause),
        })
      }
    }
  }

  async #read(): Promise<void> {
    const { session, store } = this.#init
    const records: SessionRecord[] = []
    for await (const record of store.read(session, this.replica.state().pos + 1)) records.push(record)
    if (!this.#isClosed) this.#publish(records)
  }

  #poll(): void {
    clearTimeout(this.#timer)
    if (this.#isClosed) return
    const { pos, turn } = this.replica.state()
    const delayMs = this.#wantedPos > pos ? POLL_MS.waiting : turn ? POLL_MS.running : POLL_MS.resting
    const look = async (): Promise<void> => {
      await this.#catchUp()
      await this.#readSilent()
      this.#poll()
    }
    this.#timer = setTimeout(() => void look(), delayMs)
    this.#timer.unref()
  }
}

/** Whoever handed an input in needs no epoch. */
function hideEpoch(answer: Answers[number]): Accepted | Refused {
  return answer.type === 'accepted' ? { type: 'accepted', pos: answer.pos } : answer
}

function listDetachments(inputs: readonly Input[]): readonly Input[] {
  return inputs.flatMap((input) =>
    input.type === 'client-attached' ? [{ type: 'client-detached', connection: input.connection } as const] : [],
  )
}
