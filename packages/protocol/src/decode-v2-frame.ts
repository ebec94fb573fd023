// Reads frames of wire version 2. Never throws. It only checks the envelope: the session checks a request's fields, and
// names the wrong one.
import type { V2ClientFrame, RequestType, Requests } from './v2-requests.ts'
import type { V2ServerFrame } from './v2.ts'

/** Maximum characters of a request's id. */
export const REQUEST_ID_LENGTH_MAX = 128

export type V2Decoded<Frame> =
  | { readonly ok: true; readonly frame: Frame }
  | {
      readonly ok: false
      /** The request's id, if it could be read. */
      readonly re?: string
      readonly code: 'invalid_event'
      readonly message: string
      /** The type of a request that does not exist. */
      readonly unknown?: string
    }

/** The types of all requests. */
export const REQUEST_TYPES: Readonly<Record<RequestType, true>> = {
  ping: true,
  'session.open': true,
  'session.close': true,
  'session.info': true,
  'session.messages': true,
  'session.describe': true,
  'session.configure': true,
  'session.control': true,
  'session.fork': true,
  'session.list': true,
  'session.watch': true,
  'session.delete': true,
  'input.send': true,
  'input.hear': true,
  'input.notify': true,
  'input.withdraw': true,
  'input.rewind': true,
  'turn.interrupt': true,
  'speech.played': true,
  'approval.decide': true,
  'question.answer': true,
  'device.attach': true,
  'device.release': true,
  'call.claim': true,
  'call.result': true,
  'model.pieces': true,
  'model.result': true,
} satisfies Record<keyof Requests, true>

/** Decodes an app's frame. A request of an unknown type is an error: the app waits for an answer. */
export function decodeV2ClientFrame(text: string): V2Decoded<V2ClientFrame> {
  const fields = parseObject(text)
  if (!fields) return refuse('a frame must be the JSON text of an object')
  const { id, type } = fields
  if (typeof id !== 'string' || id === '' || id.length > REQUEST_ID_LENGTH_MAX)
    return refuse(`id must be text of 1 to ${REQUEST_ID_LENGTH_MAX} characters`)
  if (typeof type !== 'string') return refuse('type must be text', id)
  if (!Object.hasOwn(REQUEST_TYPES, type))
    return { ...refuse(`there is no request "${type.slice(0, 80)}"`, id), unknown: type }
  return { ok: true, frame: fields as unknown as V2ClientFrame } // its other fields are read one by one where they are used
}

/** Decodes a server's frame. Returns undefined for text that is not a frame, and for frame types of a newer server. */
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

function refuse(message: string, re?: string): V2Decoded<never> & { readonly ok: false } {
  return { ok: false, code: 'invalid_event', message, ...(re !== undefined && { re }) }
}

function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) && !Array.isArray(value) ? (value as Fields) : undefined
  } catch {
    return undefined
  }
}
