// A session whose one writer is elsewhere: inputs go out, records and live frames come in, in any order of the two.
import type { Accepted, LiveFrame, Refused } from '@baton/core'
import type { BatonError } from '@baton/core'
import type { History, Input, SessionRecord, State } from '@baton/core/machine'
import type { SessionWorld } from '../catalog/catalog.ts'
import type { SessionEngine } from '../engine.ts'
import { SessionFeed } from './feed.ts'
import { FoldedReplica } from './folded-replica.ts'
import type { FrameReader } from './frame-reader.ts'

export interface ReplicatedSessionInit {
  readonly session: string
  readonly world: SessionWorld
  /** Hands inputs to the writer. */
  readonly update: (inputs: readonly Input[]) => Promise<readonly (Accepted | Refused)[]>
  /** Records that were published before a reader came. */
  readonly readPast: (fromPos: number) => AsyncIterable<SessionRecord>
}

export class ReplicatedSession implements SessionEngine {
  readonly session: string
  readonly world: SessionWorld
  readonly #init: ReplicatedSessionInit
  readonly #replica: FoldedReplica
  readonly #feed: SessionFeed
  #ended: BatonError | undefined

  constructor(init: ReplicatedSessionInit) {
    this.session = init.session
    this.world = init.world
    this.#init = init
    this.#replica = new FoldedReplica(init.session)
    this.#feed = new SessionFeed(init)
  }

  /** Records in their order; one that came before is passed over. @throws BatonError `log_damaged` for a gap */
  publishRecords(records: readonly SessionRecord[]): void {
    for (const record of records) if (this.#replica.fold(record)) this.#feed.publishRecord(record)
  }

  publishLive(frame: LiveFrame): void {
    this.#feed.publishLive(frame)
  }

  /** The text that an attempt has streamed so far, as it reached this process. */
  textOfAttempt(attempt: number): string {
    return this.#feed.textOfAttempt(attempt)
  }

  /** Ends every reading, and refuses every input from now on. */
  end(cause: BatonError): void {
    this.#ended ??= cause
    this.#feed.end()
  }

  /** Resolves when the record of this position has come. */
  reached(pos: number): Promise<void> {
    return this.#replica.reached(pos)
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
