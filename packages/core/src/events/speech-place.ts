// Positions of the sentences of an answer, as a server notes it in the cursors of an app with a voice.
import type { MessageId } from './session-event.ts'

/** The server's own note; an app need not understand it. */
export interface SpeechPlace {
  /** Texts of records before this position are not spoken: their turns had ended when the session was opened. */
  readonly silentTo?: number
  /** The answer that is being spoken. */
  readonly answer?: SpokenAnswer
}

/** Offsets are UTF-16 units. */
export interface SpokenAnswer {
  readonly message: MessageId
  readonly step: number
  /** Offset of the step's text in the answer's text. */
  readonly base: number
  /** The index of the next sentence. */
  readonly index: number
  /** The index of the step's first sentence. */
  readonly first: number
  /** Offset of the next sentence in the step's text. */
  readonly from: number
  /** How far the step's text was split; behind it stands `rest`. */
  readonly at: number
  /** The text behind `at`: an unfinished sentence, which the log may not have yet. */
  readonly rest: string
  /** The marks that opened the code block around `rest`, or `{` in an answer that is a JSON object; else absent. */
  readonly fence?: string
  /** `rest` does not begin at the beginning of a line. */
  readonly inLine?: true
}
