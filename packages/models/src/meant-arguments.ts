// Repairs the JSON text of a call's arguments. Gateways send an empty object before the real one, send it twice, or
// repeat everything so far in each piece. Only unambiguous input is repaired; anything else stays as is.
import { parseJson } from '@baton/core/internal'

export interface MeantArguments {
  /** Empty if the arguments never arrived; such a call does not run. */
  readonly text: string
  /** Name of the repair, for the log. */
  readonly repair?: string
}

export interface GivenArguments {
  /** All pieces concatenated in order. */
  readonly text: string
  /** The latest piece, if each piece starts with the previous one. */
  readonly cumulative?: string | undefined
}

/**
 * Returns the intended arguments. Repairs an empty object before the real one, a repeated object, and pieces that each
 * contain all previous ones.
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

/** Splits concatenated JSON values. Returns `undefined` for a single value, or if the last one is incomplete. */
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

/** Tracks whether JSON text arriving in pieces has closed its outermost bracket. Reads each character once. */
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
