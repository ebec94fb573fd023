// A session whose one writer is elsewhere: inputs go out, records and live frames come in, in any order of the two.
import type { Accepted, LiveFrame, Refused } from '@baton/core'
import type { BatonError } from '@baton/core'
import type { History, HostReport, Input, SessionRecord, State } from '@baton/core/machine'
import type { SessionWorld } from '../catalog/catalog.ts'
import type { OpenWorld } from '../catalog/open-world.ts'
import type { SessionEngine } from '../engine.ts'
import { SessionFeed } from './feed.ts'
import { FoldedReplica } from './folded-replica.ts'
import { ToolQuestions } from './tool-questions.ts'
import type { FrameReader } from './frame-reader.ts'

export interface ReplicatedSessionInit {
  readonly session: string
  readonly world: Pick<OpenWorld, 'current'>
  /** Hands inputs to the writer. */
  readonly update: (inputs: readonly Input[]) => Promise<readonly (Accepted | Refused)[]>
  /** Records that were published before a reader came. */
  readonly readPast: (fromPos: number) => AsyncIterable<SessionRecord>
}

export class ReplicatedSession implements SessionEngine {
  readonly session: string
  /** Questions of tools that run in this process. */
  readonly questions: ToolQuestions
  readonly #init: ReplicatedSessionInit
  readonly #replica: FoldedReplica
  readonly #feed: SessionFeed
  #ended: BatonError | undefined
  #stoppedAttempt = 0

  constructor(init: ReplicatedSessionInit) {
    this.session = init.session
    this.#init = init
    this.#replica = new FoldedReplica(init.session)
    this.#feed = new SessionFeed(init)
    this.questions = new ToolQuestions({
      history: () => this.history(),
      submit: (reports) => this.submit(reports),
    })
  }

  /** Records in their order; one that came before is passed over. @throws BatonError `log_damaged` for a gap */
  publishRecords(records: readonly SessionRecord[]): void {
    for (const record of records) if (this.#replica.fold(record)) this.#feed.publishRecord(record)
    if (this.questions.isWaiting) this.questions.notice()
  }

  publishLive(frame: LiveFrame): void {
    this.#feed.publishLive(frame)
  }

  /**
   * The report that an interrupt waits for, once for each attempt: the text so far, as it reached this process. Also of a
   * model that was never called, since the attempt ended in the commit that began it.
   */
  takeStoppedModel(): HostReport | undefined {
    const { interrupting, attempt: running } = this.state()
    if (!interrupting || !running || running.attempt === this.#stoppedAttempt) return undefined
    const { attempt } = running
    this.#stoppedAttempt = attempt
    return { type: 'model-stopped', attempt, text: this.#feed.textOfAttempt(attempt) }
  }

  /** Ends every reading, and refuses every input from now on, also one whose record has not come yet. */
  end(cause: BatonError): void {
    this.#ended ??= cause
    this.#replica.end(this.#ended)
    this.#feed.end()
    this.questions.close()
  }

  /** Resolves when the record of this position has come. @throws BatonError the cause, where `end` came first */
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

  follow(fromPos?: number, onEnd?: (reader: FrameReader) => void): FrameReader {
    return this.#feed.read(fromPos, onEnd)
  }
}
