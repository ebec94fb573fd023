// Which frames come too often, by the address and by the session that they come from.
import type { Clock } from '@baton/core'
import type { V1Limits } from './limits.ts'
import { createRateLimit } from './rate-limit.ts'

export interface FrameOrigin {
  /** Of the network; with a trusted proxy, the one that the proxy names. */
  readonly address: string
  /** Undefined before the connection has a session. */
  readonly session: string | undefined
  readonly isTranscript: boolean
}

export interface V1Rates {
  /** What to tell the sender of a frame that is one too many; undefined for one that may pass. */
  check(frame: FrameOrigin): string | undefined
}

type RateNames = 'addressFramesPerMinute' | 'sessionFramesPerMinute' | 'sessionTranscriptsPerMinute'

/** One for a whole server, since a session and an address have many connections. */
export function createV1Rates(limits: Pick<V1Limits, RateNames>, clock: Clock): V1Rates {
  const addresses = createRateLimit({ perMinute: limits.addressFramesPerMinute, clock })
  const sessions = createRateLimit({ perMinute: limits.sessionFramesPerMinute, clock })
  const transcripts = createRateLimit({ perMinute: limits.sessionTranscriptsPerMinute, clock })

  const check = ({ address, session, isTranscript }: FrameOrigin): string | undefined => {
    const addressMs = addresses.take(address)
    if (addressMs > 0)
      return tooMany(limits.addressFramesPerMinute, 'frames', { from: 'an address', waitMs: addressMs })
    if (session === undefined) return undefined
    const from = 'a session'
    const sessionMs = sessions.take(session)
    if (sessionMs > 0) return tooMany(limits.sessionFramesPerMinute, 'frames', { from, waitMs: sessionMs })
    const transcriptMs = isTranscript ? transcripts.take(session) : 0
    if (transcriptMs > 0)
      return tooMany(limits.sessionTranscriptsPerMinute, 'transcripts', { from, waitMs: transcriptMs })
    return undefined
  }
  return { check }
}

function tooMany(most: number, what: string, { from, waitMs }: { readonly from: string; readonly waitMs: number }) {
  return `at most ${most} ${what} a minute are taken from ${from}; send this one again later (retryAfterMs ${waitMs})`
}
