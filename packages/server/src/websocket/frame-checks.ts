// Checks a frame before it is processed: too large, too much data, too often, or not now. It changes nothing but
// counts.
import type { Refused } from '@baton/core/internal'
import type { ClientFrame } from '@baton/protocol'
import type { Message } from './app-frames.ts'
import type { SessionFollower } from './v1-follower.ts'
import type { AppConnectionOptions } from './connection-options.ts'

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
