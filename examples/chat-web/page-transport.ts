// The AI SDK's transports, with two additions for a page: it can ask whether a resume request is still open, and a 503 counts as
// a lost connection, not as a refusal.
import type { ChatTransport, UIMessage } from 'ai'
import { DefaultChatTransport, WebSocketChatTransport } from 'ai'

export interface PageTransport {
  readonly transport: ChatTransport<UIMessage>
  /**
   * Whether the server has yet to say if there is an answer to resume: a message sent meanwhile would mix with that
   * answer.
   */
  readonly isResuming: () => boolean
  /** Calls `tell` at each change. Returns a function that unsubscribes it. */
  readonly subscribe: (tell: () => void) => () => void
}

export function createPageTransport(over: 'http' | 'websocket'): PageTransport {
  const listeners = new Set<() => void>()
  let resuming = 0
  const count = (change: 1 | -1): void => {
    resuming += change
    for (const tell of listeners) tell()
  }
  const transport: ChatTransport<UIMessage> =
    over === 'websocket'
      ? new WebSocketChatTransport({ url: '/api/chat' })
      : new DefaultChatTransport({ api: '/api/chat', fetch: askPatiently })
  const reconnect = transport.reconnectToStream.bind(transport)
  transport.reconnectToStream = async (options) => {
    count(1)
    try {
      return await reconnect(options)
    } finally {
      count(-1)
    }
  }
  return {
    transport,
    isResuming: () => resuming > 0,
    subscribe: (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
  }
}

/**
 * A 503 means that the server is restarting, or that the server holding the chat has died: the page retries as after a
 * lost connection.
 */
const askPatiently: typeof fetch = async (address, init) => {
  const response = await fetch(address, init)
  if (response.status === 503) throw new TypeError(await response.text())
  return response
}
