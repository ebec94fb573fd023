// One text on the speaker: how many of its words were played, when it must have ended, and when the speaker is free
// again.
import type { Speaker, VoiceWorld } from './speaker.ts'
import { countWords, estimateSpeechMs } from './speech-time.ts'

/** A text may take `ESTIMATES_MAX` times its estimated time plus `MORE_MS` milliseconds. Pauses do not count. */
const ESTIMATES_MAX = 3
const MORE_MS = 5000
/** Milliseconds for a speaker to settle after its signal aborted. */
const SETTLE_MS = 1000

export interface PlaybackOptions {
  readonly speaker: Speaker
  readonly world: VoiceWorld
  /** More words were played. */
  readonly onWord: (words: number) => void
  /** Called when playback is complete or has failed. Not called after `stop`. */
  readonly onEnd: (failure?: string) => void
  /** The speaker may say another text. Called once, last. */
  readonly onFree: () => void
}

export class Playback {
  readonly #init: PlaybackOptions
  readonly #text: string
  readonly #wordsMax: number
  readonly #abort = new AbortController()
  #state: 'playing' | 'stopping' | 'over' = 'playing'
  #leftMs: number
  #sinceMs = 0
  #stopTimer: (() => void) | undefined
  /** Words that were played completely. */
  words = 0

  constructor(text: string, init: PlaybackOptions) {
    this.#init = init
    this.#text = text
    this.#wordsMax = countWords(text)
    this.#leftMs = estimateSpeechMs(text) * ESTIMATES_MAX + MORE_MS
  }

  start(): void {
    // A listener to its beginning may have stopped it.
    if (this.#state !== 'playing') return this.#free()
    this.resume()
    const { speaker } = this.#init
    const options = { signal: this.#abort.signal, onWord: (words: number) => this.#takeWords(words) }
    const speak = async (): Promise<void> => await speaker.speak(this.#text, options)
    speak().then(
      () => this.#settle(),
      (cause: unknown) => this.#settle(String(cause)),
    )
  }

  /** Stops its clock. */
  pause(): void {
    if (this.#state !== 'playing' || !this.#stopTimer) return
    this.#clear()
    this.#leftMs -= this.#init.world.nowMs() - this.#sinceMs
  }

  resume(): void {
    if (this.#state !== 'playing' || this.#stopTimer) return
    this.#sinceMs = this.#init.world.nowMs()
    const limitMs = this.#leftMs
    this.#stopTimer = this.#init.world.start(Math.max(0, limitMs), () => {
      this.stop()
      this.#init.onEnd(`it timed out (${estimateSpeechMs(this.#text) * ESTIMATES_MAX + MORE_MS} ms)`)
    })
  }

  /** Stops it; after that only `onFree` is called. */
  stop(): void {
    if (this.#state !== 'playing') return
    this.#state = 'stopping'
    this.#clear()
    this.#stopTimer = this.#init.world.start(SETTLE_MS, () => this.#free())
    this.#abort.abort()
  }

  #takeWords(words: number): void {
    const said = Math.min(Math.floor(words), this.#wordsMax)
    // A value that is not a number changes nothing.
    if (this.#state !== 'playing' || !(said > this.words)) return
    this.words = said
    this.#init.onWord(said)
  }

  #settle(failure?: string): void {
    if (this.#state === 'playing') {
      if (failure === undefined) this.#takeWords(this.#wordsMax)
      // A listener to the last word may have stopped it.
      if (this.#state === 'playing') {
        this.#state = 'stopping'
        this.#init.onEnd(failure)
      }
    }
    this.#free()
  }

  #free(): void {
    if (this.#state === 'over') return
    this.#state = 'over'
    this.#clear()
    this.#init.onFree()
  }

  #clear(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }
}
