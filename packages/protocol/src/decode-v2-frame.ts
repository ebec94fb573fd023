// Decodes the frames of a server of wire version 2, for clients. It does not import the shapes of the frames, which a
// page need not load.
import type { V2ServerFrame } from './v2-frames.ts'
import type { Fields } from './v2.ts'
import { isObject, parseObject } from './v2.ts'

/** Decodes a server's frame. Never throws. Returns undefined for text that is not a frame, and for frame types of a newer server. */
export function decodeV2ServerFrame(text: string): V2ServerFrame | undefined {
  const fields = parseObject(text)
  const check = typeof fields?.['type'] === 'string' ? SERVER_FRAMES[fields['type']] : undefined
  return fields && check?.(fields) ? (fields as unknown as V2ServerFrame) : undefined // typed as the server sends it
}

const isText = (value: unknown): boolean => typeof value === 'string'
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
