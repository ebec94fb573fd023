// Keeps the beginning and the end of a command's output, however much is between them.
import { stripVTControlCharacters } from 'node:util'

export class BoundedOutput {
  readonly #headMost: number
  readonly #tailMost: number
  #head: Buffer = Buffer.alloc(0)
  #tail: Buffer = Buffer.alloc(0)
  #bytes = 0

  /** Keeps a quarter of the bytes from the beginning, because the end shows how the command went. */
  constructor(most: number) {
    this.#headMost = Math.floor(most / 4)
    this.#tailMost = most - this.#headMost
  }

  take(piece: Buffer): void {
    this.#bytes += piece.length
    const room = this.#headMost - this.#head.length
    if (room > 0) this.#head = Buffer.concat([this.#head, piece.subarray(0, room)])
    const rest = room > 0 ? piece.subarray(room) : piece
    if (rest.length > 0)
      this.#tail = cutStart(Buffer.concat([this.#tail, cutStart(rest, this.#tailMost)]), this.#tailMost)
  }

  /** Number of omitted bytes. */
  get droppedBytes(): number {
    return this.#bytes - this.#head.length - this.#tail.length
  }

  /** Returns the text without colors and other terminal control sequences. A split character is replaced. */
  read(): string {
    const [head, tail] = [this.#head, this.#tail]
    if (this.droppedBytes === 0) return toText(Buffer.concat([head, tail]))
    return `${toText(head)}\n[${this.droppedBytes} bytes omitted]\n${toText(tail)}`
  }
}

/** Keeps the last bytes. */
function cutStart(bytes: Buffer, most: number): Buffer {
  return bytes.subarray(Math.max(0, bytes.length - most))
}

/** Keeps line breaks and tabs. */
export function toText(bytes: Buffer): string {
  // eslint-disable-next-line no-control-regex
  return stripVTControlCharacters(bytes.toString('utf8')).replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, '')
}
