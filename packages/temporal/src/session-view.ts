// A session as seen by one process, a gateway or a worker: folded from the log, notified by the bus, and read again
// when the bus was silent.
import type { Accepted, BlobStore, LiveFrame, Logger, LogStore, Refused } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { Input, SessionRecord } from '@baton/core/machine'
import { createHistory } from '@baton/core/machine'
import type { OpenWorld } from '@baton/runtime'
import { hasWholeHistory, ReplicatedSession } from '@baton/runtime'
import type { Answers } from './contract.ts'
import type { BusMessage, LiveBus } from './live/live-bus.ts'

export interface SessionViewOptions {
  readonly session: string
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
  readonly world: Pick<OpenWorld, 'current'>
  /** Submits inputs to the workflow. */
  readonly update: (inputs: readonly Input[]) => Promise<Answers>
  /** Whether the session's workflow is running. Without it, decided records are simply waited for. */
  readonly isRunning?: () => Promise<boolean>
  /** Called when the session was removed, and no further records will come. */
  readonly onRemoved: () => void
}

/** The log where workers put the records of sessions, and which all processes read. */
export type SessionLog = Pick<
  LogStore,
  'put' | 'read' | 'restore' | 'list' | 'children' | 'remove' | 'health' | 'entries' | 'outbox'
> & {
  readonly blobs: BlobStore
}

/** Milliseconds between reads of the log: while a record is awaited, while a turn is running, and otherwise. */
const POLL_MS = { waiting: 100, running: 1000, resting: 15_000 } as const
/** Milliseconds to wait for a record that the workflow has decided. */
const REACH_MS = 60_000
/** Milliseconds of that wait before checking whether the workflow is still running. */
const LOOK_MS = 2000
/** Maximum pieces to hold while a view opens. */
const EARLY_MAX = 10_000
/** Attempts to submit an input whose run was terminated before writing it. */
const UPDATE_TRIES = 3

export class SessionView {
  readonly replica: ReplicatedSession
  readonly #init: SessionViewOptions
  readonly #listeners = new Set<() => void>()
  #unsubscribe = (): void => {}
  #reading: Promise<void> | undefined
  #readAgain = false
  /** The first position written by each run. */
  readonly #epochs: { readonly fromPos: number; readonly epoch: number }[] = []
  #wantedPos = -1
  /** Pieces that arrive while the view opens; stored pieces of the attempt precede them. */
  #early: LiveFrame[] | undefined = []
  /** Whether a piece arrived since the last read of the log. */
  #hasHeard = false
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(init: SessionViewOptions) {
    this.#init = init
    const { session, store, world, update } = init
    this.replica = new ReplicatedSession({
      session,
      world,
      update: async (inputs) => {
        for (let tries = 0; tries < UPDATE_TRIES; tries++) {
          const answers = await update(inputs)
          // Closed meanwhile, this process cannot run what the client was attached for.
          const left = this.#isClosed ? listDetachments(inputs) : []
          if (left.length > 0) await update(left)
          if (await this.#isKept(answers)) return answers.map(hideEpoch)
        }
        const message = `session ${session} accepted an input ${UPDATE_TRIES} times, but its workflow was terminated each time before storing it`
        throw new BatonError({ code: 'store_failed', message, retryable: true })
      },
      readPast: (fromPos) => store.read(session, fromPos),
    })
  }

  /**
   * `onRead` is called once the log has been read, and may open the world: live text is published after it.
   * @throws BatonError `store_failed`, `log_damaged`, and what `onRead` throws
   */
  async open(onRead?: () => Promise<void>): Promise<void> {
    const { bus, session } = this.#init
    this.#unsubscribe = await bus.subscribe(
      session,
      (message) => this.#hear(message),
      () => void this.#catchUp().then(() => this.#readKept()),
    )
    await this.#read()
    await onRead?.()
    this.#poll()
    await this.#publishKept()
    const early = this.#early ?? []
    this.#early = undefined
    for (const frame of early) this.replica.publishLive(frame)
  }

  /** Reads the running attempt's live text from the bus; older text changes nothing. */
  async #readKept(): Promise<void> {
    if (!this.#early) await this.#publishKept()
  }

  async #publishKept(): Promise<void> {
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

  /** Calls the listener after every record. */
  onRecords(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /**
   * Resolves when the record at this position is folded. @throws BatonError `store_failed` when it does not arrive,
   * `session_closed`
   */
  async reach(pos: number, timeoutMs = REACH_MS): Promise<void> {
    if (this.replica.state().pos >= pos) return
    this.#wantedPos = Math.max(this.#wantedPos, pos)
    this.#poll()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const message = `record ${pos} of session ${this.#init.session} did not reach the log in ${timeoutMs} ms; make sure a worker is running for the same task queue ("baton worker") and can reach the store`
      timer = setTimeout(() => reject(new BatonError({ code: 'store_failed', message })), timeoutMs)
    })
    try {
      await Promise.race([this.replica.reached(pos), late])
    } finally {
      clearTimeout(timer)
    }
  }

  /**
   * Resolves with true when the log has the decided records, or false if the run that decided them was terminated
   * before writing them, so that the inputs can be submitted again.
   */
  async #isKept(answers: Answers): Promise<boolean> {
    const accepted = answers.filter((answer) => answer.type === 'accepted')
    const pos = Math.max(-1, ...accepted.map((answer) => answer.pos))
    const { isRunning } = this.#init
    const untilMs = performance.now() + REACH_MS
    // There is no other writer while the run lives. A closed view gets no further records, and `#reachesIn` returns at
    // once.
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

  /** Takes records that this process has put into the log itself. */
  take(records: readonly SessionRecord[]): void {
    this.#publish(records)
  }

  /** Folds the whole log again if a rewind made a request's messages reach behind the window. */
  async completeHistory(): Promise<void> {
    const history = this.replica.history()
    const { session, store } = this.#init
    while (!hasWholeHistory(history, this.replica.state().index)) {
      const whole = createHistory({ keepAll: true })
      let pos = -1
      for await (const record of store.read(session, 0)) {
        whole.fold(record)
        pos = record.pos
      }
      if (pos === this.replica.state().pos) return history.takeOver(whole)
      await this.#catchUp()
    }
  }

  /** Reads what the log has by now. Never rejects: a failing store is logged. */
  async refresh(): Promise<void> {
    await this.#catchUp()
  }

  /** Closes it once it has all that the log has. Never rejects. */
  async finish(): Promise<void> {
    await this.#catchUp()
    this.close()
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#unsubscribe()
    const message = `session ${this.#init.session} was closed`
    const error = new BatonError({ code: 'session_closed', message })
    this.replica.end(error) // and with it all waits for a record
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
    // Others are dropped: the bus has stored them.
    else if (this.#early.length + frames.length <= EARLY_MAX) this.#early.push(...frames)
  }

  /** Handles a removal, unless it concerns an earlier session of this name. */
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
      this.#init.log.warn('an announced record cannot be folded', {
        session: this.#init.session,
        cause: String(cause),
      })
      return
    }
    for (const { pos: fromPos, epoch } of news)
      if (this.#epochs.at(-1)?.epoch !== epoch) this.#epochs.push({ fromPos, epoch })
    for (const listener of this.#listeners) listener()
  }

  /** One read at a time; calls during a read get the next one. Never rejects. */
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
        this.#init.log.warn('the log of a session cannot be read and will be retried', {
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

/** Callers that submit inputs do not need the epoch. */
function hideEpoch(answer: Answers[number]): Accepted | Refused {
  if (answer.type === 'refused') return answer
  const { epoch: _, ...accepted } = answer
  return accepted
}

function listDetachments(inputs: readonly Input[]): readonly Input[] {
  return inputs.flatMap((input) =>
    input.type === 'client-attached' ? [{ type: 'client-detached', connection: input.connection } as const] : [],
  )
}
