// Text that grows by small pieces.

/** UTF-16 units of pieces to join at once. */
const JOINED_CHARS = 2048

/**
 * Text that grows in small pieces, in the memory of a whole string. A string built with `+=` keeps every piece and a
 * node for each, about ten times the text; a slice of it keeps all of it.
 */
export class GrowingText {
  readonly #chunks: string[] = []
  #pieces: string[] = []
  #pieceChars = 0
  /** UTF-16 units; changed only by `add`. */
  length = 0

  add(piece: string): void {
    this.#pieces.push(piece)
    this.#pieceChars += piece.length
    this.length += piece.length
    if (this.#pieceChars >= JOINED_CHARS) this.#join()
  }

  /** The text from an offset to the end. */
  read(from = 0): string {
    this.#join()
    // Most readers want the newest text, and a slice of the whole would retain the whole.
    let at = this.#chunks.length
    let start = this.length
    while (start > from) {
      at -= 1
      start -= this.#chunks[at]?.length ?? 0
    }
    return this.#chunks
      .slice(at)
      .join('')
      .slice(from - start)
  }

  /** Number of UTF-16 units that it has in common with `other` from `from` on, without half of a surrogate pair. */
  countCommon(other: string, from = 0): number {
    this.#join()
    let at = from
    for (const chunk of this.#chunks) {
      if (!other.startsWith(chunk, at)) return at - from + countCommon(chunk, other, at)
      at += chunk.length
    }
    return at - from
  }

  #join(): void {
    if (this.#pieces.length === 0) return
    this.#chunks.push(this.#pieces.join(''))
    this.#pieces = []
    this.#pieceChars = 0
  }
}

/** Number of UTF-16 units that a text has in common with another from `from` on, without half of a surrogate pair. */
export function countCommon(text: string, other: string, from: number): number {
  let at = 0
  while (at < text.length && text[at] === other[from + at]) at++
  const last = other.charCodeAt(from + at - 1)
  return last >= 0xd800 && last <= 0xdbff ? at - 1 : at
}
