// Mounts chats over a WebSocket in a server that brings the connections.
import type { Principal } from '@baton/core'
import { checkOptions, demandHost } from '../shared/check-options.ts'
import type { Socket } from '../shared/socket.ts'
import type { ChatConnection } from './chat-socket.ts'
import { openChatConnection } from './chat-socket.ts'
import type { HandledHost, HandlerOptions } from './handler-parts.ts'
import { createParts, HANDLER_OPTIONS } from './handler-parts.ts'

/**
 * Serves each connection of a `WebSocketChatTransport`. The server has already found out who is behind it. With `createWebSocketFront`:
 * `chats: createChatSocket(host)`.
 * @throws BatonError `invalid_option` without a host, for a misspelt option, a base path that does not begin with a slash, a limit that is not a whole number from 1, and peers
 * whose address or secret does not fit
 */
export function createChatSocket(
  host: HandledHost,
  options: Omit<HandlerOptions, 'authenticate' | 'origins' | 'hosts'> = {},
): (socket: Socket, principal: Principal, address?: string) => ChatConnection {
  demandHost(host, 'createChatSocket(host, options)')
  checkOptions(options, { what: 'createChatSocket', ...HANDLER_OPTIONS })
  const parts = createParts(host, options)
  return (socket, principal, address) => openChatConnection(parts, socket, principal, address)
}
