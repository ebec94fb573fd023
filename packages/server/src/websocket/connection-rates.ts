// Which frames come too often, by the address and by the session that they come from.
import type { Clock } from '@baton/core'
import type { ConnectionLimits } from './limits.ts'
import { createRateLimit } from '../shared/rate-limit.ts'

export interface FrameOrigin {
  /** Undefined before the connection has a session. */
  readonly session: string | undefined
  readonly isTranscript: boolean
}

/** What the sender of too much is told. */
export interface TooMuch {
  /** Ends with the wait, for apps of version 1. */
  readonly message: string
  /** Milliseconds after which the same passes. */
  readonly retryAfterMs: number
}

export interface ConnectionRates {
  /** Of a frame that is not parsed yet. `address` is of the network; with a trusted proxy, the one that the proxy names. */
  checkAddress(address: string): TooMuch | undefined
  /** What to tell the sender of a parsed frame that is one too many for its session; undefined for one that may pass. */
  check(frame: FrameOrigin): TooMuch | undefined
}

type RateNames = 'addressFramesPerMinute' | 'sessionFramesPerMinute' | 'sessionTranscriptsPerMinute'

/** One for a whole server, since a session and an address have many connections. */
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
  const message = `at most ${most} ${what} a minute are taken from ${from}; send this one again later (retryAfterMs ${waitMs})`
  return { message, retryAfterMs: waitMs }
}
