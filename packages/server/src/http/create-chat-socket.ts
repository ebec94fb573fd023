// Mounts chats over a WebSocket in a server that brings the connections.
import type { Principal } from '@baton/core'
import type { Socket } from '../shared/socket.ts'
import type { ChatConnection } from './chat-socket.ts'
import { openChatConnection } from './chat-socket.ts'
import type { HandledHost, HandlerOptions } from './handler.ts'
import { createParts } from './handler.ts'

/**
 * For each connection of a `WebSocketChatTransport`; who is behind it, the server has found out. With `createWebSocketFront`:
 * `chats: createChatSocket(host)`.
 * @throws BatonError `invalid_option` for a base path that begins with no slash
 */
export function createChatSocket(
  host: HandledHost,
  options: Omit<HandlerOptions, 'authenticate' | 'origins' | 'hosts'> = {},
): (socket: Socket, principal: Principal) => ChatConnection {
  const parts = createParts(host, options)
  return (socket, principal) => openChatConnection(parts, socket, principal)
}
