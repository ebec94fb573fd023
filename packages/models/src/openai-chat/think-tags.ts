// Extracts reasoning left in the text between `<think>` and `</think>`: Groq's raw format, and local servers without a
// parser for their model. Others write `<thinking>` (Amazon's Nova), `<reasoning>` or `<thought>`, in any case. Tags
// count only at the start of an answer, possibly several in a row; later ones are ordinary text.

/** Limits how long a blank answer is held back. */
const HELD_LENGTH_MAX = 64
/** Length of the longest tag, including its brackets. */
const TAG_LENGTH_MAX = 16

export interface TaggedPiece {
  readonly type: 'reasoning' | 'text'
  readonly text: string
}

const TAGS = ['think', 'thinking', 'reasoning', 'thought']
const OPEN = new RegExp(`<(?:${TAGS.join('|')})>`, 'i')
const CLOSES = new RegExp(`</(?:${TAGS.join('|')})>`, 'gi')

export class ThinkTags {
  readonly #tags: readonly string[]
  /** The tag that ends the reasoning. */
  #close = ''
  /** `between`: whitespace after the closing tag is dropped. */
  #place: 'start' | 'thinking' | 'between' | 'text' = 'start'
  /** Undecided text that may be the start of a tag. */
  #held = ''

  constructor(tags: readonly string[] = TAGS) {
    this.#tags = tags
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

  /** Looks for a tag at the start of the text and returns the text after it, or `undefined` if more input is needed. */
  #takeTag(rest: string, pieces: TaggedPiece[]): string | undefined {
    const isStart = this.#place === 'start'
    const shown = rest.trimStart()
    const word = shown.slice(0, TAG_LENGTH_MAX).toLowerCase()
    const opened = this.#tags.find((tag) => word.startsWith(`<${tag}>`))
    if (opened !== undefined) {
      // Some models start thinking again immediately.
      if (!isStart) pieces.push({ type: 'reasoning', text: '\n\n' })
      this.#place = 'thinking'
      this.#close = `</${opened}>`
      return shown.slice(opened.length + 2)
    }
    const closed = this.#tags.find((tag) => word.startsWith(`</${tag}>`))
    if (closed !== undefined) {
      // The tag ended reasoning from a separate field, none at all, or reasoning that had already ended.
      this.#place = 'between'
      return shown.slice(closed.length + 3)
    }
    const held = isStart ? rest : shown
    const mayBeTag = this.#tags.some((tag) => `<${tag}>`.startsWith(word) || `</${tag}>`.startsWith(word))
    if (held.length <= HELD_LENGTH_MAX && mayBeTag && word.length === shown.length) {
      this.#held = held
      return undefined
    }
    this.#place = 'text'
    return held
  }

  #takeThought(rest: string, pieces: TaggedPiece[]): string | undefined {
    const end = rest.search(new RegExp(this.#close, 'i'))
    const known = end === -1 ? rest.length - findTail(rest, this.#close) : end
    if (known > 0) pieces.push({ type: 'reasoning', text: rest.slice(0, known) })
    if (end === -1) {
      this.#held = rest.slice(known)
      return undefined
    }
    this.#place = 'between'
    return rest.slice(end + this.#close.length)
  }

  /** The held-back text. */
  get held(): TaggedPiece {
    return { type: this.#place === 'thinking' ? 'reasoning' : 'text', text: this.#held }
  }

  /** Releases held-back text at the end of the answer, since it did not become a tag. */
  flush(): readonly TaggedPiece[] {
    const { held } = this
    this.#held = ''
    this.#place = 'text'
    return held.text === '' ? [] : [held]
  }
}

/**
 * Splits the whole first text of an answer into its reasoning and the rest.
 * @param isAfterThoughts whether the answer has other reasoning before this text
 */
export function splitThoughts(
  given: string,
  isAfterThoughts: boolean,
): { readonly thoughts: string; readonly text: string } {
  const tags = new ThinkTags()
  const pieces = [...tags.push(given), ...tags.flush()]
  const join = (wanted: TaggedPiece['type']) => pieces.map(({ type, text }) => (type === wanted ? text : '')).join('')
  const own = join('reasoning')
  const split = splitAtClose(join('text'), (own !== '' || isAfterThoughts) && !hasOpenTag(own))
  const { thoughts = '', text = join('text') } = split ?? {}
  return { thoughts: [own, thoughts].filter((one) => one !== '').join('\n\n'), text }
}

/** Whether a text contains a tag that starts reasoning. */
export function hasOpenTag(text: string): boolean {
  return OPEN.test(text)
}

/**
 * Splits a text at a closing tag without an opening one (the model's template adds that): all text before it is
 * reasoning. A second tag extends the reasoning if it follows directly or is on its own line. Returns `undefined`
 * without such a tag.
 * @param isAfterThoughts whether reasoning was already found, so that a tag within a sentence is part of that sentence
 */
export function splitAtClose(
  text: string,
  isAfterThoughts = false,
): { readonly thoughts: string; readonly text: string } | undefined {
  const opened = text.search(OPEN)
  const thoughts: string[] = []
  let from = 0
  for (const { index, 0: tag } of text.matchAll(CLOSES)) {
    if (opened >= 0 && index > opened) break
    const isFirst = thoughts.length === 0 && !isAfterThoughts
    const before = text.slice(from, index)
    if (!isFirst && before.trim() !== '' && !isOnItsLine(text, index, tag.length)) break
    thoughts.push(before.trim())
    from = index + tag.length
  }
  if (thoughts.length === 0) return undefined
  return { thoughts: thoughts.filter((one) => one !== '').join('\n\n'), text: text.slice(from).trimStart() }
}

/** Text must follow: the last line of an answer is never reasoning. */
function isOnItsLine(text: string, index: number, length: number): boolean {
  const behind = text.slice(index + length)
  return /\n[ \t]*$/.test(text.slice(Math.max(0, index - HELD_LENGTH_MAX), index)) && /^[ \t]*\r?\n\s*\S/.test(behind)
}

/** Number of trailing characters that may be the start of the closing tag. */
function findTail(text: string, close: string): number {
  for (let length = Math.min(close.length - 1, text.length); length > 0; length--)
    if (close.startsWith(text.slice(-length).toLowerCase())) return length
  return 0
}
