// Mounts chats over a WebSocket in a server that brings the connections.
import type { Principal } from '@baton/core'
import type { Socket } from '../shared/socket.ts'
import type { ChatConnection } from './chat-socket.ts'
import { openChatConnection } from './chat-socket.ts'
import type { HandledHost, HandlerOptions } from './handler-parts.ts'
import { createParts } from './handler-parts.ts'

/**
 * Serves each connection of a `WebSocketChatTransport`. The server has already found out who is behind it. With `createWebSocketFront`:
 * `chats: createChatSocket(host)`.
 * @throws BatonError `invalid_option` for a base path that does not begin with a slash, a limit that is not a whole number from 1, and peers
 * whose address or secret does not fit
 */
export function createChatSocket(
  host: HandledHost,
  options: Omit<HandlerOptions, 'authenticate' | 'origins' | 'hosts'> = {},
): (socket: Socket, principal: Principal, address?: string) => ChatConnection {
  const parts = createParts(host, options)
  return (socket, principal, address) => openChatConnection(parts, socket, principal, address)
}
