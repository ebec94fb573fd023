// An app's handle of a voice: its state, its events and its methods.
import type { Heard, SentenceFrame } from '@baton/protocol'
import type { ClientError } from '../client-error.ts'
import type { SessionClientEvents } from '../session/session-client.ts'
import type { Speaker, VoiceWorld } from './speaker.ts'

export interface PlayedPlace {
  readonly message: string
  /** The `end` of a sentence; 0: the answer begins. */
  readonly chars: number
}

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

/** Options of a voice: `{ speaker }` says sentences with your text-to-speech. */
export interface VoiceOptions {
  readonly speaker: Speaker
  /** Milliseconds that a `pause` holds the voice without an `interrupt`: 0 to 2,147,483,647, 2000 by default. */
  readonly confirmMs?: number
  /**
   * Maximum queued sentences: 1 or more, 500 by default. Beyond that the rest of the answer is not said, and `error`
   * reports `queue_full`.
   */
  readonly sentencesMax?: number
  readonly world?: VoiceWorld
}

/** `held`: the user may be speaking, so the voice is silent. */
export type VoiceState = 'idle' | 'speaking' | 'held'

/** Sentences of the voice. `words`: how many words of `text` were played completely. */
export type Utterance =
  | (Pick<SentenceFrame, 'message' | 'index' | 'text' | 'start' | 'end'> & {
      readonly type: 'sentence'
      readonly words: number
    })
  /** Words of a tool's `waiting` option. They are not part of the conversation. */
  | { readonly type: 'waiting'; readonly callId: string; readonly text: string; readonly words: number }

export interface VoiceSnapshot {
  readonly state: VoiceState
  /** The sentence that is being said or held. */
  readonly utterance: Utterance | undefined
  /** Number of queued sentences. */
  readonly queued: number
}

export interface VoiceEvents {
  readonly state: VoiceState
  readonly 'speech-start': Utterance
  /** More words of it were played. */
  readonly 'speech-word': Utterance
  /** `isWhole` is false if it was interrupted or discarded, or if the speaker failed. */
  readonly 'speech-end': Utterance & { readonly isWhole: boolean }
  /** Queued sentences that will not be spoken: the user interrupted, or the model's attempt was discarded. */
  readonly 'speech-dropped': readonly SentenceFrame[]
  /**
   * `handler_failed`: the speaker failed or timed out. `queue_full`: too many sentences. Others: the report did not
   * reach the server.
   */
  readonly error: ClientError
}

/** Says an agent's answers, sentence by sentence, and tracks what was heard. Its methods work detached. */
export interface Voice {
  getSnapshot(): VoiceSnapshot
  /** Calls the listener after each change of the snapshot; the returned function removes it. */
  subscribe(listener: () => void): () => void
  /** @throws ClientError `invalid_option` for an unknown event */
  on<Name extends keyof VoiceEvents>(name: Name, listener: (event: VoiceEvents[Name]) => void): () => void
  /**
   * Holds the voice because the user may be speaking. Without `interrupt` or `stop` it continues after `confirmMs`, as
   * if nothing had happened. Nothing is sent to the server. A second call does not extend the time.
   */
  pause(): void
  /** The user was not speaking: continues from where the voice was held. */
  resume(): void
  /**
   * The user speaks: stops the voice, and interrupts the running answer with what was heard. Does nothing if the voice
   * is silent and no answer is running. Rejects with the client's error.
   */
  interrupt(): Promise<void>
  /**
   * Stops the voice, and drops the rest of all answers so far. Nothing is sent to the server: send a message with
   * `heard`.
   */
  stop(): void
  /**
   * The played part, for `send(…, { delivery: 'interrupt', heard })`. `all`: nothing is left to play. `none`: none
   * of the answer was played. `reported`: the answer began before this voice, which has not played a word of it; the
   * server knows the played part.
   */
  heard(): Heard
  /**
   * Ends the voice permanently: it falls silent, and no longer follows the client. The client stays open. Closing a
   * client closes its voice.
   */
  close(): void
}
