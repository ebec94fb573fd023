// The exports of @baton/host/opentelemetry, the only part of Baton that needs @opentelemetry/api.
export { traceSessions } from './trace-sessions.ts'
export type { Tracing, TracingOptions } from './trace-sessions.ts'
export { createSpanIds } from './span-ids.ts'
export type { SpanIds } from './span-ids.ts'
export { meterSessions } from './meter-sessions.ts'
