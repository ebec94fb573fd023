// A connection without a network, for tests and simulations: messages sent by one side are read from a list.
import type { Socket } from '../shared/socket.ts'

export interface MemorySocket {
  readonly socket: Socket
  /** Sent messages, in order. */
  readonly sent: readonly string[]
  /** Set by the side that closed it. */
  readonly closed: () => { readonly code: number; readonly reason: string } | undefined
  /** Delivers a message from the other side; `undefined` for a non-text message, with its size. */
  deliver(text: string | undefined, bytes?: number): void
  /** Ends the connection as if the other side had disappeared. */
  drop(): void
  /** Stops delivering sent messages, without either side noticing. */
  jam(bufferedBytes?: number): void
}

export function createMemorySocket(): MemorySocket {
  const sent: string[] = []
  let closed: { readonly code: number; readonly reason: string } | undefined
  let jammed = false
  let waitingBytes = 0
  let takeMessage: (text: string | undefined, bytes?: number) => void = () => {}
  let takeClose: () => void = () => {}

  const end = (code: number, reason: string): void => {
    if (closed) return
    closed = { code, reason }
    takeClose()
  }
  return {
    socket: {
      send: (text) => {
        if (closed || jammed) return false
        sent.push(text)
        return true
      },
      close: end,
      bufferedBytes: () => waitingBytes,
      onMessage: (listener) => {
        takeMessage = listener
      },
      onClose: (listener) => {
        takeClose = listener
      },
    },
    sent,
    closed: () => closed,
    deliver: (text, bytes) => {
      if (!closed) takeMessage(text, bytes)
    },
    drop: () => end(1006, ''),
    jam: (bufferedBytes = 0) => {
      jammed = true
      waitingBytes = bufferedBytes
    },
  }
}
