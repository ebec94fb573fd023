// Calls as JSON objects with a name and arguments: one, a list, or several in a row.
import type { JsonValue } from '@baton/core/internal'
import { isJsonObject, repairJson } from '@baton/core/internal'
import type { Begins, Body, OfferedTools, ReadCall, Reading } from './format.ts'
import { anyBegins, beginsWith } from './format.ts'

/** Fields that identify a call, as opposed to data that has a name: those of OpenAI's wire, Llama and Hermes. */
const CALL_FIELDS: ReadonlySet<string> = new Set(['name', 'arguments', 'parameters', 'type', 'id', 'function'])

/** JSON between marks that announce a call. */
export const JSON_CALLS: Body = {
  begins: (start) => beginsJson(start),
  texts: 'json',
  read: readJsonCalls,
}

/** JSON that may also be plain data: it is a call if it names a tool, or if it has a call's fields and no others. */
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

/** An object or a list of objects, bare or in a code fence; a placeholder such as `{...}` does not count. */
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
  // If one piece is invalid, the text is reported as a whole.
  if (pieces.length < 2) return [unreadable(text)]
  return pieces.map((piece) => {
    const read = readJson(piece, reading, false)
    return read ? readCall(read.value, reading, read.repairs) : unreadable(piece)
  })
}

/** Parses JSON as is, or repaired if that is allowed. */
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
  // OpenAI's wire format.
  const call = isJsonObject(outer['function']) ? outer['function'] : outer
  const name = call['name'] ?? outer['function']
  if (typeof name !== 'string' || name === '') return { ...UNKNOWN, problem: 'it has no "name"' }
  const given = call['arguments'] ?? call['parameters'] ?? {}
  if (typeof given !== 'string') return finish(name, given, repairs)
  // Some models write the arguments as a JSON string, as on their provider's wire.
  const read = readJson(given, reading, false)
  return finish(name, read?.value ?? null, [...repairs, ...(read?.repairs ?? [])])
}

function finish(name: string, value: JsonValue, repairs: readonly string[]): ReadCall {
  if (!isJsonObject(value)) return { name, arguments: '{}', problem: 'its arguments are not a JSON object' }
  return { name, arguments: JSON.stringify(value), ...(repairs.length > 0 && { repairs: [...new Set(repairs)] }) }
}

export function unreadable(text: string): ReadCall {
  const [, name = ''] = /["']name["']\s*:\s*["']([^"'\\\n]{1,128})["']/.exec(text.slice(0, 2000)) ?? []
  return { name, arguments: '{}', problem: 'it is not valid JSON' }
}

/** Splits consecutive objects, separated by white space, commas or semicolons. Anything else becomes its own piece. */
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

/** Whether the text strictly parses as calls and nothing else, whether or not the tools exist. */
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

/** For formats in which the name is elsewhere: parses the arguments alone. */
export function readArguments(name: string, json: string, reading: Reading): ReadCall {
  const text = json.trim()
  if (text === '' && reading.isClosed) return { name, arguments: '{}' }
  const read = readJson(text, reading, reading.isClosed)
  if (!read) return { name, arguments: '{}', problem: 'its arguments are not valid JSON' }
  return finish(name, read.value, read.repairs)
}

/** Looks up the tools of a request. */
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
