// Tags around thoughts that servers leave in the text of an answer: `<think>` of Qwen, DeepSeek and GLM, `<thinking>`
// of Nova, `[THINK]` of Magistral, `<seed:think>` of Seed-OSS, and variants that other models write. One shared table.

const NAMES = ['think', 'thinking', 'thought', 'thoughts', 'reasoning', 'reflection', 'seed:think'] as const
/** Opening and closing text around a name. */
const BRACKETS = [
  ['<', '>'],
  ['[', ']'],
] as const
/** Maximum spaces after a name. */
const BLANKS_MAX = 8

export interface ThoughtTag {
  /** Its brackets and name: a thought ends with a tag of the same kind. */
  readonly kind: string
  readonly isClosing: boolean
}

/**
 * Returns the tag that the text is, or whether it may become one; in any letter case, and with spaces after the name.
 */
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

/** Looks for the end of a thought in the text after its opening tag. */
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
