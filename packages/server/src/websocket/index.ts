// The exports of @baton/server/websocket.
export { createWebSocketFront } from './server.ts'
export type { WebSocketFront, WebSocketFrontOptions } from './server.ts'
