// Limits the rate of frames per address and per session.
import type { Clock } from '@baton/core/internal'
import type { ConnectionLimits } from './limits.ts'
import { createRateLimit } from '../shared/rate-limit.ts'

export interface FrameOrigin {
  /** `undefined` before the connection has a session. */
  readonly session: string | undefined
  readonly isTranscript: boolean
}

/** The error for a sender over its rate. */
export interface TooMuch {
  /** Ends with the wait, for apps of version 1. */
  readonly message: string
  /** Milliseconds until the same frame passes. */
  readonly retryAfterMs: number
}

export interface ConnectionRates {
  /** Counts a frame before it is parsed. `address` is the network address, or with a trusted proxy the one it names. */
  checkAddress(address: string): TooMuch | undefined
  /** The error for a parsed frame over its session's rate; `undefined` if it may pass. */
  check(frame: FrameOrigin): TooMuch | undefined
}

type RateNames = 'addressFramesPerMinute' | 'sessionFramesPerMinute' | 'sessionTranscriptsPerMinute'

/** One per server, since a session and an address may have many connections. */
export function createConnectionRates(limits: Pick<ConnectionLimits, RateNames>, clock: Clock): ConnectionRates {
  const addresses = createRateLimit({ perMinute: limits.addressFramesPerMinute, clock })
  const sessions = createRateLimit({ perMinute: limits.sessionFramesPerMinute, clock })
  const transcripts = createRateLimit({ perMinute: limits.sessionTranscriptsPerMinute, clock })

  const checkAddress = (address: string): TooMuch | undefined => {
    const waitMs = addresses.take(address)
    return waitMs > 0 ? tooMany(limits.addressFramesPerMinute, 'frames', { from: 'an address', waitMs }) : undefined
  }
  const check = ({ session, isTranscript }: FrameOrigin): TooMuch | undefined => {
    if (session === undefined) return undefined
    const from = 'a session'
    const sessionMs = sessions.take(session)
    if (sessionMs > 0) return tooMany(limits.sessionFramesPerMinute, 'frames', { from, waitMs: sessionMs })
    const transcriptMs = isTranscript ? transcripts.take(session) : 0
    if (transcriptMs > 0)
      return tooMany(limits.sessionTranscriptsPerMinute, 'transcripts', { from, waitMs: transcriptMs })
    return undefined
  }
  return { checkAddress, check }
}

function tooMany(
  most: number,
  what: string,
  { from, waitMs }: { readonly from: string; readonly waitMs: number },
): TooMuch {
  const message = `at most ${most} ${what} a minute are accepted from ${from}; send this one again later (retryAfterMs ${waitMs})`
  return { message, retryAfterMs: waitMs }
}
