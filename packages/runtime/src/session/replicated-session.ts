// A session whose single writer is elsewhere: inputs go out; records and live frames come in, in any order.
import type { Accepted, LiveFrame, Refused, BatonError, StoredMessage } from '@baton/core/internal'
import type { History, HostReport, Input, SessionRecord, State, IndexEntry } from '@baton/core/machine'
import { applyRecord, createHistory, followRecord, initialState } from '@baton/core/machine'
import type { SessionWorld } from '../catalog/catalog.ts'
import type { OpenWorld } from '../catalog/open-world.ts'
import type { SessionEngine, SessionReplica } from '../engine.ts'
import { ToolQuestions } from '../work/tool-questions.ts'
import { SessionStream } from './stream.ts'

export interface ReplicatedSessionOptions {
  readonly session: string
  readonly world: Pick<OpenWorld, 'current'>
  /** Sends inputs to the writer. */
  readonly update: (inputs: readonly Input[]) => Promise<readonly (Accepted | Refused)[]>
  /** Reads records published before a reader joined. */
  readonly readPast: (fromPos: number) => AsyncIterable<SessionRecord>
}

export class ReplicatedSession implements SessionEngine {
  readonly session: string
  /** Questions of the tools that run in this process. */
  readonly questions: ToolQuestions
  readonly #init: ReplicatedSessionOptions
  readonly #replica: FoldedReplica
  readonly stream: SessionStream
  #ended: BatonError | undefined
  #stoppedAttempt = 0

  constructor(init: ReplicatedSessionOptions) {
    this.session = init.session
    this.#init = init
    this.#replica = new FoldedReplica(init.session)
    this.stream = new SessionStream({
      session: init.session,
      world: () => this.world,
      readLog: init.readPast,
      state: () => this.state(),
      history: () => this.history(),
    })
    this.questions = new ToolQuestions({
      history: () => this.history(),
      submit: (reports) => this.submit(reports),
    })
  }

  /** Takes records in order and skips repeated ones. @throws BatonError `log_damaged` for a gap */
  publishRecords(records: readonly SessionRecord[]): void {
    for (const record of records) if (this.#replica.fold(record)) this.stream.publishRecord(record)
    if (this.questions.isWaiting) this.questions.notice()
  }

  publishLive(frame: LiveFrame): void {
    this.stream.publishLive(frame)
  }

  /**
   * The report that an interrupt waits for, once per attempt: the text that has reached this process. It also covers a
   * model that was never called, because the commit that began its attempt also ended it.
   */
  takeStoppedModel(): HostReport | undefined {
    const { interrupting, attempt: running } = this.state()
    if (!interrupting || !running || running.attempt === this.#stoppedAttempt) return undefined
    const { attempt } = running
    this.#stoppedAttempt = attempt
    return { type: 'model-stopped', attempt, text: this.stream.textOfAttempt(attempt) }
  }

  /** Ends every reading and refuses every later input, including inputs whose record has not arrived. */
  end(cause: BatonError): void {
    this.#ended ??= cause
    this.#replica.end(this.#ended)
    this.stream.end()
    this.questions.close()
  }

  /**
   * Resolves when the record at this position has arrived. @throws BatonError the cause, if the session ends earlier
   */
  reached(pos: number): Promise<void> {
    return this.#replica.reached(pos)
  }

  get world(): SessionWorld {
    return this.#init.world.current
  }

  state(): State {
    return this.#replica.state()
  }

  history(): History {
    return this.#replica.history()
  }

  async submit(inputs: readonly Input[]): Promise<readonly (Accepted | Refused)[]> {
    if (this.#ended) throw this.#ended
    const answers = await this.#init.update(inputs)
    const last = answers.findLast((answer) => answer.type === 'accepted')
    if (last?.type === 'accepted') await this.#replica.reached(last.pos)
    return answers
  }
}

export class FoldedReplica implements SessionReplica {
  readonly #history = createHistory()
  #state: State
  #waiting: { readonly pos: number; readonly resolve: () => void; readonly reject: (cause: BatonError) => void }[] = []
  #ended: BatonError | undefined

  constructor(session: string) {
    this.#state = initialState(session)
  }

  state(): State {
    return this.#state
  }

  history(): History {
    return this.#history
  }

  /**
   * Returns false for a record that was already folded.
   * @throws BatonError `log_damaged` for a gap, `log_version_unknown`
   */
  fold(record: SessionRecord): boolean {
    if (record.pos <= this.#state.pos) return false
    followRecord(this.#state, record)
    this.#state = applyRecord(this.#state, record)
    this.#history.fold(record)
    if (this.#waiting.length > 0) this.#wake()
    return true
  }

  /** Resolves when the record at this position is folded. @throws BatonError the cause, if the replica ends earlier */
  async reached(pos: number): Promise<void> {
    if (this.#state.pos >= pos) return
    if (this.#ended) throw this.#ended
    await new Promise<void>((resolve, reject) => void this.#waiting.push({ pos, resolve, reject }))
  }

  /** Ends the replica: no further records will arrive. */
  end(cause: BatonError): void {
    this.#ended ??= cause
    for (const { reject } of this.#waiting) reject(this.#ended)
    this.#waiting = []
  }

  #wake(): void {
    const { pos } = this.#state
    for (const one of this.#waiting) if (one.pos <= pos) one.resolve()
    this.#waiting = this.#waiting.filter((one) => one.pos > pos)
  }
}

/** Returns false, too, for a message that is asked again after its text was freed: its new entry is empty. */
export function hasWholeHistory(history: Pick<History, 'has' | 'entries'>, index: readonly IndexEntry[]): boolean {
  return (
    history.has(index) && history.entries().every(({ role, messages }) => role !== 'user' || messages.some(hasContent))
  )
}

/** Every input has some; a note replaces content that a provider refused. */
function hasContent({ parts }: StoredMessage): boolean {
  return parts.some((part) => part.type !== 'text' || part.text !== '')
}
