// The AI SDK's transports as they are, with two things that a page has to know: whether it is being asked if there is an answer
// to resume, and that a server which says "later" is no refusal.
import type { ChatTransport, UIMessage } from 'ai'
import { DefaultChatTransport, WebSocketChatTransport } from 'ai'

export interface PageTransport {
  readonly transport: ChatTransport<UIMessage>
  /** Whether the server has not said yet if there is an answer to resume: what is sent meanwhile would mix with it. */
  readonly isResuming: () => boolean
  /** Calls `tell` at each change, until what is returned is called. */
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

/** 503: the server restarts, or another one that has the chat has died. The page tries again as after a lost connection. */
const askPatiently: typeof fetch = async (address, init) => {
  const response = await fetch(address, init)
  if (response.status === 503) throw new TypeError(await response.text())
  return response
}
