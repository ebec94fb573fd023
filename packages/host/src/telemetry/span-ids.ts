// Span ids, hashed from a span's name in its session's log, so that every process gives a span the same id. An SDK asks
// its generator for ids: this one returns the derived ids, and random ones to other libraries.
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
  /** Runs `start` while the generator returns these ids. */
  use<Value>(ids: DerivedIds, start: () => Value): Value
}

/** Creates the `idGenerator` of one tracer provider, for use with `traceSessions`. */
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

/** Identifies a log. `birth` distinguishes sessions that had the same name one after the other. */
export interface LogName {
  readonly session: string
  readonly birth: string
}

/** The trace id of a turn that is not part of a caller's trace. */
export function deriveTraceId({ session, birth }: LogName, turn: number): string {
  return hash('sha256', JSON.stringify(['trace', session, birth, turn]), 'hex').slice(0, 32)
}

export function deriveSpanId({ session, birth }: LogName, key: string): string {
  return hash('sha256', JSON.stringify(['span', session, birth, key]), 'hex').slice(0, 16)
}

/** Parses a W3C trace context that the session has validated. */
export function readTraceparent(traceparent: string): DerivedIds & { readonly traceFlags: number } {
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-')
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) }
}
