// The real environment in Node: the system's clock, timers and digests.
import type { Environment } from '@baton/core'
import { hash } from 'node:crypto'

/** The longest delay `setTimeout` accepts. A longer timer fires early, and its caller sets it again. */
const DELAY_MAX_MS = 2 ** 31 - 1

export const NODE_WORLD: Pick<Environment, 'clock' | 'timers'> = {
  clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
  timers: {
    start: (delayMs, callback, { isBackground = false } = {}) => {
      const timer = setTimeout(callback, Math.min(delayMs, DELAY_MAX_MS))
      if (isBackground) timer.unref()
      return () => clearTimeout(timer)
    },
  },
}

/** SHA-256 in base64url. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** SHA-256 in hex of the bytes encoded in a base64 string. */
export function digestMedia(base64: string): string {
  return hash('sha256', Buffer.from(base64, 'base64'), 'hex')
}
