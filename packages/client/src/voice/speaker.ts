// Speakers say words aloud: the browser's synthesis, a player of a service's audio, or just elapsed time.
import type { ToolContext } from '@baton/core'
import type { World } from '../world.ts'

/** The clock and timers of a voice: `platformWorld()` by default. */
export type VoiceWorld = Pick<World, 'nowMs' | 'start'>

export interface SpeakOptions {
  /** Aborts when the text must stop: fall silent at once, and settle the promise soon. */
  readonly signal: ToolContext['signal']
  /** Call it whenever a word has been played. `words` is the number of completed words from the start of the text. */
  readonly onWord: (words: number) => void
}

/**
 * Says one text at a time. The voice calls `pause` only while a text is being said, and `resume` after each `pause`,
 * sometimes when the text has already ended.
 */
export interface Speaker {
  /**
   * Resolves when the text has been played completely. A rejection means that it was played up to the last word
   * reported to `onWord`.
   */
  speak(text: string, options: SpeakOptions): Promise<void>
  /** Falls silent at once, and keeps the place. */
  pause(): void
  /** Continues from the place of the pause. */
  resume(): void
}
