// JSON as a type, and the one place where JSON text from outside is parsed.

/** Any value that JSON text can hold. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject
/** A JSON object. */
export type JsonObject = { readonly [key: string]: JsonValue }

export type JsonParsed =
  { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly cutOff: boolean }

/**
 * Parses JSON text without throwing. `cutOff` says that the text is the beginning of some JSON text and simply ends
 * too early, as the arguments of a call do when the model's output limit stops them.
 */
export function parseJson(text: string): JsonParsed {
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
 * JSON text with the keys of every object in order, so that equal values give equal text.
 * @throws TypeError for what JSON cannot hold: a cycle, a bigint
 */
export function stringifySorted(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    isJsonObject(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : item,
  )
}

/** Whether nothing came, or brackets or a string are still open at the end: enough to tell "cut off" from "wrong". */
function endsEarly(text: string): boolean {
  if (text.trim() === '') return true
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const char = text[index]
    if (inString) {
      if (char === '\\') index++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
  }
  return inString || depth > 0
}
