// Formats whose calls are JSON objects with a name and arguments, between marks or bare.
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { PromptedFormat, WrittenCall } from '../format.ts'
import { JSON_CALLS, JSON_CALLS_OR_DATA } from '../json-calls.ts'
import { CODER_CALLS, GLM_ARGUMENT_CALLS } from './tagged.ts'

/**
 * Hermes 2 Pro and 3, Qwen 2.5 and 3, Granite 4, SmolLM 3. Source: vLLM tests/tool_parsers/test_hermes_tool_parser.py
 * and test_granite4_tool_parser.py (2026-11). The content between the tags shows whether the model was trained on JSON,
 * Qwen3-Coder's tags or GLM's.
 */
export const HERMES: PromptedFormat = {
  marks: [{ open: '<tool_call>', close: ['</tool_call>'], bodies: [JSON_CALLS, CODER_CALLS, GLM_ARGUMENT_CALLS] }],
  strays: ['</tool_call>', '<|im_end|>'],
  howTo: `For each call, write a JSON object with the tool's name and its arguments inside of <tool_call></tool_call>:
<tool_call>
{"name": "<name>", "arguments": {<arguments>}}
</tool_call>`,
  writeCall: (call) => `<tool_call>\n${toJson(call, 'arguments')}\n</tool_call>`,
}

/** For models not trained on any format: all of them know code blocks. Specific to Baton. */
export const JSON_FENCE: PromptedFormat = {
  marks: [
    { open: '```tool_call', close: ['```'], bodies: [JSON_CALLS], isFence: true },
    { open: '```json', close: ['```'], bodies: [JSON_CALLS_OR_DATA], mayBeText: true, isFence: true },
  ],
  howTo: `For each call, write a code block of the kind tool_call, with a JSON object in it:
\`\`\`tool_call
{"name": "<name>", "arguments": {<arguments>}}
\`\`\``,
  writeCall: (call) => `\`\`\`tool_call\n${toJson(call, 'arguments')}\n\`\`\``,
}

/**
 * Llama 3.1 to 3.3: the answer is the call, with or without a leading tag. Source: vLLM
 * tests/tool_parsers/test_llama3_json_tool_parser.py (2026-11). Unlike there, an object surrounded by words is text.
 */
export const LLAMA: PromptedFormat = {
  marks: [{ open: '<|python_tag|>', close: ['<|eom_id|>', '<|eot_id|>'], bodies: [JSON_CALLS], endsWithAnswer: true }],
  whole: JSON_CALLS_OR_DATA,
  strays: ['<|eom_id|>', '<|eot_id|>'],
  howTo: `To call a tool, answer with a JSON object and nothing else:
{"name": "<name>", "parameters": {<arguments>}}`,
  writeCall: (call) => toJson(call, 'parameters'),
}

/**
 * IBM's Granite 3: a list after a token, or after a tag in 3.1. Source: vLLM
 * tests/tool_parsers/test_granite_tool_parser.py (2026-11).
 */
export const GRANITE: PromptedFormat = {
  hasTokens: true,
  marks: [
    { open: '<|tool_call|>', close: [], bodies: [{ ...JSON_CALLS, bracket: '[' }] },
    { open: '<tool_call>', close: [], bodies: [{ ...JSON_CALLS, bracket: '[' }] },
  ],
  strays: ['<|end_of_text|>', '</tool_call>'],
  howTo: `To call tools, write <|tool_call|> and behind it a list of JSON objects with the tools' names and their arguments:
<|tool_call|>[{"name": "<name>", "arguments": {<arguments>}}]`,
  writeCall: (call) => `<|tool_call|>[${toJson(call, 'arguments')}]`,
}

/** Unreadable arguments are left out (their result says why), because a model imitates its own past. */
export function toJson({ name, arguments: given }: WrittenCall, key: string): string {
  return `{"name": ${JSON.stringify(name)}, "${key}": ${readable(given)}}`
}

export function readable(given: string): string {
  const parsed = parseJson(given)
  return parsed.ok && isJsonObject(parsed.value) ? given : '{}'
}
