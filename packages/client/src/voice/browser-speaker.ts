// A speaker that uses the browser's speech synthesis and works around its faults. Without a voice, a text takes the
// time that saying it would. Faults seen in Chromium: voices are listed late or never; `end` never fires; `pause`
// permanently stops network voices; network voices fall silent after 15 s; an utterance right after a `cancel` is lost.
import { checkOptionNames, checkOptionNumber } from '../check-options.ts'
import { platformWorld } from '../world.ts'
import { createSilentSpeaker } from './silent-speaker.ts'
import type { Speaker, SpeakOptions, VoiceWorld } from './speaker.ts'
import { sayPiece } from './said-piece.ts'
import { WORDS_PER_MINUTE_RANGE, countLetters, countWords } from './speech-time.ts'
import type { SpeechPlatform, SynthesisLike, UtteranceLike, VoiceLike } from './synthesis.ts'

export interface BrowserSpeakerOptions {
  /** The page's `speechSynthesis` by default; null for no sound. */
  readonly synthesis?: SynthesisLike | null
  /** The page's `SpeechSynthesisUtterance` by default. */
  readonly Utterance?: new (text: string) => UtteranceLike
  /**
   * Name of a voice. By default a voice of `lang`, preferably a local one; without `lang`, the browser's default voice.
   */
  readonly voice?: string
  /** BCP 47, such as `en-GB`; the language of the voice by default. */
  readonly lang?: string
  /** Multiple of the usual speed: 0.4 to 10, 1 by default. */
  readonly rate?: number
  /** 0 to 2, 1 by default. */
  readonly pitch?: number
  /** 0 to 1, 1 by default. */
  readonly volume?: number
  /** Speed without a voice: 1 to 10,000, 160 by default. */
  readonly wordsPerMinute?: number
  readonly world?: VoiceWorld
}

/** Every field of `BrowserSpeakerOptions`; a test compares the two. */
const OPTIONS: readonly string[] = 'synthesis Utterance voice lang rate pitch volume wordsPerMinute world'.split(' ')
/** A slower voice would exceed the time limit of a `Playback`. */
const RATE_RANGE = [0.4, 10] as const
/** Ranges of the Web Speech API, and of the speed without a voice. */
const RANGES = [
  ['rate', RATE_RANGE],
  ['pitch', [0, 2]],
  ['volume', [0, 1]],
  ['wordsPerMinute', WORDS_PER_MINUTE_RANGE],
] as const
/** Milliseconds for voices to be listed. */
const VOICES_MS = 1000
/** Letters that a network voice says in less than 15 s at its usual speed. A slow one says fewer. */
const NETWORK_CHARS_MAX = 120
/** Milliseconds between a `cancel` and the next utterance. */
const AFTER_CANCEL_MS = 50

/**
 * Creates a speaker. `pause` cancels the utterance, and `resume` says the rest of the text, from the interrupted word. `onWord` follows
 * the voice's `boundary` events; for a voice without them, like most network voices, only completed pieces of up to 120 characters
 * count. Rejects if the browser refuses to speak, for example before the person has interacted with the page.
 * @throws ClientError `invalid_option`
 */
export function createBrowserSpeaker(options: BrowserSpeakerOptions = {}): Speaker {
  checkOptionNames('createBrowserSpeaker', options, OPTIONS)
  for (const [name, range] of RANGES) checkOptionNumber(`createBrowserSpeaker: ${name}`, options[name], range)
  const { world = platformWorld(), wordsPerMinute } = options
  // Browsers have these globals; their types are not loaded here.
  const platform = globalThis as unknown as SpeechPlatform
  const { synthesis = platform.speechSynthesis, Utterance = platform.SpeechSynthesisUtterance } = options
  const silent = createSilentSpeaker({ world, ...(wordsPerMinute !== undefined && { wordsPerMinute }) })
  if (!synthesis || !Utterance) return silent
  const places = { synthesis, Utterance, world, silent }
  const listed = untilListed(synthesis, world)
  let said: SaidText | undefined
  return {
    speak: async (text, given) => {
      const own = new SaidText(text, { ...options, ...given, ...places })
      said = own
      try {
        await listed
        await own.speak()
      } finally {
        if (said === own) said = undefined
      }
    },
    pause: () => said?.pause(),
    resume: () => said?.resume(),
  }
}

/** Resolves when voices are listed, or will not be. */
function untilListed(synthesis: SynthesisLike, world: VoiceWorld): Promise<void> {
  if (synthesis.getVoices().length > 0) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      stopTimer()
      synthesis.removeEventListener?.('voiceschanged', end)
      resolve()
    }
    const stopTimer = world.start(VOICES_MS, end)
    synthesis.addEventListener?.('voiceschanged', end)
  })
}

interface SaidOptions extends BrowserSpeakerOptions, SpeakOptions {
  readonly synthesis: SynthesisLike
  readonly Utterance: new (text: string) => UtteranceLike
  readonly world: VoiceWorld
  readonly silent: Speaker
}

class SaidText {
  readonly #text: string
  readonly #init: SaidOptions
  /** Offset of the current word. */
  #at = 0
  #isPaused = false
  #isSilent = false
  /** Cuts the current utterance short. */
  #cut: (() => void) | undefined
  #wake: (() => void) | undefined

  constructor(text: string, init: SaidOptions) {
    this.#text = text
    this.#init = init
  }

  async speak(): Promise<void> {
    const { signal, synthesis, silent } = this.#init
    const voice = this.#chooseVoice(synthesis.getVoices())
    if (!voice) return await this.#speakSilently(silent)
    const stop = (): void => {
      this.#cut?.()
      this.#wake?.()
    }
    signal.addEventListener('abort', stop)
    try {
      while (!signal.aborted && this.#at < this.#text.length) {
        if (this.#isPaused) await new Promise<void>((resolve) => (this.#wake = resolve))
        else await this.#sayPiece(voice)
      }
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  pause(): void {
    this.#isPaused = true
    if (this.#isSilent) this.#init.silent.pause()
    this.#cut?.()
  }

  resume(): void {
    this.#isPaused = false
    if (this.#isSilent) this.#init.silent.resume()
    this.#wake?.()
  }

  async #speakSilently(silent: Speaker): Promise<void> {
    this.#isSilent = true
    const ended = silent.speak(this.#text, this.#init)
    if (this.#isPaused) silent.pause()
    await ended
  }

  #chooseVoice(voices: readonly VoiceLike[]): VoiceLike | undefined {
    const { voice, lang } = this.#init
    const named = voices.find(({ name }) => name === voice)
    if (named) return named
    const [language = ''] = (lang ?? '').toLowerCase().split(/[-_]/)
    const fitting = voices.filter((one) => one.lang.toLowerCase().split(/[-_]/)[0] === language)
    const rank = (one: VoiceLike): number =>
      Number(one.lang === lang) * 4 + Number(one.localService) * 2 + Number(one.default)
    const [best] = fitting.toSorted((one, other) => rank(other) - rank(one))
    return best ?? voices.find((one) => one.default) ?? voices[0]
  }

  /** Resolves at the end of the utterance, or when it is cut. */
  async #sayPiece(voice: VoiceLike): Promise<void> {
    const { synthesis, Utterance, world, lang = voice.lang, rate = 1, pitch = 1, volume = 1 } = this.#init
    const from = this.#at
    const to = voice.localService ? this.#text.length : findPieceEnd(this.#text, from, rate)
    const utterance = new Utterance(this.#text.slice(from, to))
    Object.assign(utterance, { voice, lang, rate, pitch, volume })
    const piece = sayPiece(utterance, { synthesis, world, onBoundary: (at) => this.#advance(from + at) })
    this.#cut = piece.cut
    const isWhole = await piece.ended
    this.#cut = undefined
    if (isWhole) this.#advance(to)
    else await new Promise<void>((resolve) => void world.start(AFTER_CANCEL_MS, resolve))
  }

  #advance(at: number): void {
    this.#at = Math.max(this.#at, at)
    this.#init.onWord(countWords(this.#text, this.#at))
  }
}

/** Ends at the last space within the limit. */
function findPieceEnd(text: string, from: number, rate: number): number {
  const most = Math.floor(NETWORK_CHARS_MAX * Math.min(1, rate))
  let end = from
  let letters = 0
  for (const char of text.slice(from)) {
    letters += countLetters(char)
    if (letters > most) break
    end += char.length
  }
  if (end >= text.length) return text.length
  const space = text.lastIndexOf(' ', end)
  return space > from ? space + 1 : end
}
