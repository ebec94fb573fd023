// Mounts the Agent Client Protocol in a server with WebSockets: one JSON message per text frame.
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { Principal, Timers } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { HostWithSessions } from '../shared/check-options.ts'
import type { Socket } from '../shared/socket.ts'
import { CLOSE_CODES, closeSlow, waitForReader } from '../shared/socket.ts'
import type { AcpConnection, AcpOptions } from './options.ts'
import { createAcpFront } from './front.ts'

/** One editor on a WebSocket, as `createWebSocketFront` passes it messages. `close` sends the code and the reason. */
export interface AcpSocketConnection extends AcpConnection {
  close(code: number, reason: string): void
}

/**
 * Returns a function that serves one client connection, whose principal the server has authenticated. With
 * `createWebSocketFront`: `editors: createAcpSocket(host, { agent })`. The files that an editor offers are used only
 * for the sessions of its principal.
 * @throws BatonError `invalid_option`
 */
export function createAcpSocket(
  host: HostWithSessions,
  options: Omit<AcpOptions, 'principal'>,
): (socket: Socket, principal: Principal) => AcpSocketConnection {
  createAcpFront('createAcpSocket', host, options) // reports a wrong option at once
  return (socket, principal) => {
    const front = createAcpFront('createAcpSocket', host, { ...options, principal })
    const stream = createSocketStream(socket, front.parts.timers, front.parts.limits.requests)
    const connection = front.connect(stream, { isLocal: false })
    return {
      ...connection,
      close: (code, reason) => {
        socket.close(code, reason)
        connection.close()
      },
    }
  }
}

/** Unsent bytes above which writing pauses. */
const WAITING_BYTES = 1024 * 1024

function createSocketStream(socket: Socket, timers: Timers, mostUnread: number): Stream {
  let isOver = false
  const refuse = (code: number, message: string): void =>
    void socket.send(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }))
  const readable = new ReadableStream<AnyMessage>(
    {
      start: (controller) => {
        socket.onClose(() => {
          if (!isOver) controller.close()
          isOver = true
        })
        socket.onMessage((text) => {
          if (isOver) return
          const message = text === undefined ? undefined : decodeMessage(text, refuse)
          if (text === undefined) refuse(-32_600, 'a message must be a text frame')
          if (!message) return
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(message)
          else socket.close(CLOSE_CODES.policy, 'messages arrive faster than they are read')
        })
      },
      cancel: () => {
        isOver = true
        socket.close(CLOSE_CODES.goingAway, 'the server closed the connection')
      },
    },
    new CountQueuingStrategy({ highWaterMark: mostUnread }),
  )
  const writable = new WritableStream<AnyMessage>({
    write: async (message) => {
      socket.send(JSON.stringify(message))
      const wait = { timers, waitingBytes: WAITING_BYTES, isOver: () => isOver }
      if (!(await waitForReader(socket, wait))) closeSlow(socket)
    },
  })
  return { readable, writable }
}

/** Returns `undefined` for text that is not a message, after answering it. */
function decodeMessage(text: string, refuse: (code: number, message: string) => void): AnyMessage | undefined {
  const parsed = parseJson(text)
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value as object as AnyMessage // the SDK checks its fields
  if (parsed.ok) refuse(-32_600, 'a message must be a JSON object')
  else refuse(-32_700, 'the message is not JSON')
  return undefined
}
