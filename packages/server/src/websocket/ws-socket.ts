// A connection of `ws` as fronts write to it: what is sent in one turn of the event loop is one write.
import type { Timers } from '@baton/core'
import type { Duplex } from 'node:stream'
import type { WebSocket } from 'ws'
import type { Socket } from '../shared/socket.ts'
import { countBytes, decodeText, encodeTextFrames } from './text-frames.ts'

/** Milliseconds that an app has to answer a close. */
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
    // Its end follows, with a close code; without a listener the error would end the process.
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
    // One that does not answer would keep its place for half a minute.
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
   * Frames that are sent in one turn of the event loop are one buffer and one write: a turn's end has half a dozen of
   * them. What `ws` writes itself (pings, the close) is whole frames too, so neither gets into the other's.
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
