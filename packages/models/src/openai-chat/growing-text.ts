// Handles servers that send the whole text so far in each piece. Pieces that might be cumulative are held back until
// later ones decide; if undecided, they count as ordinary text.

/** Minimum characters that must repeat, over at least two pieces. */
const REPEATED_LENGTH = 24
const PIECES = 3
/** Maximum UTF-16 units held back. */
const HELD_LENGTH_MAX = 4096

export class GrowingText {
  #state: 'open' | 'grows' | 'pieces' = 'open'
  #first = ''
  /** The latest piece. */
  #whole = ''
  #repeated = 0
  #held: string[] = []

  /** Returns the new text, once it is known. */
  push(piece: string): readonly string[] {
    if (piece === '') return []
    if (this.#state === 'pieces') return [piece]
    const before = this.#whole
    if (this.#state === 'grows') {
      if (!piece.startsWith(before)) return [piece]
      this.#whole = piece
      return piece.length > before.length ? [piece.slice(before.length)] : []
    }
    if (before === '') {
      this.#first = piece
      this.#whole = piece
      return [piece]
    }
    this.#held.push(piece)
    if (piece.length <= before.length || !piece.startsWith(before)) return this.flush()
    this.#whole = piece
    this.#repeated += before.length
    if (this.#held.length + 1 >= PIECES && this.#repeated >= REPEATED_LENGTH && !repeatsItself(piece)) {
      this.#state = 'grows'
      this.#held = []
      return [piece.slice(this.#first.length)]
    }
    return this.#repeated > HELD_LENGTH_MAX ? this.flush() : []
  }

  /** Returns the held-back text, since no further piece can decide. */
  flush(): readonly string[] {
    if (this.#state === 'open' && this.#whole !== '') this.#state = 'pieces'
    return this.#held.splice(0)
  }
}

/** A model may repeat itself, in which case a piece that starts like all before it proves nothing. */
function repeatsItself(text: string): boolean {
  const half = text.slice(0, Math.ceil(text.length / 2))
  return text.includes(half, 1)
}
