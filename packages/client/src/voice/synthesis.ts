// The used part of the Web Speech API's synthesis, as separate small interfaces: browsers implement it, tests provide
// fakes.

export interface VoiceLike {
  readonly name: string
  readonly lang: string
  /** False: a network service produces its sound. */
  readonly localService: boolean
  readonly default: boolean
}

export interface BoundaryEvent {
  /** `word` or `sentence`; some engines omit it. */
  readonly name?: string
  /** Offset of the word in the text. */
  readonly charIndex: number
}

export interface UtteranceLike<V extends VoiceLike = VoiceLike> {
  voice: V | null
  lang: string
  rate: number
  pitch: number
  volume: number
  onstart: ((event: never) => void) | null
  onend: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  onboundary: ((event: never) => void) | null
}

export interface SynthesisLike<V extends VoiceLike = VoiceLike, U extends UtteranceLike<V> = UtteranceLike<V>> {
  readonly speaking: boolean
  readonly pending: boolean
  getVoices(): readonly V[]
  speak(utterance: U): void
  cancel(): void
  resume(): void
  addEventListener?(type: 'voiceschanged', listener: () => void): void
  removeEventListener?(type: 'voiceschanged', listener: () => void): void
}

/** The platform's synthesis. */
export interface SpeechPlatform {
  readonly speechSynthesis?: SynthesisLike
  readonly SpeechSynthesisUtterance?: new (text: string) => UtteranceLike
}
