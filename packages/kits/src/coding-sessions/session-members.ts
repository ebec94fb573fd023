// Splits a file that is one JSON object with a `messages` list, in little memory: yields each message, and each other
// member as a separate object. Overlong pieces are skipped and counted, like lines.
import type { FileHandle } from 'node:fs/promises'
import type { SessionLine } from './session-lines.ts'
import { LINE_BYTES_MAX, PIECE_BYTES } from './session-lines.ts'

/** @param bytes where to stop; a piece truncated there counts as invalid JSON */
export async function* readMembers(file: FileHandle, bytes: number): AsyncGenerator<SessionLine> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES)
  const splitter = new MemberSplitter()
  for (let position = 0; position < bytes;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(PIECE_BYTES, bytes - position), position)
    if (bytesRead === 0) break
    position += bytesRead
    yield* splitter.split(buffer.subarray(0, bytesRead))
  }
  yield* splitter.end()
}

/** Maximum bytes of a member's name and the whitespace around it. */
const KEY_BYTES = 1000
const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c]
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d]

class MemberSplitter {
  #depth = 0
  #isInString = false
  #isEscaped = false
  #isInMessages = false
  #pieces: Buffer[] = []
  #held = 0
  #number = 1

  /** @returns the end of the open string: its quote, or the end of the chunk */
  #skipText(chunk: Buffer, from: number): number {
    let isEscaped = this.#isEscaped
    let at = from
    for (; at < chunk.length; at++) {
      const byte = chunk[at]
      if (isEscaped) isEscaped = false
      else if (byte === BACKSLASH) isEscaped = true
      else if (byte === QUOTE) break
    }
    this.#isEscaped = isEscaped
    this.#isInString = at === chunk.length
    return at
  }

  *split(chunk: Buffer): Generator<SessionLine> {
    let from = 0
    for (let at = 0; at < chunk.length; at++) {
      if (this.#isInString) {
        at = this.#skipText(chunk, at)
        continue
      }
      const byte = chunk[at]
      if (byte === QUOTE) this.#isInString = true
      if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        this.#depth += 1
        if (this.#depth > 2) continue
        this.#hold(chunk.subarray(from, at))
        const isList = this.#depth === 2 && byte === OPEN_LIST && this.#isAtMessages()
        if (isList) this.#isInMessages = true
        if (isList || this.#depth === 1) this.#drop()
        from = isList || this.#depth === 1 ? at + 1 : at
      } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
        this.#depth = Math.max(0, this.#depth - 1)
        if (this.#depth > (this.#isInMessages ? 1 : 0)) continue
        this.#hold(chunk.subarray(from, at))
        yield* this.end()
        this.#isInMessages = false
        from = at + 1
      } else if (byte === COMMA && this.#depth === (this.#isInMessages ? 2 : 1)) {
        this.#hold(chunk.subarray(from, at))
        yield* this.end()
        from = at + 1
      }
    }
    this.#hold(chunk.subarray(from))
  }

  /** Yields the held piece, unless it is blank. */
  *end(): Generator<SessionLine> {
    const isTooLong = this.#held > LINE_BYTES_MAX
    const text = isTooLong ? '' : Buffer.concat(this.#pieces).toString('utf8').trim()
    this.#drop()
    if (isTooLong) yield { number: this.#number++, text: undefined }
    else if (text !== '') yield { number: this.#number++, text: this.#isInMessages ? text : `{${text}}` }
  }

  #isAtMessages(): boolean {
    return this.#held < KEY_BYTES && /^\s*"messages"\s*:\s*$/.test(Buffer.concat(this.#pieces).toString('utf8'))
  }

  #hold(piece: Buffer): void {
    this.#held += piece.length
    // The buffer is reused, so kept pieces are copied; nothing of an overlong piece is kept.
    if (this.#held <= LINE_BYTES_MAX) this.#pieces.push(Buffer.from(piece))
    else this.#pieces = []
  }

  #drop(): void {
    this.#pieces = []
    this.#held = 0
  }
}
