// The exports of @baton/server/http.
export { createHandler } from './handler.ts'
export type { RequestSource } from './handler.ts'
export type { HandlerOptions } from './handler-parts.ts'
export { createChatSocket } from './chat-socket.ts'
export type { ChatConnection } from './chat-socket.ts'
export type { Socket } from '../shared/socket.ts'
export { createNodeListener } from './node-listener.ts'
export type { ChatData, ChatMetadata, ChatTools } from './chat-types.ts'
