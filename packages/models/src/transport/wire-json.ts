// JSON as servers write it: Python's `NaN` and `Infinity`, which JSON has not, are null beside an answer. Never in the arguments of a
// call, which would run with what its model did not write.
import type { JsonParsed } from '@baton/core'
import { parseJson } from '@baton/core'

const TEXTS_AND_NUMBERS = /"[^"\\]*(?:\\[^][^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g
/** Fields in which servers have arguments as an object, not as a text. */
const ARGUMENTS = /"(?:arguments|args|input|parameters)"\s*:\s*[[{]/

/** As `parseJson`. */
export function parseWireJson(text: string): JsonParsed {
  const parsed = parseJson(text)
  if (parsed.ok || parsed.tooDeep || !/NaN|Infinity/.test(text) || ARGUMENTS.test(text)) return parsed
  return parseJson(text.replaceAll(TEXTS_AND_NUMBERS, (found) => (found.startsWith('"') ? found : 'null')))
}
