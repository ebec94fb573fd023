// Speakers say words aloud: a synthesis of the browser, a player of a service's audio, or nothing but time.
import type { ToolContext } from '@baton/core'
import type { World } from '../world.ts'

/** The time that a voice lives in: `platformWorld()` by default. */
export type VoiceWorld = Pick<World, 'nowMs' | 'start'>

export interface SpeakOptions {
  /** Aborted when the text must not be said any more: be silent at once, and settle the promise soon. */
  readonly signal: ToolContext['signal']
  /** Call it whenever a word has been played. `words` is the number of words, from the text's beginning, that were played to their end. */
  readonly onWord: (words: number) => void
}

/** It says one text at a time. The voice calls `pause` only while a text is being said, and `resume` after each `pause`, sometimes when the text has already ended. */
export interface Speaker {
  /** Resolves when the text has been played to its end. A rejection means that it was played as far as `onWord` said. */
  speak(text: string, options: SpeakOptions): Promise<void>
  /** Be silent at once, and keep the place. */
  pause(): void
  /** Go on from the place of the pause. */
  resume(): void
}
