// The ids of spans: hashes of what names a span in its session's log, so that every process gives a span the same id. An SDK
// asks its generator for ids; the generator here gives those that were derived, and random ones to other libraries.
import { hash, randomBytes } from 'node:crypto'

export interface DerivedIds {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
}

/** The `idGenerator` of an SDK's tracer provider. */
export interface SpanIds {
  generateTraceId(): string
  generateSpanId(): string
  /** Runs `start`, in which the generator gives these ids. */
  use<Value>(ids: DerivedIds, start: () => Value): Value
}

/** For the `idGenerator` of one tracer provider, and for `traceSessions`. */
export function createSpanIds(): SpanIds {
  let given: DerivedIds | undefined
  return {
    generateTraceId: () => given?.traceId ?? randomBytes(16).toString('hex'),
    generateSpanId: () => given?.spanId ?? randomBytes(8).toString('hex'),
    use: (ids, start) => {
      given = ids
      try {
        return start()
      } finally {
        given = undefined
      }
    },
  }
}

/** `birth` tells apart two sessions that had one name, one after the other. */
export interface LogName {
  readonly session: string
  readonly birth: string
}

/** The trace id of a turn that belongs to no caller's trace. */
export function deriveTraceId({ session, birth }: LogName, turn: number): string {
  return hash('sha256', JSON.stringify(['trace', session, birth, turn]), 'hex').slice(0, 32)
}

export function deriveSpanId({ session, birth }: LogName, key: string): string {
  return hash('sha256', JSON.stringify(['span', session, birth, key]), 'hex').slice(0, 16)
}

/** A W3C trace context that the session has checked. */
export function readTraceparent(traceparent: string): DerivedIds & { readonly traceFlags: number } {
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) }
}
