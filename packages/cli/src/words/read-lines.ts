// Reads the lines of a file that may come from elsewhere: a line that never ends is refused before it fills the memory.
import { BatonError } from '@baton/core'

const LINE_FEED = 0x0a
/** Default maximum bytes of a line: more than four times the largest picture that agents accept by default. */
const LINE_BYTES_MAX = 128 * 1024 * 1024

export interface LineSource {
  /** The name to show in messages. */
  readonly name: string
  readonly chunks: AsyncIterable<Uint8Array>
  readonly lineBytesMax?: number
}

/**
 * Lines of UTF-8 without their line breaks (`\n`, `\r\n`).
 * @throws BatonError `invalid_option` with the number of a line that is too long or not UTF-8; errors of the chunks
 */
export async function* readLines({ name, chunks, lineBytesMax = LINE_BYTES_MAX }: LineSource): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let number = 1
  let begun: Uint8Array[] = []
  let begunBytes = 0
  const add = (piece: Uint8Array): void => {
    begunBytes += piece.length
    if (begunBytes > lineBytesMax)
      throw createLineError(name, number, `has more than the allowed ${lineBytesMax} bytes`)
    begun.push(piece)
  }
  const takeLine = (): string => {
    const bytes = begun.length === 1 && begun[0] ? begun[0] : Buffer.concat(begun)
    begun = []
    begunBytes = 0
    const end = bytes.at(-1) === 0x0d ? -1 : undefined
    try {
      return decoder.decode(bytes.subarray(0, end))
    } catch {
      throw createLineError(name, number, 'is not UTF-8 text')
    } finally {
      number += 1
    }
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      add(chunk.subarray(start, end))
      yield takeLine()
      start = end + 1
    }
    if (start < chunk.length) add(chunk.subarray(start))
  }
  if (begun.length > 0) yield takeLine()
}

function createLineError(name: string, number: number, why: string): BatonError {
  const message = `line ${number} of ${name} ${why}`
  return new BatonError({ code: 'invalid_option', message, hint: 'Import a file written by "baton sessions export".' })
}
