// Formats with special tokens around each call: DeepSeek, Kimi, Mistral, and OpenAI's harmony.
import type { Begins, Body, PromptedFormat, ReadCall, Reading } from '../format.ts'
import { anyBegins, beginsWith } from '../format.ts'
import { JSON_CALLS, readArguments } from '../json-calls.ts'
import { readable, toJson } from './json.ts'
import { DSML_CALLS } from './tagged.ts'

const DEEPSEEK_MARKS: MarkSyntax = {
  begin: '<｜tool▁call▁begin｜>',
  separator: '<｜tool▁sep｜>',
  end: '<｜tool▁call▁end｜>',
  split: (head, rest, { tools }) => {
    // V3 and R1 write the kind before the name, and the arguments in a code block.
    const [begin, name = ''] = head === 'function' ? (/^([^\n`]{1,256})\n/.exec(rest.trimStart()) ?? []) : []
    const behind = begin === undefined ? '' : rest.trimStart().slice(begin.length).trimStart()
    if (!behind.startsWith('```') || tools.has(head)) return { name: head, json: rest }
    const json = behind.replace(/^```(?:json)?/, '').trimEnd()
    return { name: name.trim(), json: json.endsWith('```') ? json.slice(0, -3) : json }
  },
}

const DEEPSEEK_CALLS: Body = {
  begins: (start) => beginsWith(start, DEEPSEEK_MARKS.begin),
  texts: 'json',
  read: (inside, reading) => readMarkedCalls(inside, DEEPSEEK_MARKS, reading),
}

/** A call outside of a section's marks. */
function bareCalls(syntax: MarkSyntax): Body {
  const { begin, separator, end } = syntax
  return {
    begins: (start) => (start.includes(separator[0] ?? '') ? 'yes' : start.length < 128 ? 'maybe' : 'no'),
    texts: 'json',
    read: (inside, reading) => readMarkedCalls(`${begin}${inside}${reading.isClosed ? end : ''}`, syntax, reading),
  }
}

/**
 * DeepSeek V3, R1 and V3.1 with tokens, V3.2 with tags. Source: llama.cpp models/templates/deepseek-ai-DeepSeek-V3.1.jinja, vLLM
 * tests/tool_parsers/test_deepseekv3_tool_parser.py, tests/tool_use/test_deepseek_v32_tool_parser.py (2026-11).
 */
export const DEEPSEEK: PromptedFormat = {
  hasTokens: true,
  marks: [
    { open: '<｜tool▁calls▁begin｜>', close: ['<｜tool▁calls▁end｜>'], bodies: [DEEPSEEK_CALLS] },
    { open: '<｜tool▁call▁begin｜>', close: ['<｜tool▁call▁end｜>'], bodies: [bareCalls(DEEPSEEK_MARKS)] },
    { open: '<｜DSML｜function_calls>', close: ['</｜DSML｜function_calls>'], bodies: [DSML_CALLS] },
  ],
  strays: ['<｜tool▁calls▁end｜>', '<｜end▁of▁sentence｜>'],
  howTo: `To call tools, write for each its name and its arguments as a JSON object between these marks:
<｜tool▁calls▁begin｜><｜tool▁call▁begin｜><name><｜tool▁sep｜>{<arguments>}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  writeCall: ({ name, arguments: given }) =>
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${readable(given)}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
}

const KIMI_MARKS: MarkSyntax = {
  begin: '<|tool_call_begin|>',
  separator: '<|tool_call_argument_begin|>',
  end: '<|tool_call_end|>',
  split: (head, json, { tools }) => {
    const name = head.replace(/:\d+$/, '')
    return { name: tools.has(name) ? name : name.replace(/^functions\./, ''), json }
  },
}

const KIMI_CALLS: Body = {
  begins: (start) => beginsWith(start, KIMI_MARKS.begin),
  texts: 'json',
  read: (inside, reading) => readMarkedCalls(inside, KIMI_MARKS, reading),
}

/**
 * Moonshot's Kimi K2. Source: vLLM tests/tool_use/test_kimi_k2_tool_parser.py (2026-11). Reads both spellings of the
 * section mark.
 */
export const KIMI: PromptedFormat = {
  hasTokens: true,
  marks: [
    { open: '<|tool_calls_section_begin|>', close: ['<|tool_calls_section_end|>'], bodies: [KIMI_CALLS] },
    { open: '<|tool_call_section_begin|>', close: ['<|tool_call_section_end|>'], bodies: [KIMI_CALLS] },
    { open: '<|tool_call_begin|>', close: ['<|tool_call_end|>'], bodies: [bareCalls(KIMI_MARKS)] },
  ],
  strays: ['<|tool_calls_section_end|>', '<|tool_call_section_end|>', '<|im_end|>'],
  howTo: `To call tools, write for each its name, a number and its arguments as a JSON object between these marks:
<|tool_calls_section_begin|><|tool_call_begin|>functions.<name>:0<|tool_call_argument_begin|>{<arguments>}<|tool_call_end|><|tool_calls_section_end|>`,
  writeCall: ({ name, arguments: given }) =>
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.${name}:0<|tool_call_argument_begin|>${readable(given)}<|tool_call_end|><|tool_calls_section_end|>`,
}

/** A list of objects, up to tokenizer v7. */
const MISTRAL_LIST: Body = { ...JSON_CALLS, begins: (start) => beginsList(start), bracket: '[' }

function beginsList(start: string): Begins {
  if (/^\[? ?$/.test(start)) return 'maybe'
  return /^\[ ?\{/.test(start) ? 'yes' : 'no'
}

/** A name and its arguments, in tokenizers v11 and v13. */
const MISTRAL_NAMED: Body = {
  begins: (start) => {
    if (/^[^\s[\]{}"'`]{1,128} ?(?:\{|\[(?:ARGS|CALL_ID)\])/.test(start)) return 'yes'
    const [, name, behind = ''] = /^([^\s[\]{}"'`]{1,128}) ?(\[[A-Z_]*\]?)?$/.exec(start) ?? []
    if (name === undefined) return 'no'
    return behind === '' ? 'maybe' : anyBegins([beginsWith(behind, '[ARGS]'), beginsWith(behind, '[CALL_ID]')])
  },
  texts: 'json',
  bracket: '{',
  read: (inside, reading) => {
    const [, name = '', json = ''] =
      /^\s*([^\s[{]{1,128})\s*(?:\[CALL_ID\][^[{]*)?(?:\[ARGS\])?([^]*)$/.exec(inside) ?? []
    return [readArguments(name, json, { ...reading, isClosed: false })]
  },
}

/**
 * Mistral and Magistral. Source: vLLM tests/tool_use/test_mistral_tool_parser.py (2026-11), which covers the list and a
 * name with an object; [ARGS] and [CALL_ID] are tokens of mistral-common's v11 and v13.
 */
export const MISTRAL: PromptedFormat = {
  hasTokens: true,
  marks: [{ open: '[TOOL_CALLS]', close: [], bodies: [MISTRAL_LIST, MISTRAL_NAMED] }],
  strays: ['</s>', '}', ']'],
  howTo: `To call a tool, write this, once for each call, and nothing behind it:
[TOOL_CALLS]<name>[ARGS]{<arguments>}`,
  writeCall: (call) => {
    const isName = /^[^\s[\]{}"'`]{1,128}$/.test(call.name)
    return isName
      ? `[TOOL_CALLS]${call.name}[ARGS]${readable(call.arguments)}`
      : `[TOOL_CALLS][${toJson(call, 'arguments')}]`
  },
}

function harmonyCall(name: string): Body {
  return {
    begins: () => 'yes',
    texts: 'json',
    read: (inside, reading) => [readArguments(name, inside, reading)],
  }
}

/**
 * OpenAI's gpt-oss. Source: docs/format.md of openai/harmony, SGLang function_call/gpt_oss_detector.py, llama.cpp
 * tests/test-chat-parser.cpp (2026-11). The analysis channel holds thoughts.
 */
export const HARMONY: PromptedFormat = {
  hasTokens: true,
  marks: [],
  head: {
    open: ['<|start|>', '<|channel|>'],
    until: '<|message|>',
    close: ['<|end|>', '<|call|>', '<|return|>'],
    read: (head) => {
      if (!/^(?:assistant|analysis|commentary|final)\b/.test(head.trim())) return undefined
      const [, recipient = ''] = /\bto=(.{1,256}?)\s*(?:<\||\bjson\s*$|$)/.exec(head) ?? []
      const name = recipient.replace(/^functions\./, '')
      if (name !== '' && recipient !== 'user' && recipient !== 'assistant')
        return { type: 'call', body: harmonyCall(name) }
      return { type: /\banalysis\b/.test(head) ? 'thought' : 'text' }
    },
  },
  howTo: `To call a tool, end your answer with a message to it in the commentary channel:
<|channel|>commentary to=functions.<name> <|constrain|>json<|message|>{<arguments>}<|call|>`,
  writeCall: ({ name, arguments: given }) =>
    `<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${readable(given)}<|call|>`,
}

interface MarkSyntax {
  readonly begin: string
  readonly separator: string
  readonly end: string
  /** Splits a call into name and arguments, from the text before and after the separator. */
  readonly split: (head: string, rest: string, reading: Reading) => { readonly name: string; readonly json: string }
}

/** Calls with their own marks inside a section: begin, tool name, separator, JSON, end. DeepSeek and Kimi. */
function readMarkedCalls(inside: string, syntax: MarkSyntax, reading: Reading): readonly ReadCall[] {
  const { begin, separator, end, split } = syntax
  const calls: ReadCall[] = []
  let at = inside.indexOf(begin)
  while (at !== -1) {
    const from = at + begin.length
    const middle = inside.indexOf(separator, from)
    if (middle === -1) {
      calls.push({ name: '', arguments: '{}', problem: 'the name of its tool does not end' })
      break
    }
    const to = findEnd(inside, end, middle + separator.length)
    const isClosed = to < inside.length || reading.isClosed
    const rest = inside.slice(middle + separator.length, to)
    const { name, json } = split(inside.slice(from, middle).trim(), rest, reading)
    calls.push(readArguments(name, json, { ...reading, isClosed }))
    at = inside.indexOf(begin, to)
  }
  return calls.length > 0 ? calls : [{ name: '', arguments: '{}', problem: 'it contains no call' }]
}

/** Finds the end outside of JSON strings, or else inside one. Returns the end of the text if there is none. */
function findEnd(text: string, end: string, from: number): number {
  let inText = false
  let hidden = -1
  for (let index = from; index < text.length; index++) {
    const char = text[index]
    if (inText && char === '\\') index += 1
    else if (char === '"') inText = !inText
    else if (char === end[0] && text.startsWith(end, index)) {
      if (!inText) return index
      if (hidden === -1) hidden = index
    }
  }
  return hidden === -1 ? text.length : hidden
}
