// The frames of wire version 2 that a server sends: one answer to each request (`v2-requests.ts`), and unsolicited
// frames. `v2-schema.ts` describes them in JSON Schema. Session events are sent unchanged.
import type { MessageId, ModelRequest, SessionChange, SessionEvent } from '@baton/core/internal'
import type { AnswerOf, V2Cursor, RequestType } from './v2-requests.ts'

export type { Heard, SpeechPlace, SpokenAnswer } from '@baton/core/internal'

/**
 * The WebSocket subprotocol that a connection of this version offers; a connection without a subprotocol uses version
 * 1.
 */
export const SUBPROTOCOL = 'baton.v2'
export const PROTOCOL_VERSION_2 = 2

/** Close codes of version 2, in addition to those of RFC 6455. */
export const CLOSE_CODES_2 = {
  /** The token or the principal of this connection is no longer valid. */
  unauthorized: 4401,
  /** Another connection has attached a device with the same name. */
  deviceTaken: 4409,
} as const

/** The answer to the request `re`. */
export type OkFrame<Type extends RequestType = RequestType> = {
  readonly type: 'ok'
  readonly re: string
} & AnswerOf<Type>

/** A refused request; without `re`, an error that does not answer a request. */
export interface V2ErrorFrame {
  readonly type: 'error'
  /** The `id` of the request. */
  readonly re?: string
  /** A snake_case word of docs/errors.md; accept unknown codes. */
  readonly code: string
  readonly message: string
  readonly hint?: string
  /** The server may accept the same request later. */
  readonly retryable?: true
  /** Milliseconds to wait before that, if known. */
  readonly retryAfterMs?: number
}

/**
 * The next sentence for a voice. Sentences are complete, in order and sent once; code blocks and text without words
 * have none.
 */
export interface SentenceFrame {
  readonly type: 'sentence'
  readonly message: MessageId
  /** The step whose text it ends in. */
  readonly step: number
  /** Index of the sentence in the answer, from 0. */
  readonly index: number
  /** Without Markdown, addresses and line breaks. */
  readonly text: string
  /**
   * The part of the answer's text that it covers, including preceding unspoken text, in UTF-16 units. The answer's text
   * is the Markdown of its steps, joined by a blank line.
   */
  readonly start: number
  readonly end: number
  readonly next: V2Cursor
}

/** The model's attempt was discarded: sentences of the answer from `index` on are void. The next attempt begins at `index` again. */
export interface SentencesDroppedFrame {
  readonly type: 'sentences.dropped'
  readonly message: MessageId
  readonly step: number
  readonly index: number
  readonly next: V2Cursor
}

export type V2ServerFrame =
  /** The first frame of a connection. */
  | {
      readonly type: 'hello'
      readonly protocol: typeof PROTOCOL_VERSION_2
      /** The server's clock, in milliseconds since 1970. */
      readonly nowMs: number
      readonly limits: { readonly frameBytes: number; readonly resultBytes: number }
    }
  | OkFrame
  | V2ErrorFrame
  /** Events of the open session, at least one, in order. `next`: where to continue after them. */
  | {
      readonly type: 'events'
      readonly events: readonly SessionEvent[]
      readonly next: V2Cursor
    }
  | SentenceFrame
  | SentencesDroppedFrame
  /**
   * Asks the device to answer a request with a model that it runs. It sends `model.pieces` as they arrive, and then one
   * `model.result`. If its connection breaks, the request has ended: the session asks again, this device or another
   * one.
   */
  | { readonly type: 'model.run'; readonly run: string; readonly model: string; readonly request: ModelRequest }
  /** No caller waits for the answer of this `model.run`. */
  | { readonly type: 'model.cancel'; readonly run: string }
  /**
   * The session is no longer followed, although the app did not ask for that: it was deleted, or its host lost it. Open
   * it again.
   */
  | { readonly type: 'session.closed'; readonly session: string }
  /** Sent after `session.watch`. */
  | { readonly type: 'session.changed'; readonly change: SessionChange }
