// Transports of model adapters. The one for Node has its own subpath, `@baton/models/transport/undici`, so that
// browsers never import undici.
export { createFetchTransport } from './fetch-transport.ts'
export type { FetchLike, FetchTransportOptions } from './fetch-transport.ts'
export { errorFromResponse, readErrorBody, codeOfStatus, readRetryAfterMs } from './http-errors.ts'
export type { HttpFailure, SaidError } from './http-errors.ts'
export { redact, listSecrets } from './redact.ts'
export { saysContextOverflow } from './refusals.ts'
export { createSseReader } from './sse.ts'
export type { SseEvent, SseReader } from './sse.ts'
export type { Time } from './deadlines.ts'
