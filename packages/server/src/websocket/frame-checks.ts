// Checks a frame of either version before it is processed: too large, too much data, too often, or not now. It changes
// nothing but counts.
import type { Refused, ErrorCode } from '@baton/core/internal'
import { findNearName } from '@baton/core/internal'
import type { ClientFrame, V2ClientFrame } from '@baton/protocol'
import { REQUESTS, decodeV2ClientFrame } from '@baton/protocol'
import type { Message } from './app-frames.ts'
import type { SessionFollower } from './v1-follower.ts'
import type { AppConnectionOptions } from './connection-options.ts'
import type { TooMuch } from './limits.ts'
import type { Followed, V2ConnectionOptions } from './v2-state.ts'

/** The parts of a connection needed to check its frames. */
export interface CheckedConnection {
  readonly init: AppConnectionOptions
  readonly follower: Pick<SessionFollower, 'isBusy' | 'awaits'> | undefined
  readonly sessionId: string | undefined
}

export type Problem = Pick<Refused, 'code' | 'message'>

const RESULT = /"type"\s{0,9}:\s{0,9}"tool\.result"/
const TRANSCRIPT = /"type"\s{0,9}:\s{0,9}"user\.audio\.transcript\.final"/

/** Refuses frames over a rate without parsing them, except results that a running turn waits for. */
export function checkUnparsed({ init, follower }: CheckedConnection, { text, bytes }: Message): Problem | undefined {
  const { limits, rates, quotas, address = '' } = init
  const isResult = text !== undefined && RESULT.test(text)
  if (isResult && follower?.isBusy()) return undefined
  const tooOften = rates?.checkAddress(address)
  if (tooOften !== undefined) return { code: 'rate_limited', message: tooOften.message }
  const tooMuch = quotas?.takeBytes(address, bytes)
  if (tooMuch !== undefined) return { code: 'quota_exceeded', message: tooMuch.message }
  return isResult ? undefined : checkSize(bytes, limits.eventBytes, text !== undefined && TRANSCRIPT.test(text))
}

/** Only a result may be larger, and only its parsed type proves that it is one. */
export function checkParsedSize({ init }: CheckedConnection, frame: ClientFrame, bytes: number): Problem | undefined {
  if (frame.type === 'tool.result') return undefined
  return checkSize(bytes, init.limits.eventBytes, frame.type === 'user.audio.transcript.final')
}

function checkSize(bytes: number, most: number, isTranscript: boolean): Problem | undefined {
  if (bytes <= most) return undefined
  const code = isTranscript ? 'invalid_transcript' : 'invalid_event'
  return { code, message: `the frame has ${bytes} bytes; at most ${most} are accepted` }
}

/** Always accepts a requested result, because its turn waits for it. */
export function checkRates(
  { init, follower, sessionId }: CheckedConnection,
  frame: ClientFrame | undefined,
): string | undefined {
  if (frame?.type === 'tool.result' && frame.sessionId === sessionId && follower?.awaits(frame.payload.callId))
    return undefined
  const isTranscript = frame?.type === 'user.audio.transcript.final'
  return init.rates?.check({ session: sessionId, isTranscript })?.message
}

/** Why a user's words are refused, before the session is asked. */
export function findTranscriptProblem(
  { init }: CheckedConnection,
  { sessionId, payload }: Extract<ClientFrame, { readonly type: 'user.audio.transcript.final' }>,
): Problem | undefined {
  const { quotas, address = '', principal, countsPrincipal = false, isDraining } = init
  if (payload.text.trim() === '') return { code: 'invalid_transcript', message: 'payload.text has no words' }
  if (isDraining()) return { code: 'server_draining', message: 'the server is shutting down and starts no new turn' }
  const origin = { address, principal: countsPrincipal ? principal.id : undefined }
  const tooMany = quotas?.checkTurn(origin, sessionId)
  return tooMany === undefined ? undefined : { code: 'quota_exceeded', message: tooMany }
}

type CheckedRequest =
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
