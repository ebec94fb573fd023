// Posts a request and stops waiting once its answer is complete: gateways keep a connection open after it, with or
// without keep-alives. The connection gets a moment to end by itself, so that it can be reused.
import type { AbortSignalLike, Clock, HttpHead, Timers } from '@baton/core/internal'
import { BatonError, readMonotonicMs } from '@baton/core/internal'
import { describePlace } from './redact.ts'

/**
 * Progress of an answer. `ended`: it has a finish reason. `doubtful`: it has one, but continued after an earlier one.
 * `whole`: nothing can follow.
 */
export type AnswerProgress = 'open' | 'ended' | 'doubtful' | 'whole'

export interface Heard {
  readonly progress: AnswerProgress
  /** Grows with the answer's contents; comments and pings do not count. */
  readonly heard: number
}

export interface WholeAnswerOptions {
  readonly post: (signal: AbortSignalLike, onBytes: (bytes: Uint8Array, head: HttpHead) => void) => Promise<HttpHead>
  readonly reader: { push(bytes: Uint8Array, head: HttpHead): void } & Heard
  readonly signal: AbortSignalLike
  readonly clock: Clock
  readonly timers: Timers
  /** Maximum milliseconds with nothing but keep-alives. */
  readonly keepAliveTimeoutMs: number
  readonly url: string
}

/** Milliseconds of silence after a finish reason before an answer counts as complete. */
export const QUIET_MS = 2000
/** The same if an earlier finish reason was not the end. */
export const DOUBTFUL_QUIET_MS = 10_000
const QUIETS: Readonly<Partial<Record<AnswerProgress, number>>> = { ended: QUIET_MS, doubtful: DOUBTFUL_QUIET_MS }
/** Milliseconds a connection may take to end after a complete answer before it is closed. */
const LINGER_MS = 1000

/** @throws BatonError of the transport and the reader, and `model_timeout` if only keep-alives arrive */
export function postUntilWhole(init: WholeAnswerOptions): Promise<HttpHead> {
  const { reader, signal, clock, timers, keepAliveTimeoutMs, url } = init
  const closing = new AbortController()
  const close = (): void => closing.abort(signal.reason)
  if (signal.aborted) close()
  signal.addEventListener('abort', close, { once: true })
  let heardMs = readMonotonicMs(clock)
  let heard = reader.heard
  let isOver = false
  let stopQuiet = (): void => {}
  let stopLingering = (): void => {}
  return new Promise((resolve, reject) => {
    const giveWhole = (head: HttpHead): void => {
      isOver = true
      stopQuiet()
      stopLingering = timers.start(LINGER_MS, close)
      resolve(head)
    }
    const onBytes = (bytes: Uint8Array, head: HttpHead): void => {
      if (isOver) return // the answer was already returned
      reader.push(bytes, head)
      if (reader.progress === 'whole') giveWhole(head)
      else if (reader.heard !== heard) {
        heard = reader.heard
        heardMs = readMonotonicMs(clock)
        stopQuiet()
        const quietMs = QUIETS[reader.progress]
        if (quietMs !== undefined) stopQuiet = timers.start(quietMs, () => giveWhole(head))
      } else if (readMonotonicMs(clock) - heardMs >= keepAliveTimeoutMs) throw onlyAlive(url, keepAliveTimeoutMs)
    }
    const end = (): void => {
      isOver = true
      stopQuiet()
      stopLingering()
      signal.removeEventListener('abort', close)
    }
    init.post(closing.signal, onBytes).then(
      (head) => {
        end()
        resolve(head)
      },
      (cause: unknown) => {
        end()
        reject(cause)
      },
    )
  })
}

function onlyAlive(url: string, timeoutMs: number): BatonError {
  return new BatonError({
    code: 'model_timeout',
    message: `${describePlace(url)} sent nothing but keep-alives for ${timeoutMs} ms`,
    data: { phase: 'between-bytes', timeoutMs },
  })
}
