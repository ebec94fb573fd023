// A `ws` connection for fronts: everything sent in one turn of the event loop becomes one write.
import type { Timers } from '@baton/core/internal'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Socket } from '../shared/socket.ts'
import { countBytes, decodeText, encodeTextFrames } from './text-frames.ts'

/** Milliseconds for an app to answer a close. */
export const CLOSING_MS = 2000

export class WsSocket implements Socket {
  readonly #socket: WebSocket
  readonly #stream: Duplex
  readonly #timers: Timers
  /** Messages sent in this turn of the event loop. */
  #waiting: string[] = []
  #waitingChars = 0

  constructor(socket: WebSocket, stream: Duplex, timers: Timers) {
    this.#socket = socket
    this.#stream = stream
    this.#timers = timers
    // `close` follows with a close code; without a listener the error would crash the process.
    socket.on('error', ignore)
  }

  send(text: string): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false
    if (this.#waiting.length === 0) setImmediate(() => this.#flush())
    this.#waiting.push(text)
    this.#waitingChars += text.length
    return true
  }

  close(code: number, reason: string): void {
    this.#flush()
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.close(code, reason)
    // An app that does not answer would keep its place for half a minute.
    const stop = this.#timers.start(CLOSING_MS, () => this.#socket.terminate())
    this.#socket.once('close', stop)
  }

  bufferedBytes(): number {
    return this.#socket.bufferedAmount + this.#waitingChars
  }

  onMessage(listener: Parameters<Socket['onMessage']>[0]): void {
    this.#socket.on('message', (data, isBinary) => {
      if (isBinary) listener(undefined, countBytes(data))
      else listener(decodeText(data))
    })
  }

  onClose(listener: () => void): void {
    this.#socket.once('close', listener)
  }

  /**
   * Writes all frames sent in one turn of the event loop as one buffer: the end of a turn has half a dozen. `ws` itself
   * also writes whole frames (pings, the close), so they cannot interleave.
   */
  #flush(): void {
    const texts = this.#waiting
    if (texts.length === 0) return
    this.#waiting = []
    this.#waitingChars = 0
    if (this.#socket.readyState === this.#socket.OPEN) this.#stream.write(encodeTextFrames(texts))
  }
}

function ignore(): void {}
