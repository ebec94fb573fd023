// How models that have no calls of their own write them: four customs, each with its words to the model and its marks.
import type { JsonObject, JsonValue } from '@baton/core'
import { BatonError, isJsonObject, parseJson } from '@baton/core'
import { readPythonCalls } from './python-calls.ts'

export type PromptedFormatName = 'hermes' | 'json-fence' | 'llama' | 'brackets'

export interface WrittenCall {
  readonly name: string
  /** JSON text of an object. */
  readonly arguments: string
}

/** Marks around calls. Without `close` a call reaches to the end of the answer. */
export interface Mark {
  readonly open: string
  readonly close?: string
  /** What stands between may also be plain text: it is, unless it reads as a call. */
  readonly mayBeText?: true
}

export interface PromptedFormat {
  readonly marks: readonly Mark[]
  /** An answer that begins with one of these is calls as a whole, if it reads as such. */
  readonly wholeAnswer?: readonly string[]
  /** What the model is told: how a call is written. */
  readonly howTo: string
  writeCall(call: WrittenCall): string
  /**
   * Calls between marks; undefined when it reads as none. With `isTool` the text may also be data that has a name: then it is
   * a call when the name is a tool's, or when it has arguments and nothing else.
   */
  readCalls(text: string, isTool?: (name: string) => boolean): readonly WrittenCall[] | undefined
}

/** As Hermes 2 Pro and Qwen 2.5 were taught. */
const HERMES: PromptedFormat = {
  marks: [{ open: '<tool_call>', close: '</tool_call>' }],
  howTo: `For each call, write a JSON object with the tool's name and its arguments inside of <tool_call></tool_call>:
<tool_call>
{"name": "<name>", "arguments": {<arguments>}}
</tool_call>`,
  writeCall: (call) => `<tool_call>\n${toJson(call, 'arguments')}\n</tool_call>`,
  readCalls: readJsonCalls,
}

/** For models that were taught nothing of the kind: all of them know code blocks. */
const JSON_FENCE: PromptedFormat = {
  marks: [
    { open: '```tool_call', close: '```' },
    { open: '```json', close: '```', mayBeText: true },
  ],
  howTo: `For each call, write a code block of the kind tool_call, with a JSON object in it:
\`\`\`tool_call
{"name": "<name>", "arguments": {<arguments>}}
\`\`\``,
  writeCall: (call) => `\`\`\`tool_call\n${toJson(call, 'arguments')}\n\`\`\``,
  readCalls: readJsonCalls,
}

/** As Llama 3.1 to 3.3 were taught: the answer is the call, after a tag or without. */
const LLAMA: PromptedFormat = {
  marks: [{ open: '<|python_tag|>', close: '<|eom_id|>' }],
  wholeAnswer: ['{'],
  howTo: `To call a tool, answer with a JSON object and nothing else:
{"name": "<name>", "parameters": {<arguments>}}`,
  writeCall: (call) => toJson(call, 'parameters'),
  readCalls: readJsonCalls,
}

/** As Mistral's and Llama 4's templates have it: a list in brackets, of JSON or of Python calls. */
const BRACKETS: PromptedFormat = {
  marks: [{ open: '<|tool_call_start|>', close: '<|tool_call_end|>' }, { open: '[TOOL_CALLS]' }],
  wholeAnswer: ['['],
  howTo: `To call tools, answer with a list of calls and nothing else:
[<name>(<argument>=<value>, <argument>=<value>), <name>()]`,
  writeCall: (call) => pythonCall(call) ?? `[${toJson(call, 'arguments')}]`,
  readCalls: (text, isTool) => readJsonCalls(text, isTool) ?? readPythonCalls(text),
}

export const PROMPTED_FORMATS: Readonly<Record<PromptedFormatName, PromptedFormat>> = {
  hermes: HERMES,
  'json-fence': JSON_FENCE,
  llama: LLAMA,
  brackets: BRACKETS,
}

/** Where nothing is known of a model: most of the open ones were taught it. */
export const USUAL_FORMAT: PromptedFormatName = 'hermes'

/** @throws BatonError `invalid_option` */
export function promptedFormat(name: string): PromptedFormat {
  if (isPromptedFormat(name)) return PROMPTED_FORMATS[name]
  const known = Object.keys(PROMPTED_FORMATS).join(', ')
  throw new BatonError({
    code: 'invalid_option',
    message: `no format of calls is named "${name}"; use one of ${known}`,
  })
}

export function isPromptedFormat(name: string): name is PromptedFormatName {
  return Object.hasOwn(PROMPTED_FORMATS, name)
}

/** Arguments that could not be read are left out, their result says why: a model does as its own past shows it. */
function toJson({ name, arguments: given }: WrittenCall, key: string): string {
  const parsed = parseJson(given)
  return `{"name": ${JSON.stringify(name)}, "${key}": ${parsed.ok && isJsonObject(parsed.value) ? given : '{}'}}`
}

/** Undefined where names have characters that Python's calls have no place for. */
function pythonCall({ name, arguments: given }: WrittenCall): string | undefined {
  const parsed = parseJson(given)
  const values = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  const written = Object.entries(values).map(([key, value]) => `${key}=${pythonValue(value)}`)
  const call = `[${name}(${written.join(', ')})]`
  const [read] = readPythonCalls(call) ?? []
  return read?.name === name && read.arguments === JSON.stringify(values) ? call : undefined
}

function pythonValue(value: JsonValue): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${(value as readonly JsonValue[]).map(pythonValue).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: ${pythonValue(inner)}`)
    .join(', ')}}`
}

/** One object, a list of them, or several behind each other; models put semicolons and line breaks between. */
function readJsonCalls(text: string, isTool?: (name: string) => boolean): readonly WrittenCall[] | undefined {
  const trimmed = text.trim().replace(/;+$/, '')
  const whole = parseJson(trimmed)
  const values = whole.ok ? [whole.value].flat() : trimmed.split(/(?<=\})\s*[;\n]\s*(?=\{)/).map(valueIn)
  const calls = (values as readonly JsonValue[]).map((value) => {
    const call = callIn(value)
    return call && isTool && !isTool(call.name) && !isOnlyCall(value) ? undefined : call
  })
  return calls.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined
}

const CALL_FIELDS: ReadonlySet<string> = new Set(['name', 'arguments', 'parameters', 'type', 'id'])

function isOnlyCall(value: JsonValue): boolean {
  if (!isJsonObject(value) || !('arguments' in value || 'parameters' in value)) return false
  return Object.keys(value).every((field) => CALL_FIELDS.has(field))
}

function valueIn(text: string): JsonValue {
  const parsed = parseJson(text)
  return parsed.ok ? parsed.value : null
}

function callIn(value: JsonValue): WrittenCall | undefined {
  if (!isJsonObject(value) || typeof value['name'] !== 'string') return undefined
  const given = value['arguments'] ?? value['parameters'] ?? {}
  // Some write the arguments as a text of JSON, as their provider's wire has it.
  const read = typeof given === 'string' ? valueIn(given) : given
  return isJsonObject(read) ? { name: value['name'], arguments: JSON.stringify(read satisfies JsonObject) } : undefined
}
