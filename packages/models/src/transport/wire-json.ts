// Parses JSON as servers write it: Python's `NaN` and `Infinity`, which are not JSON, become null. Never in the
// arguments of a call, which would then run with values that its model did not write.
import type { JsonParsed } from '@baton/core/internal'
import { parseJson } from '@baton/core/internal'

const TEXTS_AND_NUMBERS = /"[^"\\]*(?:\\[^][^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g
/** Fields in which servers send arguments as an object rather than a string. */
const ARGUMENTS = /"(?:arguments|args|input|parameters)"\s*:\s*[[{]/

/** Like `parseJson`. */
export function parseWireJson(text: string): JsonParsed {
  const parsed = parseJson(text)
  if (parsed.ok || parsed.tooDeep || !/NaN|Infinity/.test(text) || ARGUMENTS.test(text)) return parsed
  return parseJson(text.replaceAll(TEXTS_AND_NUMBERS, (found) => (found.startsWith('"') ? found : 'null')))
}
