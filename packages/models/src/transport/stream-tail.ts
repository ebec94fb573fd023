// The end of a stream, kept as it came: it is read only where the stream has brought no answer.

export interface StreamTail {
  /** The bytes must not change afterwards. */
  push(bytes: Uint8Array): void
  /** As UTF-8; a character that was cut at the beginning is replaced. */
  text(): string
}

/** @param least bytes that are kept at least; at most a piece more */
export function createStreamTail(least: number): StreamTail {
  const pieces: Uint8Array[] = []
  let length = 0
  return {
    push(bytes) {
      pieces.push(bytes)
      length += bytes.length
      for (let first = pieces[0]; first && length - first.length >= least; first = pieces[0]) {
        length -= first.length
        pieces.shift()
      }
    },
    text() {
      const decoder = new TextDecoder()
      return pieces.map((piece) => decoder.decode(piece, { stream: true })).join('') + decoder.decode()
    },
  }
}
