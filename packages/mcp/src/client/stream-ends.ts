// Over streamable HTTP each request is answered on a stream of its own. The SDK leaves a request open when its stream ends or breaks without
// the answer; here such a request is answered with an error at once.
import type { StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client'

/** Of the error that stands for the answer; `failure.ts` knows it by this. */
export const STREAM_ENDED = 'baton/stream-ended'

type Message = Parameters<NonNullable<Transport['onmessage']>>[0]

/** Called before the transport is connected; the SDK calls handlers that stand there before its own. */
export function answerAtStreamEnd(transport: StreamableHTTPClientTransport): void {
  const open = new Set<string | number>()
  let broke: string | undefined
  const before = transport.onmessage
  transport.onmessage = (message: Message) => {
    if (!('method' in message) && message.id !== undefined) open.delete(message.id)
    before?.(message)
  }
  // The SDK tells why a stream broke, and at once after that, that it ended.
  transport.onerror = ({ message }) => {
    broke = message
  }
  const send = transport.send.bind(transport)
  transport.send = async (message, options) => {
    const id = !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined
    if (id === undefined) return send(message, options)
    open.add(id)
    broke = undefined
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.()
      if (!open.delete(id)) return
      const error = { code: -32_000, message: broke ?? 'its stream ended without an answer', data: STREAM_ENDED }
      transport.onmessage?.({ jsonrpc: '2.0', id, error })
    }
    try {
      await send(message, { ...options, onRequestStreamEnd })
    } catch (cause) {
      open.delete(id)
      throw cause
    }
  }
}
