// Positions of an answer's sentences, which a server keeps in the cursors of an app with a voice.
import type { MessageId } from './session-event.ts'

/** The server's own note; apps need not understand it. */
export interface SpeechPlace {
  /** Texts of records before this position are not spoken: their turns had ended when the session was opened. */
  readonly silentTo?: number
  /** The answer being spoken. */
  readonly answer?: SpokenAnswer
}

/** Offsets are UTF-16 units. */
export interface SpokenAnswer {
  readonly message: MessageId
  readonly step: number
  /** Offset of the step's text in the answer's text. */
  readonly base: number
  /** Index of the next sentence. */
  readonly index: number
  /** Index of the step's first sentence. */
  readonly first: number
  /** Offset of the next sentence in the step's text. */
  readonly from: number
  /** How far the step's text was split; `rest` follows it. */
  readonly at: number
  /** The text after `at`: an unfinished sentence, which may not be in the log yet. */
  readonly rest: string
  /**
   * The marks that opened the code block around `rest`, or `{` in an answer that is a JSON object; otherwise absent.
   */
  readonly fence?: string
  /** `rest` does not start a line. */
  readonly inLine?: true
}
