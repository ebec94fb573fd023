// A `ws` connection for fronts, and its heartbeat. Everything sent in one turn of the event loop becomes one write: text
// messages as a server writes them (RFC 6455, 5.2), each in one unmasked frame.
import type { TimerOptions, Timers } from '@baton/core/internal'
import type { Duplex } from 'node:stream'
import type { WebSocket, RawData } from 'ws'
import type { Socket } from '../shared/socket.ts'

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

/** Bytes of the longest header: two, and eight of length. */
const HEAD_BYTES = 10
/** The final fragment of a text message. */
const FINAL_TEXT = 0x81
const LENGTH_16 = 126
const LENGTH_64 = 127

export function encodeTextFrames(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text))
  const buffer = Buffer.allocUnsafe(sizes.reduce((sum, bytes) => sum + HEAD_BYTES + bytes, 0))
  let end = 0
  for (const [index, text] of texts.entries()) {
    end = writeHead(buffer, end, sizes[index] ?? 0)
    end += buffer.write(text, end)
  }
  return buffer.subarray(0, end)
}

/** Returns where the payload begins. */
function writeHead(buffer: Buffer, at: number, bytes: number): number {
  buffer[at] = FINAL_TEXT
  if (bytes < LENGTH_16) {
    buffer[at + 1] = bytes
    return at + 2
  }
  if (bytes <= 0xffff) {
    buffer[at + 1] = LENGTH_16
    return buffer.writeUInt16BE(bytes, at + 2)
  }
  buffer[at + 1] = LENGTH_64
  return buffer.writeBigUInt64BE(BigInt(bytes), at + 2)
}

export function countBytes(data: RawData): number {
  return Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength
}

/** `ws` has already checked that the text is UTF-8. */
export function decodeText(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString()
  return (Buffer.isBuffer(data) ? data : Buffer.from(data)).toString()
}

export interface HeartOptions extends TimerOptions {
  readonly everyMs: number
}

/**
 * The heartbeat of a connection: pings it regularly and ends it if there is no answer.
 * Without it, a peer that vanished silently would hold its session's calls forever.
 */
export class Heart {
  readonly #socket: WebSocket
  readonly #timers: Timers
  readonly #init: HeartOptions
  #lives = true
  #stopTimer: () => void

  constructor(socket: WebSocket, timers: Timers, init: HeartOptions) {
    this.#socket = socket
    this.#timers = timers
    this.#init = init
    this.#stopTimer = this.#beatLater()
    socket.on('pong', () => {
      this.#lives = true
    })
  }

  stop(): void {
    this.#stopTimer()
  }

  #beatLater(): () => void {
    return this.#timers.start(this.#init.everyMs, () => this.#beat(), this.#init)
  }

  #beat(): void {
    if (!this.#lives) {
      this.#socket.terminate()
      return
    }
    this.#lives = false
    this.#socket.ping(() => {})
    this.#stopTimer = this.#beatLater()
  }
}
