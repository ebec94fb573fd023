// Keeps the raw end of a stream, which is read only if the stream yielded no answer.

export interface StreamTail {
  /** The bytes must not change afterwards. */
  push(bytes: Uint8Array): void
  /** As UTF-8; a truncated character at the start is replaced. */
  text(): string
}

/** @param least minimum bytes to keep; at most one piece more is kept */
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
