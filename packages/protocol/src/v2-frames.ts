// The frames of wire version 2 that a server sends: one answer to each request (`v2-requests.ts`), and unsolicited
// frames. Later versions may add fields.
import type { JsonObject, ModelRequest, SessionChange, SessionEvent } from '@baton/core/internal'
import { MessageId, s, SESSION_EVENT_SCHEMA } from '@baton/core/internal'
import { PROTOCOL_VERSION_2 } from './v2.ts'
import type { AnswerOf, RequestType } from './v2-requests.ts'
import { REQUESTS, REQUEST_ID_LENGTH_MAX, V2Cursor } from './v2-requests.ts'

export type { Heard, SpeechPlace, SpokenAnswer } from '@baton/core/internal'

/** The answer to the request `re`. */
export type OkFrame<Type extends RequestType = RequestType> = {
  readonly type: 'ok'
  readonly re: string
} & AnswerOf<Type>

/** A refused request; without `re`, an error that does not answer a request. */
export const V2ErrorFrame = s.fields({
  type: s.word('error'),
  /** The `id` of the request. */
  re: s.optional(s.text),
  /** A snake_case word of docs/errors.md; accept unknown codes. */
  code: s.text,
  message: s.text,
  hint: s.optional(s.text),
  /** The server may accept the same request later. */
  retryable: s.optional(s.word(true)),
  /** Milliseconds to wait before that, if known. */
  retryAfterMs: s.optional(s.count),
})
export interface V2ErrorFrame extends s.Infer<typeof V2ErrorFrame> {}

const Cursor = s.named('cursor', V2Cursor)

/**
 * The next sentence for a voice. Sentences are complete, in order and sent once; code blocks and text without words
 * have none.
 */
export const SentenceFrame = s.fields({
  type: s.word('sentence'),
  message: MessageId,
  /** The step whose text it ends in. */
  step: s.count,
  /** Index of the sentence in the answer, from 0. */
  index: s.count,
  /** Without Markdown, addresses and line breaks. */
  text: s.text,
  /**
   * The part of the answer's text that it covers, including preceding unspoken text, in UTF-16 units. The answer's text
   * is the Markdown of its steps, joined by a blank line.
   */
  start: s.count,
  end: s.count,
  next: Cursor,
})
export interface SentenceFrame extends s.Infer<typeof SentenceFrame> {}

/** The model's attempt was discarded: sentences of the answer from `index` on are void. The next attempt begins at `index` again. */
export const SentencesDroppedFrame = s.fields({
  type: s.word('sentences.dropped'),
  message: MessageId,
  step: s.count,
  index: s.count,
  next: Cursor,
})
export interface SentencesDroppedFrame extends s.Infer<typeof SentencesDroppedFrame> {}

/** Each frame by type. */
export const FRAMES = {
  /** The first frame of a connection. */
  hello: s.fields({
    type: s.word('hello'),
    protocol: s.word(PROTOCOL_VERSION_2),
    /** The server's clock, in milliseconds since 1970. */
    nowMs: s.count,
    limits: s.fields({ frameBytes: s.count, resultBytes: s.count }),
  }),
  /** The answer to the request `re`, with the fields of that answer. */
  ok: s.fields({ type: s.word('ok'), re: s.text }),
  error: V2ErrorFrame,
  /** Events of the open session, at least one, in order. */
  events: s.fields({
    type: s.word('events'),
    events: s.list(s.named('event', s.typed<SessionEvent>(s.object))),
    /** Cursor at which to continue after them. */
    next: Cursor,
  }),
  sentence: SentenceFrame,
  'sentences.dropped': SentencesDroppedFrame,
  /**
   * Asks the device to answer a request with a model that it runs. It sends `model.pieces` as they arrive, and then one
   * `model.result`. If its connection breaks, the request has ended: the session asks again, this device or another
   * one.
   */
  'model.run': s.fields({
    type: s.word('model.run'),
    run: s.name,
    model: s.name,
    request: s.typed<ModelRequest>(s.object),
  }),
  /** No caller waits for the answer of this `model.run`. */
  'model.cancel': s.fields({ type: s.word('model.cancel'), run: s.name }),
  /**
   * The session is no longer followed, although the app did not ask for that: it was deleted, or its host lost it. Open
   * it again.
   */
  'session.closed': s.fields({ type: s.word('session.closed'), session: s.text }),
  /** Sent after `session.watch`. */
  'session.changed': s.fields({ type: s.word('session.changed'), change: s.typed<SessionChange>(s.object) }),
}

export type V2ServerFrame =
  | OkFrame
  | V2ErrorFrame
  | SentenceFrame
  | SentencesDroppedFrame
  | s.Infer<(typeof FRAMES)['hello' | 'events' | `model.${'run' | 'cancel'}` | `session.${'closed' | 'changed'}`]>

const { $schema, $defs: eventDefinitions, oneOf: events } = SESSION_EVENT_SCHEMA
const DEFINITIONS: JsonObject = { ...(eventDefinitions as JsonObject), cursor: V2Cursor.describe() } // by name

/** Frames of an app. */
export const CLIENT_FRAME_2_SCHEMA: JsonObject = {
  $schema: $schema ?? '',
  title: 'A frame from an app to a server, version 2',
  oneOf: Object.entries(REQUESTS).map(([type, { given }]) =>
    s.fields({ id: s.textBetween(1, REQUEST_ID_LENGTH_MAX), type: s.word(type), ...given }).describe(),
  ),
  $defs: DEFINITIONS,
}

/** Frames of a server. The fields of an `ok` are those of its request's answer. */
export const SERVER_FRAME_2_SCHEMA: JsonObject = {
  $schema: $schema ?? '',
  title: 'A frame from a server to an app, version 2',
  oneOf: Object.values(FRAMES).map((frame) => frame.describe()),
  $defs: { ...DEFINITIONS, event: { oneOf: events ?? [] } },
}
