// Repairs the JSON text of a call's arguments. Gateways send an empty value before the real one, send it twice, or
// repeat everything so far in each piece. Only unambiguous input is repaired; anything else stays as is.
import type { JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'

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

/** Values that say that there are no arguments: programs in PHP write `[]`, in Go `null`. */
const NOTHING = String.raw`(?:\{\s*\}|\[\s*\]|null|"")`
const ONLY_NOTHING = new RegExp(`^(?:\\s*${NOTHING})*\\s*$`)
const NOTHING_BEFORE = new RegExp(`^(?:\\s*${NOTHING})+`)
/** Without blanks of any number before it: models that go astray write millions, at each of which a search would begin. */
const NOTHING_BEHIND = /(?:\{\s{0,8}\}|\[\s{0,8}\]|null|"")$/

/**
 * Returns the intended arguments. Repairs an empty value before or behind the real one, a repeated object, objects that
 * grow, and pieces that each contain all previous ones.
 */
export function readMeantArguments({ text, cumulative = '' }: GivenArguments): MeantArguments {
  if (text.trim() !== '' && !isEmptyObject(text) && isNothing(text)) return { text: '{}', repair: 'empty-arguments' }
  if (parseJson(text).ok) return { text }
  const repair = 'repeated-arguments'
  const rest = withoutNothing(text)
  if (rest !== text && parseJson(rest).ok) return { text: rest, repair }
  const whole = splitValues(rest)
  const [meant = whole?.[0], ...others] = new Set(whole?.filter((value) => !isNothing(value)))
  if (meant !== undefined && others.length === 0) return { text: meant, repair }
  const grown = meant === undefined ? undefined : findGrown([meant, ...others])
  if (grown !== undefined) return { text: grown, repair }
  return cumulative !== text && parseJson(cumulative).ok ? { text: cumulative, repair } : { text }
}

export function isEmptyObject(text: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(text)
}

/** Whether a text says that there are no arguments, or says nothing. */
export function isNothing(text: string): boolean {
  return ONLY_NOTHING.test(text)
}

/** The next `cumulative`: the piece, if it starts with the previous one, or if that said nothing. */
export function growCumulative(before: string | undefined, piece: string): string | undefined {
  if (before === undefined || piece === '') return before
  return piece.startsWith(before) || isNothing(before) ? piece : undefined
}

/** JSON text of arguments that a server sent as a string or as a value; `undefined` if it sent neither. */
export function readGivenArguments(given: JsonValue | undefined): string | undefined {
  if (typeof given === 'string') return given
  return typeof given === 'object' && given !== null ? JSON.stringify(given) : undefined
}

function withoutNothing(text: string): string {
  const rest = text.replace(NOTHING_BEFORE, '').trimStart()
  const shorter = rest.trimEnd().replace(NOTHING_BEHIND, '').trimEnd()
  return parseJson(shorter).ok ? shorter : rest
}

/** Objects that a value needs to have grown through, so that it cannot be the next call. */
const STAGES = 3

/** The last object, if each contains the previous one: some gateways parse the arguments that they have so far. */
function findGrown(texts: readonly string[]): string | undefined {
  const values = texts.map((text) => parseJson(text)).map((parsed) => (parsed.ok ? parsed.value : undefined))
  const grows = values.every((value, index) => index === 0 || contains(value, values[index - 1]))
  return values.length >= STAGES && grows ? texts.at(-1) : undefined
}

function contains(value: JsonValue | undefined, before: JsonValue | undefined): boolean {
  if (typeof value === 'string' && typeof before === 'string') return value.startsWith(before)
  if (Array.isArray(value) && Array.isArray(before))
    return (before as readonly JsonValue[]).every((one, index) => contains(value[index] as JsonValue | undefined, one))
  if (isJsonObject(value) && isJsonObject(before))
    return Object.entries(before).every(([key, one]) => contains(value[key], one))
  return value === before
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

/** Tracks whether JSON text arriving in pieces has closed its outermost bracket or quote. Reads each character once. */
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
        else if (char === '"') {
          this.#inString = false
          // Arguments in a string.
          if (this.#depth === 0) this.#hasOpened = true
        }
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
