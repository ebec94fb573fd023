// Lines of JSON between the processes that share a store. A line has a bound, so that no peer fills the memory of the other.
import { BatonError } from '@baton/core'

/** Bytes of a line without its break. */
export const LINE_BYTES_MAX = 67_108_864

const NEWLINE = 10

/** Puts together what a socket brings in pieces. */
export class LineSplitter {
  readonly #pieces: Buffer[] = []
  #bytes = 0

  /** The lines that this piece ends. @throws BatonError `store_failed` for a line over its bound */
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

/** With its line break. @throws BatonError `store_failed` for what JSON cannot hold, and for a line over its bound */
export function encodeLine(value: object): string {
  let text: string
  try {
    text = JSON.stringify(value)
  } catch (cause) {
    throw new BatonError({ code: 'store_failed', message: 'JSON cannot hold what is to be kept', cause })
  }
  // A UTF-16 unit has one to three bytes.
  const bytes = text.length * 3 > LINE_BYTES_MAX ? Buffer.byteLength(text) : 0
  if (bytes > LINE_BYTES_MAX) throw createLongError(String(bytes))
  return `${text}\n`
}

/** Undefined for what is no JSON object. */
export function decodeLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Readonly<Record<string, unknown>>) : undefined // its fields are looked at by who reads them
  } catch {
    return undefined
  }
}

function createLongError(bytes: string): BatonError {
  return new BatonError({
    code: 'store_failed',
    message: `what passes between the processes of a shared store at once has at most ${LINE_BYTES_MAX} bytes, and this has ${bytes}`,
    hint: 'Try again when no other process has the store: whoever holds the file itself has no such bound.',
  })
}
