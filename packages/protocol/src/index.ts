// Frames of both protocol versions and their decoders, for servers and clients. @internal: the wire is stable, the names
// of these types are not.
export * from './v1.ts'
export * from './v1-schema.ts'
export * from './decode-frame.ts'
export { CLOSE_CODES_2, PROTOCOL_VERSION_2, SUBPROTOCOL } from './v2.ts'
export * from './decode-v2-frame.ts'
export * from './v2-requests.ts'
export * from './v2-frames.ts'
