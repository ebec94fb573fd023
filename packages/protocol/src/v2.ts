// Constants of wire version 2, and the decoder of a client. Session events are sent unchanged. It does not import the
// shapes of the frames, which a page need not load.
import type { V2ServerFrame } from './v2-frames.ts'

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

/** Decodes a server's frame. Never throws. Returns undefined for text that is not a frame, and for frame types of a newer server. */
export function decodeV2ServerFrame(text: string): V2ServerFrame | undefined {
  const fields = parseObject(text)
  const check = typeof fields?.['type'] === 'string' ? SERVER_FRAMES[fields['type']] : undefined
  return fields && check?.(fields) ? (fields as unknown as V2ServerFrame) : undefined // typed as the server sends it
}

type Fields = Readonly<Record<string, unknown>>

const isText = (value: unknown): boolean => typeof value === 'string'
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null
const isOfAnswer = ({ message, next }: Fields): boolean => isText(message) && isObject(next)

/** Without a prototype, whose property names are not frame types. */
const SERVER_FRAMES: Readonly<Record<string, ((fields: Fields) => boolean) | null>> = {
  __proto__: null,
  hello: ({ limits }) => isObject(limits),
  ok: ({ re }) => isText(re),
  error: ({ code, message }) => isText(code) && isText(message),
  events: ({ events, next }) => Array.isArray(events) && isObject(next),
  sentence: isOfAnswer,
  'sentences.dropped': isOfAnswer,
  'model.run': isObject,
  'model.cancel': isObject,
  'session.closed': ({ session }) => isText(session),
  'session.changed': ({ change }) => isObject(change),
}

/** The fields of a JSON object; undefined for other text. */
export function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}
