// Tags around the thoughts that servers leave in the text of an answer: `<think>` of Qwen, DeepSeek and GLM, `<thinking>` of Nova,
// `[THINK]` of Magistral, `<seed:think>` of Seed-OSS, and what other models write in their place. One table for all of them.

const NAMES = ['think', 'thinking', 'thought', 'thoughts', 'reasoning', 'reflection', 'seed:think'] as const
/** Text before and behind a name. */
const BRACKETS = [
  ['<', '>'],
  ['[', ']'],
] as const
/** Blanks behind a name. */
const BLANKS_MAX = 8

export interface ThoughtTag {
  /** Its brackets and its name: a thought ends with a tag of its own kind. */
  readonly kind: string
  readonly isClosing: boolean
}

/** The tag that the text is, or whether it may become one; in any case of letters, and with blanks behind the name. */
export function readThoughtTag(text: string): ThoughtTag | 'maybe' | undefined {
  for (const [open, close] of BRACKETS) {
    if (!text.startsWith(open)) continue
    const isClosing = text[1] === '/'
    const said = text.slice(isClosing ? 2 : 1).toLowerCase()
    if (NAMES.some((one) => one.startsWith(said))) return 'maybe'
    const found = NAMES.find((one) => said.startsWith(one) && /^\s*(?:[>\]]|$)/.test(said.slice(one.length)))
    if (found === undefined || said.length > found.length + BLANKS_MAX) return undefined
    const behind = said.slice(found.length).trimStart()
    if (behind === '') return 'maybe'
    return behind === close ? { kind: `${open}${found}`, isClosing } : undefined
  }
  return undefined
}

/** Looks for the end of a thought in what follows its opening tag. */
export class ThoughtEnd {
  readonly #kind: string
  #tail = ''

  constructor(kind: string) {
    this.#kind = kind
  }

  /** Whether the thought ends with this character. */
  push(char: string): boolean {
    this.#tail = char === this.#kind[0] ? char : this.#tail === '' ? '' : this.#tail + char
    const tag = this.#tail === '' ? undefined : readThoughtTag(this.#tail)
    if (tag !== 'maybe') this.#tail = ''
    return typeof tag === 'object' && tag.isClosing && tag.kind === this.#kind
  }
}
