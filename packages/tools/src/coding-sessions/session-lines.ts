// The lines of a file of JSON lines, one after the other, in little memory: lines that are too long are skipped and counted, and a file
// that grows meanwhile is read as far as it was at the beginning.
import type { FileHandle } from 'node:fs/promises'

export interface SessionLine {
  /** Counted from 1. */
  readonly number: number
  /** Undefined for a line that is too long. */
  readonly text: string | undefined
}

/** Bytes that are read at once. */
export const PIECE_BYTES = 256 * 1024
/** Bytes of one line: more than any text that is shown, and than most pictures. */
export const LINE_BYTES_MAX = 8 * 1024 * 1024
const NEWLINE = 0x0a

/** @param bytes where to stop; a line that ends there without a line break counts */
export async function* readLines(file: FileHandle, bytes: number): AsyncGenerator<SessionLine> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES)
  let pieces: Buffer[] = []
  let held = 0
  let number = 1
  const take = (): SessionLine => {
    const text = held > LINE_BYTES_MAX ? undefined : Buffer.concat(pieces).toString('utf8')
    pieces = []
    held = 0
    return { number: number++, text }
  }
  const hold = (piece: Buffer): void => {
    held += piece.length
    // The buffer is used again, so what stays is copied; of a line that is too long nothing stays.
    if (held <= LINE_BYTES_MAX) pieces.push(Buffer.from(piece))
    else pieces = []
  }
  for (let position = 0; position < bytes;) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(PIECE_BYTES, bytes - position), position)
    if (bytesRead === 0) break
    position += bytesRead
    let start = 0
    for (let end = buffer.indexOf(NEWLINE); end !== -1 && end < bytesRead; end = buffer.indexOf(NEWLINE, start)) {
      hold(buffer.subarray(start, end))
      yield take()
      start = end + 1
    }
    hold(buffer.subarray(start, bytesRead))
  }
  if (held > 0) yield take()
}
