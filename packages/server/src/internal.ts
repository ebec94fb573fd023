// Parts of the fronts for the command and test kits. @internal: names may change in any version.
export type { AcpMcpServer, AcpOptions, AcpPlace } from './acp/options.ts'
export { createTokenVerifier } from './auth/verify-tokens.ts'
export type { TokenRequest, TokenVerifierOptions } from './auth/verify-tokens.ts'
export { DEFAULT_HTTP_LIMITS } from './http/handler-parts.ts'
export type { HandlerOptions, HttpLimits } from './http/handler-parts.ts'
export { findPowersIssue } from './http/operator-powers.ts'
export type { AllowedSettings } from './shared/allowed-settings.ts'
export { readBearerToken } from './shared/bearer-token.ts'
export type { Identity, NoLink, PeerOptions } from './shared/peer-identity.ts'
export { checkPeers } from './shared/peer-identity.ts'
export { isSameSecret } from './shared/same-secret.ts'
export type { Socket } from './shared/socket.ts'
export { isLoopback } from './websocket/admission.ts'
export type { PeerLink, PeerLinkOptions } from './websocket/connect-to-peer.ts'
export { createConnectionRates, DEFAULT_CONNECTION_LIMITS } from './websocket/limits.ts'
export type { ConnectionRates, ConnectionLimits } from './websocket/limits.ts'
export type {
  AppConnectionOptions,
  WebSocketFrontOptions,
  WebSocketServerOptions,
} from './websocket/connection-options.ts'
export type { TlsFiles } from './websocket/listen.ts'
export { createMemorySocket } from './websocket/memory-socket.ts'
export type { MemorySocket } from './websocket/memory-socket.ts'
export type { WebSocketFront } from './websocket/server.ts'
export { openV1Connection } from './websocket/v1-session.ts'
export { openV2Connection } from './websocket/v2-connection.ts'
export { DeviceNames } from './websocket/v2-device.ts'
