// The real world for a host in Node: the system's clock, timers, randomness and digests, and HTTP by undici.
import { hash, randomUUID } from 'node:crypto'
import type { Environment, Transport } from '@baton/core'
import { createUndiciTransport } from '@baton/models/transport/undici'

/** setTimeout takes no longer delay; a caller that asks for more is called early and asks again. */
const DELAY_MAX_MS = 2 ** 31 - 1

/** `transport` is undici's by default. */
export function createNodeEnvironment(transport: Transport = createUndiciTransport()): Environment {
  return {
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    timers: {
      start: (delayMs, callback, { isBackground = false } = {}) => {
        const timer = setTimeout(callback, Math.min(delayMs, DELAY_MAX_MS))
        if (isBackground) timer.unref()
        return () => clearTimeout(timer)
      },
    },
    // Flattened: `randomUUID` joins twenty pieces, and V8 would keep them with every session and connection.
    newId: () => Buffer.from(randomUUID(), 'latin1').toString('latin1'),
    transport,
  }
}

/** SHA-256 in base64url. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** SHA-256 in hex, of the bytes that a base64 text holds. */
export function digestMedia(base64: string): string {
  return hash('sha256', Buffer.from(base64, 'base64'), 'hex')
}
