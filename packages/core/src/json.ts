// The JSON type, and the one place where JSON text from outside is parsed.

/** Any value that JSON text can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue }

export type JsonParsed =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly cutOff: boolean; readonly tooDeep?: true }

/**
 * Maximum nesting of objects and arrays in a value from outside. `JSON.parse` accepts any depth, `JSON.stringify` a few
 * thousand levels: a value with a depth between the two could be read and never written again.
 */
export const JSON_DEPTH_MAX = 100
/** A text with fewer characters cannot be too deep. */
const SHALLOW_CHARS = 2 * JSON_DEPTH_MAX

/**
 * Parses JSON text without throwing. `cutOff`: the text is a prefix of valid JSON, like the arguments of a call stopped
 * by the model's output limit. `tooDeep`: it nests deeper than `JSON_DEPTH_MAX`.
 */
export function parseJson(text: string): JsonParsed {
  if (text.length > SHALLOW_CHARS && isDeepText(text)) return { ok: false, cutOff: false, tooDeep: true }
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue }
  } catch {
    return { ok: false, cutOff: endsEarly(text) }
  }
}

/** True for a plain object (not an array, not null). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * JSON text with the keys of every object sorted, so that equal values give equal text.
 * @throws TypeError for values that JSON cannot hold: a cycle, a bigint
 */
export function stringifySorted(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    isJsonObject(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : item,
  )
}

/** Whether JSON text nests deeper than `JSON_DEPTH_MAX`. */
export function isDeepText(text: string): boolean {
  if (!hasManyBrackets(text)) return false
  let deepest = 0
  walkBrackets(text, (depth) => {
    deepest = Math.max(deepest, depth)
  })
  return deepest > JSON_DEPTH_MAX
}

function hasManyBrackets(text: string): boolean {
  let count = 0
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      count += 1
      if (count > JSON_DEPTH_MAX) return true
    }
  return false
}

/** Whether a JSON value nests deeper than this many levels. */
export function isDeeper(value: unknown, levels = JSON_DEPTH_MAX): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((field) => isDeeper(field, levels - 1))
}

/**
 * Whether the text is empty, or brackets or a string are still open at the end: enough to distinguish "cut off" from
 * "wrong".
 */
function endsEarly(text: string): boolean {
  if (text.trim() === '') return true
  const { depth, inString } = walkBrackets(text, () => {})
  return inString || depth > 0
}

/** Counts the unclosed brackets at the end of the text, and reports whether a string is unclosed. */
function walkBrackets(text: string, onOpen: (depth: number) => void): { depth: number; inString: boolean } {
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const char = text[index]
    if (inString) {
      if (char === '\\') index++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') onOpen(++depth)
    else if (char === '}' || char === ']') depth--
  }
  return { depth, inString }
}
