// Reads and writes frames of wire version 1. Never throws; unknown extra fields are dropped, unknown types are
// reported. It only checks shapes: the server decides whether a session, a call or a text is acceptable.
import type { ClientFrame, Envelope, ServerFrame } from './v1.ts'
import { ID_LENGTH_MAX, PROTOCOL_VERSION } from './v1.ts'
import { TIMESTAMP_PATTERN } from './v1-schema.ts'

/** Data for an `error` frame that answers a malformed one; ids are present if they could be read. */
export interface FrameError {
  readonly code: 'invalid_event'
  /** Names the field: `payload.callId must be a non-empty string, not null`. */
  readonly message: string
  readonly id?: string
  readonly sessionId?: string
}

export type Decoded<Frame> =
  | { readonly ok: true; readonly frame: Frame; readonly unknownType?: undefined }
  /** Well-formed, with a type that this version does not know: to be logged and ignored. */
  | { readonly ok: true; readonly frame?: undefined; readonly unknownType: string }
  | { readonly ok: false; readonly error: FrameError }

/** Decodes an app's frame. The alias `transcript.final` is decoded as `user.audio.transcript.final`. */
export function decodeClientFrame(text: string): Decoded<ClientFrame> {
  return decode(text, readClientFrame)
}

/** Decodes a server's frame. */
export function decodeServerFrame(text: string): Decoded<ServerFrame> {
  return decode(text, readServerFrame)
}

/** JSON text of a frame, with its fields in the order of the protocol's description. */
export function encodeFrame(frame: ClientFrame | ServerFrame): string {
  const { id, type, sessionId, timestamp, payload, protocolVersion } = frame
  return JSON.stringify({ id, type, sessionId, timestamp, payload, ...(protocolVersion && { protocolVersion }) })
}

type Fields = Readonly<Record<string, unknown>>
/** A reader of payloads. Returns undefined for an unknown type; throws only `Malformed`. */
type ReadFrame<Frame> = (type: string, fields: Fields) => Frame | undefined

function decode<Frame>(text: string, readFrame: ReadFrame<Frame>): Decoded<Frame> {
  const fields = parseObject(text)
  if (!fields)
    return { ok: false, error: { code: 'invalid_event', message: 'a frame must be the JSON text of an object' } }
  try {
    const type = fields['type']
    if (typeof type !== 'string') throw malformed('type', 'a string', type)
    const frame = readFrame(type, fields)
    return frame ? { ok: true, frame } : { ok: true, unknownType: type }
  } catch (error) {
    const message = error instanceof Malformed ? error.message : 'the frame could not be read'
    return { ok: false, error: { code: 'invalid_event', message, ...readableIds(fields) } }
  }
}

function readClientFrame(type: string, fields: Fields): ClientFrame | undefined {
  switch (type) {
    case 'session.start':
      return envelope(type, fields, (payload) => ({ sessionId: readId(payload, 'payload.sessionId') }))
    case 'transcript.final':
    case 'user.audio.transcript.final':
      return envelope('user.audio.transcript.final', fields, (payload) => ({ text: readText(payload, 'payload.text') }))
    case 'tool.result':
      return envelope(type, fields, (payload) => {
        const result = readOptionalText(payload, 'payload.result')
        const error = readOptionalText(payload, 'payload.error')
        return { callId: readId(payload, 'payload.callId'), result, error: result === null ? error : null }
      })
    case 'audio.output.interrupted':
      return envelope(type, fields, (payload) => ({
        reason: readOptionalText(payload, 'payload.reason') ?? 'barge_in',
      }))
    default:
      return undefined
  }
}

function readServerFrame(type: string, fields: Fields): ServerFrame | undefined {
  switch (type) {
    case 'session.started':
      return envelope(type, fields, (payload) => ({ sessionId: readId(payload, 'payload.sessionId') }))
    case 'tool.call':
      return envelope(type, fields, (payload) => ({
        callId: readId(payload, 'payload.callId'),
        name: readText(payload, 'payload.name'),
        arguments: readText(payload, 'payload.arguments'),
      }))
    case 'assistant.speech.partial':
    case 'assistant.speech.final':
      return envelope(type, fields, (payload) => ({ text: readText(payload, 'payload.text') }))
    case 'error':
      return envelope(type, fields, (payload) => ({
        code: readText(payload, 'payload.code'),
        message: readText(payload, 'payload.message'),
      }))
    default:
      return undefined
  }
}

const TIMESTAMP = new RegExp(TIMESTAMP_PATTERN)

function envelope<Type extends string, Payload>(
  type: Type,
  fields: Fields,
  readPayload: (payload: Fields) => Payload,
): Envelope<Type, Payload> {
  const version = fields['protocolVersion'] ?? undefined
  if (version !== undefined && version !== PROTOCOL_VERSION) throw malformed('protocolVersion', '1 or absent', version)
  const timestamp = readText(fields, 'timestamp')
  if (!TIMESTAMP.test(timestamp)) throw malformed('timestamp', 'an ISO 8601 time', timestamp)
  const payload = fields['payload']
  if (!isObject(payload)) throw malformed('payload', 'an object', payload)
  return {
    id: readId(fields, 'id'),
    type,
    sessionId: readId(fields, 'sessionId'),
    timestamp,
    payload: readPayload(payload),
    ...(version !== undefined && { protocolVersion: PROTOCOL_VERSION }),
  }
}

/** Reads the last name of `path` from `from`; the whole path is for the message. */
function field(from: Fields, path: string): unknown {
  const name = path.slice(path.lastIndexOf('.') + 1)
  return Object.hasOwn(from, name) ? from[name] : undefined
}

function readText(from: Fields, path: string): string {
  const value = field(from, path)
  if (typeof value !== 'string') throw malformed(path, 'a string', value)
  return value
}

function readOptionalText(from: Fields, path: string): string | null {
  const value = field(from, path) ?? null
  if (value !== null && typeof value !== 'string') throw malformed(path, 'a string or null', value)
  return value
}

function readId(from: Fields, path: string): string {
  const value = field(from, path)
  if (!isId(value)) throw malformed(path, `a string of 1 to ${ID_LENGTH_MAX} characters`, value)
  return value
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= ID_LENGTH_MAX
}

function readableIds(fields: Fields): { readonly id?: string; readonly sessionId?: string } {
  const id = field(fields, 'id')
  const sessionId = field(fields, 'sessionId')
  return { ...(isId(id) && { id }), ...(isId(sessionId) && { sessionId }) }
}

function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

class Malformed extends Error {}

const SHOWN_LENGTH_MAX = 40

function malformed(path: string, expected: string, value: unknown): Malformed {
  return new Malformed(`${path} must be ${expected}, not ${shown(value)}`)
}

/** A foreign value for use in an error message: short, and never a whole transcript. */
function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  if (Array.isArray(value)) return 'an array'
  if (value === '') return 'empty'
  if (typeof value === 'string')
    return value.length > SHOWN_LENGTH_MAX ? `a string of ${value.length} characters` : JSON.stringify(value)
  return typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value)
}
