// Mounts chats over WebSockets in a server that provides the connections.
import type { Principal } from '@baton/core'
import { checkOptions, demandHost } from '../shared/check-options.ts'
import type { Socket } from '../shared/socket.ts'
import type { ChatConnection } from './chat-socket.ts'
import { openChatConnection } from './chat-socket.ts'
import type { HandledHost, HandlerOptions } from './handler-parts.ts'
import { createParts, HANDLER_OPTIONS } from './handler-parts.ts'

/**
 * Returns a function that serves one connection of a `WebSocketChatTransport`, whose principal the server has
 * authenticated. With `createWebSocketFront`: `chats: createChatSocket(host)`.
 * @throws BatonError `invalid_option` without a host, for a misspelt option, a base path that does not begin with a
 * slash, a limit that is not a whole number of at least 1, and peers with an invalid address or secret
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
