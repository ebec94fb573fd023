// Formats whose calls look like Python, with named arguments and literal values.
import type { JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { Body, PromptedFormat, Reading, ReadCall, WrittenCall } from '../format.ts'
import { anyBegins } from '../format.ts'
import { JSON_CALLS_OR_DATA, readJsonCalls } from '../json-calls.ts'
import { readPythonCalls } from '../python-calls.ts'
import { MISTRAL } from './marked.ts'
import { toJson } from './json.ts'

function readPython(inside: string): readonly ReadCall[] | undefined {
  return readPythonCalls(inside)
}

function readPythonOrJson(inside: string, reading: Reading): readonly ReadCall[] {
  const calls = readPythonCalls(inside)
  if (calls) return calls
  if (/^\[?\s*\{/.test(inside.trimStart())) return readJsonCalls(inside, reading)
  const [, name = ''] = /([A-Za-z_][\w.]*)\s*\(/.exec(inside.trimStart().slice(0, 500)) ?? []
  return [{ name, arguments: '{}', problem: 'it contains more than calls with named, literal arguments' }]
}

/** A list of calls, as opposed to a Markdown link or a list of numbers. */
const PYTHON_LIST: Body = {
  begins: (start) => {
    if (/^\[ ?[^\s()[\]{}"'`,=]{1,128} ?\(/.test(start)) return 'yes'
    return /^\[? ?[^\s()[\]{}"'`,=]{0,128} ?$/.test(start) && start.startsWith('[') ? 'maybe' : 'no'
  },
  texts: 'python',
  read: readPython,
}

const PYTHON_OR_JSON: Body = {
  begins: () => 'yes',
  texts: 'python',
  read: readPythonOrJson,
}

/** An answer that is entirely a list of Python calls or JSON. */
const WHOLE_LIST: Body = {
  begins: (start, tools) => {
    if (!start.startsWith('[')) return 'no'
    return anyBegins([PYTHON_LIST.begins(start, tools), JSON_CALLS_OR_DATA.begins(start, tools)])
  },
  texts: 'python',
  read: (inside, reading) => readPythonCalls(inside) ?? JSON_CALLS_OR_DATA.read(inside, reading),
}

/**
 * Llama 4 and others that answer with a list of calls; Liquid's LFM 2 puts it between tokens. Source: llama.cpp
 * tests/test-chat.cpp (2026-11).
 */
export const BRACKETS: PromptedFormat = {
  marks: [
    { open: '<|tool_call_start|>', close: ['<|tool_call_end|>'], bodies: [PYTHON_OR_JSON] },
    { open: '<|python_start|>', close: ['<|python_end|>'], bodies: [PYTHON_OR_JSON] },
    ...MISTRAL.marks,
  ],
  whole: WHOLE_LIST,
  strays: ['<|tool_call_end|>', '<|python_end|>', '<|eot|>', '<|im_end|>', '</s>'],
  howTo: `To call tools, answer with a list of calls and nothing else:
[<name>(<argument>=<value>, <argument>=<value>), <name>()]`,
  writeCall: (call) => pythonCall(call) ?? `[${toJson(call, 'arguments')}]`,
}

/**
 * Gemma 2 and 3: a code block of type tool_code, the only kind of code block that may hold calls. Source: Google's
 * guide to functions with Gemma 3 (ai.google.dev/gemma/docs/meme-generator, 2026-11). Models tend to wrap a call in
 * print().
 */
export const GEMMA: PromptedFormat = {
  marks: [{ open: '```tool_code', close: ['```'], bodies: [PYTHON_OR_JSON], isFence: true }],
  howTo: `To call tools, write a code block of the kind tool_code, with one call in each line, whose arguments have names and
are literals:
\`\`\`tool_code
<name>(<argument>=<value>, <argument>=<value>)
\`\`\``,
  writeCall: (call) => `\`\`\`tool_code\n${pythonCall(call)?.slice(1, -1) ?? toJson(call, 'arguments')}\n\`\`\``,
}

/** Returns `undefined` if a name has characters that Python calls do not allow. */
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
