// Calls as JSON objects with a name and arguments: one, a list of them, or several behind each other.
import type { JsonValue } from '@baton/core'
import { isJsonObject, repairJson } from '@baton/core'
import type { Begins, Body, OfferedTools, ReadCall, Reading } from './format.ts'
import { anyBegins, beginsWith } from './format.ts'

/** Names of fields that a call has and data with a name has not: of OpenAI's wire, Llama, and Hermes. */
const CALL_FIELDS: ReadonlySet<string> = new Set(['name', 'arguments', 'parameters', 'type', 'id', 'function'])

/** JSON between marks that say that it is a call. */
export const JSON_CALLS: Body = {
  begins: (start) => beginsJson(start),
  texts: 'json',
  read: readJsonCalls,
}

/** JSON where plain data may stand as well: it is a call when it names a tool, or when it has the fields of one and no other. */
export const JSON_CALLS_OR_DATA: Body = {
  begins: (start) => {
    const begins = beginsJson(start)
    if (begins !== 'yes') return begins
    const [, key] = /^\[? ?\{ ?["'](\w*)/.exec(start) ?? []
    if (key === undefined) return 'no'
    return start.endsWith(key) && !CALL_FIELDS.has(key) ? anyKeyBegins(key) : CALL_FIELDS.has(key) ? 'yes' : 'no'
  },
  texts: 'json',
  read: (inside, reading) => {
    const calls = readJsonCalls(inside, reading)
    const isCall = calls.every(({ name, problem }) => problem === undefined && reading.tools.has(name))
    return isCall || isOnlyCalls(inside, reading) ? calls : undefined
  },
}

function anyKeyBegins(key: string): Begins {
  return anyBegins([...CALL_FIELDS].map((field) => beginsWith(key, field)))
}

/** An object or a list of them, bare or in a code fence; a placeholder such as `{...}` is none. */
function beginsJson(start: string): Begins {
  const fence = /^```\w* ?/.exec(start)?.[0]
  if (fence === undefined && '```'.startsWith(start)) return 'maybe'
  const json = fence === undefined ? start : start.slice(fence.length)
  if (/^\[? ?\{? ?$/.test(json)) return 'maybe'
  return /^\[? ?\{ ?["'A-Za-z_]/.test(json) ? 'yes' : 'no'
}

export function readJsonCalls(inside: string, reading: Reading): readonly ReadCall[] {
  const text = inside.trim().replace(/;$/, '')
  const whole = readJson(text, reading, reading.isClosed)
  if (whole) {
    const values = Array.isArray(whole.value) ? (whole.value as readonly JsonValue[]) : [whole.value]
    if (values.length === 0) return [{ ...UNKNOWN, problem: 'the list is empty' }]
    return values.map((value) => readCall(value, reading, whole.repairs))
  }
  const pieces = splitObjects(text)
  // One that is wrong inside is told as a whole.
  if (pieces.length < 2) return [unreadable(text)]
  return pieces.map((piece) => {
    const read = readJson(piece, reading, false)
    return read ? readCall(read.value, reading, read.repairs) : unreadable(piece)
  })
}

/** JSON as it is, or repaired where that is allowed. */
export function readJson(
  text: string,
  { mayRepair }: Pick<Reading, 'mayRepair'>,
  isEnclosed: boolean,
): { readonly value: JsonValue; readonly text: string; readonly repairs: readonly string[] } | undefined {
  const read = repairJson(text, { isEnclosed })
  return read && (mayRepair || read.repairs.length === 0) ? read : undefined
}

const UNKNOWN: ReadCall = { name: '', arguments: '{}' }

function readCall(value: JsonValue, reading: Reading, repairs: readonly string[]): ReadCall {
  const outer = isJsonObject(value) ? value : {}
  // As OpenAI's wire has it.
  const call = isJsonObject(outer['function']) ? outer['function'] : outer
  const name = call['name'] ?? outer['function']
  if (typeof name !== 'string' || name === '') return { ...UNKNOWN, problem: 'it has no "name"' }
  const given = call['arguments'] ?? call['parameters'] ?? {}
  if (typeof given !== 'string') return finish(name, given, repairs)
  // Some write the arguments as a text of JSON, as their provider's wire has it.
  const read = readJson(given, reading, false)
  return finish(name, read?.value ?? null, [...repairs, ...(read?.repairs ?? [])])
}

function finish(name: string, value: JsonValue, repairs: readonly string[]): ReadCall {
  if (!isJsonObject(value)) return { name, arguments: '{}', problem: 'its arguments are no JSON object' }
  return { name, arguments: JSON.stringify(value), ...(repairs.length > 0 && { repairs: [...new Set(repairs)] }) }
}

export function unreadable(text: string): ReadCall {
  const [, name = ''] = /["']name["']\s*:\s*["']([^"'\\\n]{1,128})["']/.exec(text.slice(0, 2000)) ?? []
  return { name, arguments: '{}', problem: 'it is no JSON that can be read' }
}

/** Objects that stand behind each other, with white space, commas or semicolons between; all else is a piece of its own. */
function splitObjects(text: string): readonly string[] {
  const pieces: string[] = []
  let depth = 0
  let from = 0
  let inText = false
  const take = (to: number): void => {
    const piece = text
      .slice(from, to)
      .replace(from === 0 ? /^[\s[]+/ : /^[\s;,]+/, '')
      .trimEnd()
    if (piece !== '') pieces.push(piece)
    from = to
  }
  for (let index = 0; index < text.length; index++) {
    const char = text[index]
    if (inText) {
      if (char === '\\') index += 1
      else if (char === '"') inText = false
    } else if (char === '"') inText = true
    else if (char === '{') {
      if (depth === 0) take(index)
      depth += 1
    } else if (char === '}' && depth > 0) {
      depth -= 1
      if (depth === 0) take(index + 1)
    }
  }
  take(text.length)
  return pieces
}

/** A list that reads strictly as calls and nothing else, whether or not there are such tools. */
function isOnlyCalls(inside: string, reading: Reading): boolean {
  const read = readJson(inside.trim().replace(/;$/, ''), reading, false)
  const values = read
    ? [read.value].flat()
    : splitObjects(inside).map((piece) => readJson(piece, reading, false)?.value)
  return (
    values.length > 0 &&
    (values as readonly (JsonValue | undefined)[]).every(
      (value) =>
        isJsonObject(value) &&
        typeof value['name'] === 'string' &&
        ('arguments' in value || 'parameters' in value) &&
        isJsonObject(value['arguments'] ?? value['parameters']) &&
        Object.keys(value).every((field) => CALL_FIELDS.has(field)),
    )
  )
}

/** For formats that have the name elsewhere: the arguments alone. */
export function readArguments(name: string, json: string, reading: Reading): ReadCall {
  const text = json.trim()
  if (text === '' && reading.isClosed) return { name, arguments: '{}' }
  const read = readJson(text, reading, reading.isClosed)
  if (!read) return { name, arguments: '{}', problem: 'its arguments are no JSON that can be read' }
  return finish(name, read.value, read.repairs)
}

/** Tools of a request. */
export function offeredTools(
  tools: readonly { readonly name: string; readonly inputSchema: Readonly<Record<string, JsonValue>> }[],
): OfferedTools {
  const schemas = new Map(tools.map(({ name, inputSchema }) => [name, inputSchema]))
  const names = [...schemas.keys()]
  return {
    has: (name) => schemas.has(name),
    hasPrefix: (text) => names.some((name) => name.startsWith(text)),
    schemaOf: (name) => schemas.get(name),
  }
}
