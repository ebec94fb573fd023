// Checks a frame of version 2 before it is processed: too large, too much data, too often, or not a request.
import type { ErrorCode } from '@baton/core/internal'
import { findNearName } from '@baton/core/internal'
import type { V2ClientFrame } from '@baton/protocol'
import { REQUESTS, decodeV2ClientFrame } from '@baton/protocol'
import type { TooMuch } from './quotas.ts'
import type { Message } from './app-frames.ts'
import type { Followed, V2ConnectionOptions } from './v2-state.ts'

export type CheckedRequest =
  | { readonly ok: true; readonly frame: V2ClientFrame; readonly text: string }
  | {
      readonly ok: false
      readonly re?: string
      readonly code: ErrorCode
      readonly message: string
      /** Milliseconds until it passes, if known. */
      readonly retryAfterMs?: number
      /** Whether it was refused without parsing. */
      readonly isUnread: boolean
    }

/** Frames that a running turn waits for always pass. */
const OF_CALL = /"type"\s{0,9}:\s{0,9}"(?:call\.(?:claim|result)|model\.(?:pieces|result))"/
/** These may contain pictures or results. */
const LARGE: ReadonlySet<V2ClientFrame['type']> = new Set([
  'input.send',
  'input.rewind',
  'call.result',
  'device.attach',
  'model.pieces',
  'model.result',
])
/** These start turns. */
const SPOKEN: ReadonlySet<V2ClientFrame['type']> = new Set(['input.send', 'input.notify', 'input.rewind'])

export function checkRequest(
  init: V2ConnectionOptions,
  { text, bytes }: Message,
  followed: Followed | undefined,
): CheckedRequest {
  if (text === undefined) return refuse('invalid_event', { message: 'a message must be text, not bytes' })
  const { limits, rates } = init
  const looksOfCall = followed !== undefined && followed.activity !== 'idle' && OF_CALL.test(text)
  const tooMuch = looksOfCall ? undefined : count(init, text, bytes)
  if (tooMuch) return tooMuch
  const decoded = decodeV2ClientFrame(text)
  const isOfCall = looksOfCall && decoded.ok && isOfOpenCall(decoded.frame, followed)
  // A frame that merely contains those words counts like any other.
  const tooMuchAfterAll = looksOfCall && !isOfCall ? count(init, text, bytes) : undefined
  if (tooMuchAfterAll) return tooMuchAfterAll
  if (!decoded.ok) {
    const { re, code, message, unknown = '' } = decoded
    const meant = findNearName(Object.keys(REQUESTS), unknown)
    const told = meant === undefined ? message : `${message}; it is called "${meant}" here`
    return { ok: false, code, message: told, isUnread: false, ...(re !== undefined && { re }) }
  }
  const { frame } = decoded
  const { id: re, type } = frame
  if (bytes > limits.eventBytes && !LARGE.has(type)) {
    const message = `the frame has ${bytes} bytes; a ${type} may have at most ${limits.eventBytes}`
    return { ok: false, re, code: 'input_too_large', message, isUnread: false }
  }
  if (isOfCall) return { ok: true, frame, text }
  const tooMany = rates?.check({ session: followed?.session.id, isTranscript: SPOKEN.has(type) })
  if (tooMany !== undefined) return { ok: false, re, code: 'rate_limited', ...tooMany, isUnread: false }
  return { ok: true, frame, text }
}

/** Checks the frame against the rates of its address. */
function count(
  { rates, quotas, address = '' }: V2ConnectionOptions,
  text: string,
  bytes: number,
): CheckedRequest | undefined {
  const tooOften = rates?.checkAddress(address)
  if (tooOften !== undefined) return refuse('rate_limited', tooOften, text)
  const tooMuch = quotas?.takeBytes(address, bytes)
  return tooMuch === undefined ? undefined : refuse('quota_exceeded', tooMuch, text)
}

function isOfOpenCall(frame: V2ClientFrame, { session, models }: Followed): boolean {
  if (frame.type === 'model.pieces' || frame.type === 'model.result') return models?.awaits(frame) === true
  if (frame.type !== 'call.claim' && frame.type !== 'call.result') return false
  return session.openCall(frame.callId)?.settled === false
}

/** Finds the id of a frame refused without parsing, if it is near the front. */
function refuse(code: ErrorCode, told: Pick<TooMuch, 'message'> & Partial<TooMuch>, text = ''): CheckedRequest {
  const re = ID.exec(text.slice(0, HEAD_CHARS))?.[1]
  return { ok: false, code, ...told, isUnread: true, ...(re !== undefined && { re }) }
}

const HEAD_CHARS = 300
const ID = /"id"\s{0,9}:\s{0,9}"([^"\\]{1,128})"/
