// Reasoning that a server leaves in the text, between `<think>` and `</think>`: Groq's raw format, and local servers without
// a parser for their model; Amazon's Nova writes `<thinking>`. Only at the beginning of an answer, once or
// several times: behind that a tag is what the model says.

/** An answer of blanks is not held back for ever. */
const HELD_LENGTH_MAX = 64

export interface TaggedPiece {
  readonly type: 'reasoning' | 'text'
  readonly text: string
}

export class ThinkTags {
  readonly #open: string
  readonly #close: string
  /** `between`: blanks behind the closing tag belong to nobody. */
  #place: 'start' | 'thinking' | 'between' | 'text' = 'start'
  /** Undecided text: it may be the beginning of a tag. */
  #held = ''

  /** @param isOpen whether the model's own template has opened the tag: the answer begins with thoughts */
  constructor(tag: 'think' | 'thinking' = 'think', isOpen = false) {
    this.#open = `<${tag}>`
    this.#close = `</${tag}>`
    if (isOpen) this.#place = 'thinking'
  }

  push(text: string): readonly TaggedPiece[] {
    const pieces: TaggedPiece[] = []
    let rest = this.#held + text
    this.#held = ''
    while (this.#place !== 'text') {
      const left = this.#place === 'thinking' ? this.#takeThought(rest, pieces) : this.#takeTag(rest, pieces)
      if (left === undefined) return pieces
      rest = left
    }
    if (rest !== '') pieces.push({ type: 'text', text: rest })
    return pieces
  }

  /** Looks for a tag before the text, and gives what is behind it; undefined where more has to come. */
  #takeTag(rest: string, pieces: TaggedPiece[]): string | undefined {
    const isStart = this.#place === 'start'
    const shown = rest.trimStart()
    if (shown.startsWith(this.#open)) {
      // Some models think again at once.
      if (!isStart) pieces.push({ type: 'reasoning', text: '\n\n' })
      this.#place = 'thinking'
      return shown.slice(this.#open.length)
    }
    if (isStart && shown.startsWith(this.#close)) {
      // It ended thoughts that came in a field of their own, or none.
      this.#place = 'between'
      return shown.slice(this.#close.length)
    }
    const tags = isStart ? [this.#open, this.#close] : [this.#open]
    const held = isStart ? rest : shown
    if (held.length <= HELD_LENGTH_MAX && tags.some((tag) => tag.startsWith(shown))) {
      this.#held = held
      return undefined
    }
    this.#place = 'text'
    return held
  }

  #takeThought(rest: string, pieces: TaggedPiece[]): string | undefined {
    const end = rest.indexOf(this.#close)
    const known = end === -1 ? rest.length - findTail(rest, this.#close) : end
    if (known > 0) pieces.push({ type: 'reasoning', text: rest.slice(0, known) })
    if (end === -1) {
      this.#held = rest.slice(known)
      return undefined
    }
    this.#place = 'between'
    return rest.slice(end + this.#close.length)
  }

  /** Text that is held back. */
  get held(): TaggedPiece {
    return { type: this.#place === 'thinking' ? 'reasoning' : 'text', text: this.#held }
  }

  /** Releases held-back text at the end of the answer: it did not become a tag. */
  flush(): readonly TaggedPiece[] {
    const { held } = this
    this.#held = ''
    this.#place = 'text'
    return held.text === '' ? [] : [held]
  }
}

/**
 * Splits a text whose closing tag was never opened, because the model's template opens it: all before it is thoughts.
 * Undefined where there is no such tag.
 */
export function splitAtClose(
  text: string,
  tag = 'think',
): { readonly thoughts: string; readonly text: string } | undefined {
  const at = text.indexOf(`</${tag}>`)
  if (at < 0 || text.slice(0, at).includes(`<${tag}>`)) return undefined
  return { thoughts: text.slice(0, at).trim(), text: text.slice(at + tag.length + 3).trimStart() }
}

/** How many characters at the end may be the beginning of the closing tag. */
function findTail(text: string, close: string): number {
  for (let length = Math.min(close.length - 1, text.length); length > 0; length--)
    if (close.startsWith(text.slice(-length))) return length
  return 0
}
