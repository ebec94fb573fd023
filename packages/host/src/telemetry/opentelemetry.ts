// The exports of @baton/host/opentelemetry. Nothing else of Baton needs @opentelemetry/api.
export { traceSessions } from './trace-sessions.ts'
export type { Tracing, TracingOptions } from './trace-sessions.ts'
export { createSpanIds } from './span-ids.ts'
export type { DerivedIds, SpanIds } from './span-ids.ts'
export { meterSessions } from './meter-sessions.ts'
export type { MeterOptions } from './meter-sessions.ts'
