// An app's handle of a voice: its state, its events and its methods.
import type { Heard, SentenceFrame } from '@baton/protocol'
import type { ClientError } from '../client-error.ts'
import type { SessionClientEvents } from '../session/session-client.ts'
import type { PlayedPlace } from './acknowledgements.ts'
import type { Speaker, VoiceWorld } from './speaker.ts'

/** The part of a `SessionClient` that a voice uses. Open the session with `speech`. */
export interface VoiceClient {
  readonly speech?: boolean | 'only'
  on<Name extends 'event' | 'sentence' | 'sentences.dropped' | 'status'>(
    name: Name,
    listener: (event: SessionClientEvents[Name]) => void,
  ): () => void
  getSnapshot(): {
    readonly activity: string
    readonly messages: readonly { readonly id: string; readonly role: string; readonly stop?: string }[]
  }
  interrupt(options: { readonly heard: Heard }): Promise<void>
  played(place: PlayedPlace): Promise<void>
}

export interface VoiceOptions {
  readonly speaker: Speaker
  /** Milliseconds that a `pause` holds the voice without an `interrupt`: 0 to 2,147,483,647, and 2000 by default. */
  readonly confirmMs?: number
  /** Sentences that may wait to be said: 1 or more, and 500 by default. If one more comes, no more of its answer is said, and `error` tells `queue_full`. */
  readonly sentencesMax?: number
  readonly world?: VoiceWorld
}

/** `held`: somebody may be speaking, so nothing is said. */
export type VoiceState = 'idle' | 'speaking' | 'held'

/** Sentences of the voice. `words`: how many words of `text`, from its beginning, were played whole. */
export type Utterance =
  | (Pick<SentenceFrame, 'message' | 'index' | 'text' | 'start' | 'end'> & {
      readonly type: 'sentence'
      readonly words: number
    })
  /** Words of a tool's `waiting` option. They are not part of the conversation. */
  | { readonly type: 'waiting'; readonly callId: string; readonly text: string; readonly words: number }

export interface VoiceSnapshot {
  readonly state: VoiceState
  /** The sentence that is being said, or is held. */
  readonly utterance: Utterance | undefined
  /** Sentences that wait. */
  readonly queued: number
}

export interface VoiceEvents {
  readonly state: VoiceState
  readonly 'speech-start': Utterance
  /** More words of it were played. */
  readonly 'speech-word': Utterance
  /** `isWhole` is false where it was interrupted, taken back, or the speaker failed. */
  readonly 'speech-end': Utterance & { readonly isWhole: boolean }
  /** Sentences that waited, and are not said: somebody interrupted, or the model's attempt was discarded. */
  readonly 'speech-dropped': readonly SentenceFrame[]
  /** `handler_failed`: the speaker failed or did not end in time. `queue_full`: too much waits. Others: the server was not told. */
  readonly error: ClientError
}

/** Says an agent's answers, sentence by sentence, and knows what was heard. Its methods need no `this`. */
export interface Voice {
  getSnapshot(): VoiceSnapshot
  /** Calls the listener after each change of the snapshot; the returned function removes it. */
  subscribe(listener: () => void): () => void
  /** @throws ClientError `invalid_option` for an event that does not exist */
  on<Name extends keyof VoiceEvents>(name: Name, listener: (event: VoiceEvents[Name]) => void): () => void
  /**
   * Somebody may be speaking: holds the voice. Without `interrupt` or `stop` it goes on after `confirmMs`, as if nothing had
   * happened. The server is told nothing. A second call does not prolong the time.
   */
  pause(): void
  /** It was nothing: goes on from where the voice was held. */
  resume(): void
  /**
   * Somebody speaks: stops the voice, and interrupts the running answer with what was heard. Where nothing is being said and no
   * answer runs, it does nothing. Rejects with the client's error.
   */
  interrupt(): Promise<void>
  /** Stops the voice, and says no more of the answers so far. The server is told nothing: send a message with `heard`. */
  stop(): void
  /**
   * The played part, for `send(…, { delivery: 'interrupt', heard })`. `all`: nothing is left to say. `none`: nothing was said of the
   * answer. `reported`: the answer began before this voice, which has not said a word of it; the server knows what was played.
   */
  heard(): Heard
  /** Ends the voice for good: it falls silent, and no longer follows the client. The client stays open. A client that is closed closes its voice. */
  close(): void
}
