// Formats with a tag for each argument.
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { Body, PromptedFormat, WrittenCall } from '../format.ts'
import { anyBegins, beginsWith } from '../format.ts'
import { JSON_CALLS } from '../json-calls.ts'
import type { TagSyntax } from '../tagged-calls.ts'
import { readTaggedCalls, writeValue } from '../tagged-calls.ts'

const CODER: TagSyntax = {
  call: /<function=([^>\n]{1,256})>/y,
  callEnd: '</function>',
  argument: /<parameter=([^>\n]{1,256})>/y,
  argumentStart: '<parameter=',
  argumentEnd: '</parameter>',
  hasLines: true,
}

export const CODER_CALLS: Body = {
  begins: (start) => beginsWith(start, '<function='),
  texts: { open: '<parameter=', close: '</parameter>' },
  read: (inside, reading) => readTaggedCalls(inside, CODER, reading),
}

/** The content between `<function=` and `</function>`, if the model omitted the outer tags. */
const CODER_BARE: Body = {
  begins: (start) => {
    const [, end, behind = ''] = /^[^\s<>]{1,128}(>?) ?(.*)$/s.exec(start) ?? []
    if (end === undefined) return 'no'
    if (end === '') return behind === '' ? 'maybe' : 'no'
    return anyBegins([beginsWith(behind, '<parameter='), beginsWith(behind, '</function>')])
  },
  texts: CODER_CALLS.texts,
  read: (inside, reading) => readTaggedCalls(`<function=${inside}</function>`, CODER, reading),
}

const GLM: TagSyntax = {
  call: /([^<]{1,256})/y,
  callEnd: '',
  argument: /<arg_key>([^<]{1,256})<\/arg_key>\s{0,64}<arg_value>/y,
  argumentStart: '<arg_key>',
  argumentEnd: '</arg_value>',
}

/** A tool name in the first line, then a pair of tags for each argument. */
const GLM_CALLS: Body = {
  begins: (start, tools) => {
    const [, name = '', behind = ''] = /^([^<]*)(.*)$/s.exec(start) ?? []
    const known = tools.has(name.trimEnd())
    if (behind === '') return tools.hasPrefix(name) || known || /^[\w.:/-]{1,128} ?$/.test(name) ? 'maybe' : 'no'
    const begins = beginsWith(behind, '<arg_key>')
    if (begins === 'yes' && (known || /^[\w.:/-]{1,128} ?$/.test(name))) return 'yes'
    return anyBegins([begins === 'yes' ? 'no' : begins, known ? beginsWith(behind, '</tool_call>') : 'no'])
  },
  texts: { open: '<arg_value>', close: '</arg_value>' },
  read: (inside, reading) => readTaggedCalls(inside, GLM, reading),
}

/** For models of other formats, where a bare name between tags is ordinary prose rather than a call. */
export const GLM_ARGUMENT_CALLS: Body = {
  ...GLM_CALLS,
  begins: (start, tools) => (/<\//.test(start) ? 'no' : GLM_CALLS.begins(start, tools)),
}

const INVOKE: TagSyntax = {
  call: /<invoke\s+name="([^"]{1,256})"[^<>]{0,512}>/y,
  callEnd: '</invoke>',
  argument: /<parameter\s+name="([^"]{1,256})"[^<>]{0,512}>/y,
  argumentStart: '<parameter',
  argumentEnd: '</parameter>',
}

const DSML: TagSyntax = {
  call: /<｜DSML｜invoke\s+name="([^"]{1,256})"[^<>]{0,512}>/y,
  callEnd: '</｜DSML｜invoke>',
  argument: /<｜DSML｜parameter\s+name="([^"]{1,256})"(?:\s+string="(?<text>true|false)")?[^<>]{0,512}>/y,
  argumentStart: '<｜DSML｜parameter',
  argumentEnd: '</｜DSML｜parameter>',
}

export const DSML_CALLS: Body = {
  begins: (start) => beginsWith(start, '<｜DSML｜invoke'),
  texts: { open: '<｜DSML｜parameter', close: '</｜DSML｜parameter>' },
  read: (inside, reading) => readTaggedCalls(inside, DSML, reading),
}

const INVOKE_CALLS: Body = {
  begins: (start) => beginsWith(start, '<invoke'),
  texts: { open: '<parameter', close: '</parameter>' },
  read: (inside, reading) => readTaggedCalls(inside, INVOKE, reading),
}

/**
 * Qwen3-Coder, Qwen 3.5, Nemotron 3. Source: vLLM tests/tool_use/test_qwen3coder_tool_parser.py, llama.cpp
 * tests/test-chat.cpp (2026-11). Models sometimes forget the outer tag.
 */
export const QWEN_CODER: PromptedFormat = {
  marks: [
    { open: '<tool_call>', close: ['</tool_call>'], bodies: [CODER_CALLS, JSON_CALLS] },
    { open: '<function=', close: ['</function>'], bodies: [CODER_BARE] },
  ],
  strays: ['</tool_call>', '<|im_end|>'],
  howTo: `For each call, write the tool's name and its arguments in tags; a value that is no text is JSON:
<tool_call>
<function=<name>>
<parameter=<argument>>
<value>
</parameter>
</function>
</tool_call>`,
  writeCall: (call) => {
    const written = listArguments(call).map(([key, value]) => `<parameter=${key}>\n${value}\n</parameter>\n`)
    return `<tool_call>\n<function=${call.name}>\n${written.join('')}</function>\n</tool_call>`
  },
}

/**
 * GLM 4.5 and later. Source: llama.cpp models/templates/glm_4_5.jinja, vLLM tests/tool_use/test_glm4_moe_tool_parser.py
 * (2026-11).
 */
export const GLM_TAGS: PromptedFormat = {
  marks: [{ open: '<tool_call>', close: ['</tool_call>'], bodies: [GLM_CALLS, JSON_CALLS, CODER_CALLS] }],
  strays: ['</tool_call>', '<|observation|>', '<|user|>'],
  howTo: `For each call, write the tool's name and its arguments in tags; a value that is no text is JSON:
<tool_call><name>
<arg_key><argument></arg_key>
<arg_value><value></arg_value>
</tool_call>`,
  writeCall: (call) => {
    const written = listArguments(call).map(
      ([key, value]) => `<arg_key>${key}</arg_key>\n<arg_value>${value}</arg_value>\n`,
    )
    return `<tool_call>${call.name}\n${written.join('')}</tool_call>`
  },
}

/**
 * MiniMax M2 with tags, and M1 with one JSON object per line. Source: llama.cpp
 * models/templates/unsloth-MiniMax-M2.jinja, vLLM tests/tool_use/test_minimax_m2_tool_parser.py and
 * test_minimax_tool_parser.py (2026-11).
 */
export const MINIMAX: PromptedFormat = {
  marks: [
    { open: '<minimax:tool_call>', close: ['</minimax:tool_call>'], bodies: [INVOKE_CALLS] },
    { open: '<tool_calls>', close: ['</tool_calls>'], bodies: [JSON_CALLS] },
  ],
  strays: ['</minimax:tool_call>', '[e~['],
  howTo: `To call tools, write their names and arguments in tags; a value that is no text is JSON:
<minimax:tool_call>
<invoke name="<name>">
<parameter name="<argument>"><value></parameter>
</invoke>
</minimax:tool_call>`,
  writeCall: (call) => {
    const written = listArguments(call).map(([key, value]) => `<parameter name="${key}">${value}</parameter>\n`)
    return `<minimax:tool_call>\n<invoke name="${call.name}">\n${written.join('')}</invoke>\n</minimax:tool_call>`
  },
}

function listArguments({ arguments: given }: WrittenCall): readonly (readonly [key: string, value: string])[] {
  const parsed = parseJson(given)
  const values = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  return Object.entries(values).map(([key, value]) => [key, writeValue(value)])
}
