// A connection without a network, for tests and simulations: what one end sends, the other reads from a list.
import type { Socket } from '../shared/socket.ts'

export interface MemorySocket {
  readonly socket: Socket
  /** Sent messages, in order. */
  readonly sent: readonly string[]
  /** Set by the side that closed it. */
  readonly closed: () => { readonly code: number; readonly reason: string } | undefined
  /** A message of the other side; `undefined` for one that is not text, and then its size. */
  deliver(text: string | undefined, bytes?: number): void
  /** The other side is gone. */
  drop(): void
  /** Nothing that is sent goes through any more, but nobody has noticed. */
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
