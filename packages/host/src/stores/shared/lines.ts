// Lines of JSON between the processes that share a store. Their length is limited, so that no process can fill
// another's memory.
import { BatonError } from '@baton/core'

/** Maximum bytes of a line, without its line break. */
export const LINE_BYTES_MAX = 67_108_864

const NEWLINE = 10

/** Reassembles lines from the chunks of a socket. */
export class LineSplitter {
  readonly #pieces: Buffer[] = []
  #bytes = 0

  /** Returns the lines completed by this chunk. @throws BatonError `store_failed` for a line that is too long */
  take(piece: Buffer): readonly string[] {
    const lines: string[] = []
    let start = 0
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, start)) {
      this.#keep(piece.subarray(start, end))
      lines.push(Buffer.concat(this.#pieces.splice(0)).toString('utf8'))
      this.#bytes = 0
      start = end + 1
    }
    if (start < piece.length) this.#keep(piece.subarray(start))
    return lines
  }

  #keep(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    if (this.#bytes > LINE_BYTES_MAX) throw createLongError(`more than ${LINE_BYTES_MAX}`)
  }
}

/**
 * Includes the line break. @throws BatonError `store_failed` for a value that JSON cannot hold, or a line that is too
 * long
 */
export function encodeLine(value: object): string {
  let text: string
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw new BatonError({ code: 'store_failed', message: 'the value cannot be stored as JSON', cause })
  }
  // A UTF-16 unit takes one to three bytes in UTF-8.
  const bytes = text.length * 3 > LINE_BYTES_MAX ? Buffer.byteLength(text) : 0
  if (bytes > LINE_BYTES_MAX) throw createLongError(String(bytes))
  return `${text}\n`
}

/** Returns `undefined` if the line is not a JSON object. */
export function decodeLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined // the reader checks its fields
  } catch {
    return undefined
  }
}

function createLongError(bytes: string): BatonError {
  return new BatonError({
    code: 'store_failed',
    message: `processes that share a store exchange at most ${LINE_BYTES_MAX} bytes at a time, and this message has ${bytes}`,
    hint: 'Try again when no other process has the store open: the process that holds the file itself has no such limit.',
  })
}
