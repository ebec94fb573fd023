// Text of a server that sends all of it so far in each piece. Pieces that only might do so are held back until the wire shows it or
// shows the opposite; in doubt they are what the model said.

/** Characters that have to come again, in at least two pieces. */
const REPEATED_LENGTH = 24
const PIECES = 3
/** Most UTF-16 units that are held back. */
const HELD_LENGTH_MAX = 4096

export class GrowingText {
  #state: 'open' | 'grows' | 'pieces' = 'open'
  #first = ''
  /** The newest piece. */
  #whole = ''
  #repeated = 0
  #held: string[] = []

  /** Gives what is new, as far as that is known. */
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

  /** Gives what was held back: nothing follows that could decide. */
  flush(): readonly string[] {
    if (this.#state === 'open' && this.#whole !== '') this.#state = 'pieces'
    return this.#held.splice(0)
  }
}

/** A model may say one thing again and again: then a piece that begins like all before it is no sign. */
function repeatsItself(text: string): boolean {
  const half = text.slice(0, Math.ceil(text.length / 2))
  return text.includes(half, 1)
}
