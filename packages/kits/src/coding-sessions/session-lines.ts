// Reads a JSON lines file line by line in little memory. Overlong lines are skipped and counted, and a growing file is
// read up to its initial size.
import type { FileHandle } from 'node:fs/promises'

export interface SessionLine {
  /** Starts at 1. */
  readonly number: number
  /** `undefined` for an overlong line. */
  readonly text: string | undefined
}

/** Bytes per read. */
export const PIECE_BYTES = 256 * 1024
/** Maximum bytes of a line: more than any text that is shown, and than most pictures. */
export const LINE_BYTES_MAX = 8 * 1024 * 1024
const NEWLINE = 0x0a

/** @param bytes where to stop; a final line without a line break counts */
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
    // The buffer is reused, so kept pieces are copied; nothing of an overlong line is kept.
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
