// The exports of @baton/server/websocket.
export { createWebSocketFront } from './server.ts'
export type { WebSocketFront } from './server.ts'
export type { WebSocketFrontOptions } from './connection-options.ts'
