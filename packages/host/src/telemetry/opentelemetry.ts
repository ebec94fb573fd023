// The exports of @baton/host/opentelemetry, the only part of Baton that needs @opentelemetry/api.
export { traceSessions } from './trace-sessions.ts'
export type { TracingOptions } from './trace-sessions.ts'
export { createSpanIds } from './span-ids.ts'
export { meterSessions } from './meter-sessions.ts'
