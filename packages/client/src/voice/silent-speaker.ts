// A speaker without sound: each text takes the time that saying it would, word by word. For machines without a voice,
// where the words are displayed, and for tests.
import { checkOptionNames, checkOptionNumber } from '../check-options.ts'
import { platformWorld } from '../world.ts'
import type { Speaker, SpeakOptions, VoiceWorld } from './speaker.ts'
import { WORDS_PER_MINUTE, WORDS_PER_MINUTE_RANGE, estimateSpeechMs, listWordEnds } from './speech-time.ts'

export interface SilentSpeakerOptions {
  /** 1 to 10,000, 160 by default; a word is six characters including its space. */
  readonly wordsPerMinute?: number
  readonly world?: VoiceWorld
}

/** @throws ClientError `invalid_option` */
export function createSilentSpeaker(options: SilentSpeakerOptions = {}): Speaker {
  checkOptionNames('createSilentSpeaker', options, ['wordsPerMinute', 'world'])
  checkOptionNumber('createSilentSpeaker: wordsPerMinute', options.wordsPerMinute, WORDS_PER_MINUTE_RANGE)
  const { wordsPerMinute = WORDS_PER_MINUTE, world = platformWorld() } = options
  let text: SilentText | undefined
  return {
    speak: (words, options) =>
      new Promise((resolve) => {
        const own = new SilentText(words, { ...options, world, wordsPerMinute }, () => {
          if (text === own) text = undefined
          resolve()
        })
        text = own
        own.resume()
      }),
    pause: () => text?.pause(),
    resume: () => text?.resume(),
  }
}

interface SilentOptions extends SpeakOptions {
  readonly world: VoiceWorld
  readonly wordsPerMinute: number
}

class SilentText {
  readonly #init: SilentOptions
  readonly #end: () => void
  /** Time in milliseconds after the start when each word has been spoken. */
  readonly #dues: readonly number[]
  #words = 0
  #isPaused = false
  #saidMs = 0
  #sinceMs = 0
  #stopTimer: (() => void) | undefined

  constructor(text: string, init: SilentOptions, end: () => void) {
    this.#init = init
    this.#dues = listWordEnds(text).map((at) => estimateSpeechMs(text.slice(0, at), init.wordsPerMinute))
    this.#end = () => {
      this.pause()
      init.signal.removeEventListener('abort', this.#end)
      end()
    }
    init.signal.addEventListener('abort', this.#end)
  }

  pause(): void {
    this.#isPaused = true
    if (!this.#stopTimer) return
    this.#stopTimer()
    this.#stopTimer = undefined
    this.#saidMs += this.#init.world.nowMs() - this.#sinceMs
  }

  resume(): void {
    this.#isPaused = false
    if (!this.#stopTimer) this.#say()
  }

  #say(): void {
    const { world, onWord, signal } = this.#init
    const due = this.#dues[this.#words]
    if (signal.aborted || due === undefined) return this.#end()
    this.#sinceMs = world.nowMs()
    this.#stopTimer = world.start(Math.max(0, due - this.#saidMs), () => {
      this.#stopTimer = undefined
      this.#saidMs = due
      this.#words += 1
      onWord(this.#words)
      // A listener to the word may hold the voice, and release it.
      if (!this.#isPaused && !this.#stopTimer) this.#say()
    })
  }
}
