// The JSON text that a server meant by the arguments of a call: gateways send an empty object before the whole, the whole once
// more, or in each piece all so far. What has one meaning is repaired; anything else stays as it came.
import { parseJson } from '@baton/core'

export interface MeantArguments {
  /** Empty where the model's arguments never came: such a call does not run. */
  readonly text: string
  /** Name of the repair, for the log. */
  readonly repair?: string
}

export interface GivenArguments {
  /** All pieces in their order. */
  readonly text: string
  /** The newest piece, where each began with the one before it. */
  readonly cumulative?: string | undefined
}

/**
 * The arguments that a call means. What has one meaning is repaired: an empty object before the whole, the whole once more,
 * and pieces that each hold all before them.
 */
export function readMeantArguments({ text, cumulative = '' }: GivenArguments): MeantArguments {
  if (parseJson(text).ok) return { text }
  const whole = splitValues(text)
  const [meant = whole?.[0], ...others] = new Set(whole?.filter((value) => !isEmptyObject(value)))
  if (meant !== undefined && others.length === 0) return { text: meant, repair: 'repeated-arguments' }
  return cumulative !== text && parseJson(cumulative).ok ? { text: cumulative, repair: 'repeated-arguments' } : { text }
}

export function isEmptyObject(text: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(text)
}

/** Several values of JSON behind each other; undefined for a single one, and where the last one is not whole. */
function splitValues(text: string): readonly string[] | undefined {
  const values: string[] = []
  let progress = new JsonProgress()
  let from = 0
  for (let at = 0; at < text.length; at++) {
    progress.push(text[at] ?? '')
    if (!progress.isClosed) continue
    values.push(text.slice(from, at + 1).trim())
    progress = new JsonProgress()
    from = at + 1
  }
  return text.slice(from).trim() === '' && values.length > 1 ? values : undefined
}

/** Whether JSON text that arrives in pieces has closed its outermost bracket; each character is looked at once. */
export class JsonProgress {
  #depth = 0
  #inString = false
  #isEscaped = false
  #hasOpened = false

  push(text: string): void {
    for (const char of text) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (this.#inString) {
        if (char === '\\') this.#isEscaped = true
        else if (char === '"') this.#inString = false
      } else if (char === '"') this.#inString = true
      else if (char === '{' || char === '[') {
        this.#depth++
        this.#hasOpened = true
      } else if (char === '}' || char === ']') this.#depth--
    }
  }

  get isClosed(): boolean {
    return this.#hasOpened && this.#depth <= 0 && !this.#inString
  }
}
