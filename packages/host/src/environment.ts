// The real environment for a host in Node: system clock, timers, randomness, digests, and HTTP over undici.
import { hash, randomUUID } from 'node:crypto'
import type { Environment, Transport } from '@baton/core/internal'
import { SYSTEM_TIME } from '@baton/runtime'
import { createUndiciTransport } from '@baton/models/transport/undici'

/** Creates the environment of a Node process. `transport` defaults to undici. */
export function createNodeEnvironment(transport: Transport = createUndiciTransport()): Environment {
  return {
    ...SYSTEM_TIME,
    // Copied into a flat string: `randomUUID` builds a rope of twenty pieces, which V8 would keep for every session and
    // connection.
    newId: () => Buffer.from(randomUUID(), 'latin1').toString('latin1'),
    transport,
  }
}

/** SHA-256 in base64url. */
export function digest(text: string): string {
  return hash('sha256', text, 'base64url')
}

/** SHA-256 in hex of the bytes encoded in a base64 string. */
export function digestMedia(base64: string): string {
  return hash('sha256', Buffer.from(base64, 'base64'), 'hex')
}
