// The frames of wire version 1. Knows neither sockets nor sessions; `v1-schema.ts` describes them in JSON Schema, and
// `decode-frame.ts` reads them.

export const PROTOCOL_VERSION = 1
/** Maximum characters of an `id`, `sessionId` or `callId`: receivers remember recent ones, so they must be bounded. */
export const ID_LENGTH_MAX = 256

/** The envelope of every payload. */
export interface Envelope<Type extends string, Payload> {
  /** Unique; a resent frame keeps its id, and receivers ignore an id that they have seen. */
  readonly id: string
  readonly type: Type
  readonly sessionId: string
  /** ISO 8601. */
  readonly timestamp: string
  readonly payload: Payload
  /** Sent by newer apps; echoed to an app that sends it. */
  readonly protocolVersion?: typeof PROTOCOL_VERSION
}

/** First frame on every connect and reconnect; may be repeated. Answered by `session.started`. */
export type SessionStartFrame = Envelope<'session.start', { readonly sessionId: string }>

/** Starts a turn. On the wire `transcript.final` is an alias of the type, which decoding normalises. */
export type TranscriptFrame = Envelope<'user.audio.transcript.final', { readonly text: string }>

export interface ToolResultPayload {
  readonly callId: string
  /** The tool's result; `""` is a result. May be missing on the wire. */
  readonly result: string | null
  /** Why the tool failed. May be missing on the wire; null after decoding if `result` is set, since `result` wins. */
  readonly error: string | null
}

/** Both `result` and `error` null: the tool failed without a reason (`Error: unknown` for the model). */
export type ToolResultFrame = Envelope<'tool.result', ToolResultPayload>

/** The user spoke over the voice. Version 1 knows the reason `barge_in`; decoding fills it in if it is missing. */
export type InterruptedFrame = Envelope<'audio.output.interrupted', { readonly reason: string }>

export type ClientFrame = SessionStartFrame | TranscriptFrame | ToolResultFrame | InterruptedFrame
export type ClientFrameType = ClientFrame['type']

export type SessionStartedFrame = Envelope<'session.started', { readonly sessionId: string }>

export interface ToolCallPayload {
  readonly callId: string
  readonly name: string
  /** JSON text of an object. */
  readonly arguments: string
}

export type ToolCallFrame = Envelope<'tool.call', ToolCallPayload>

/** The whole answer so far, not a piece of it. */
export type SpeechPartialFrame = Envelope<'assistant.speech.partial', { readonly text: string }>

/** The turn's full text, trimmed. */
export type SpeechFinalFrame = Envelope<'assistant.speech.final', { readonly text: string }>

/** `code` is a snake_case word of docs/errors.md; a receiver must accept unknown codes. */
export type ErrorFrame = Envelope<'error', { readonly code: string; readonly message: string }>

export type ServerFrame = SessionStartedFrame | ToolCallFrame | SpeechPartialFrame | SpeechFinalFrame | ErrorFrame
export type ServerFrameType = ServerFrame['type']
