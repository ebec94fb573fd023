// Exports of @baton/protocol, for servers and clients.
export * from './v1.ts'
export * from './v1-schema.ts'
export * from './decode-frame.ts'
export * from './v2.ts'
export * from './v2-requests.ts'
export * from './v2-schema.ts'
export * from './decode-v2-frame.ts'
