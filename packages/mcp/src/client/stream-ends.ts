// Over streamable HTTP each request gets its answer on a separate stream. If the stream ends or breaks without the
// answer, the SDK leaves the request open; if the request is cancelled, the SDK leaves the stream open (before
// 2026-07-28). This file ends both at once.
import type { SSEClientTransport, StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client'
import { SseError } from '@modelcontextprotocol/client'

/** Marks the error that replaces the answer; `failure.ts` recognizes it. */
export const STREAM_ENDED = 'baton/stream-ended'

type Message = Parameters<NonNullable<Transport['onmessage']>>[0]

/** Call it before the transport connects: the SDK calls existing handlers before its own. */
export function answerAtStreamEnd(transport: StreamableHTTPClientTransport): void {
  const open = new Map<string | number, AbortController>()
  let broke: string | undefined
  const before = transport.onmessage
  transport.onmessage = (message: Message) => {
    if (!('method' in message) && message.id !== undefined) open.delete(message.id)
    before?.(message)
  }
  // The SDK reports why a stream broke, and then that it ended.
  transport.onerror = ({ message }) => {
    broke = message
  }
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    const id = !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined
    if (id === undefined) {
      await send(message, options)
      const cancelled = readCancelled(message)
      if (cancelled === undefined) return
      open.get(cancelled)?.abort()
      open.delete(cancelled)
      return
    }
    const stream = new AbortController()
    open.set(id, stream)
    broke = undefined
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.()
      if (!open.delete(id)) return
      const error = { code: -32_000, message: broke ?? 'its stream ended without a response', data: STREAM_ENDED }
      transport.onmessage?.({ jsonrpc: '2.0', id, error })
    }
    try {
      await send(message, { ...options, requestSignal: options?.requestSignal ?? stream.signal, onRequestStreamEnd })
    } catch (cause) {
      open.delete(id)
      throw cause
    }
  }
}

/**
 * The older transport has one stream for all answers. When it ends, the SDK opens another one with another session, and
 * the missing answers never arrive; this ends the connection instead. Call it before the transport connects, and the
 * returned function afterwards.
 */
export function endAtStreamEnd(transport: SSEClientTransport): () => void {
  let isConnected = false
  const before = transport.onerror
  transport.onerror = (error) => {
    before?.(error)
    if (!isConnected || !(error instanceof SseError)) return
    isConnected = false
    transport.close().catch(() => {
      // Already closed.
    })
  }
  return () => {
    isConnected = true
  }
}

/** The id of the request that the message cancels. */
function readCancelled(message: Message | Message[]): string | number | undefined {
  if (Array.isArray(message) || !('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const id: unknown = message.params?.['requestId']
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}
