// The parser's work: linear in the length of the text, for any text and any splitting.
import { afterAll, expect, test } from 'vitest'
import { AnswerParser } from './answer-parser.ts'
import type { PromptedFormatName } from './formats.ts'
import { PROMPTED_FORMATS } from './formats.ts'
import { offeredTools } from './json-calls.ts'

const CHARS = 40_000
const CALL = '<tool_call>{"name":"look","arguments":{}}</tool_call>'
const TOOLS = offeredTools([{ name: 'look', inputSchema: { type: 'object' } }])

function repeat(unit: string): string {
  return unit.repeat(Math.ceil(CHARS / unit.length))
}

/** Unclosed backtick runs of every length, each followed by a call. */
function writeRuns(): string {
  let text = ''
  for (let length = 1; text.length < CHARS; length++) text += `${'`'.repeat(length)} ${CALL} `
  return text
}

const TEXTS: readonly (readonly [name: string, format: PromptedFormatName, text: string])[] = [
  ['blanks', 'hermes', repeat(' ')],
  ['blanks behind a tag', 'hermes', `<tool_call>${repeat(' ')}`],
  ['angle brackets', 'hermes', repeat('<')],
  ['tags', 'hermes', repeat('<tool_call>')],
  ['tags and brackets', 'hermes', repeat('<tool_call>{')],
  ['calls whose quotes do not end', 'hermes', repeat('<tool_call>{"name":"look}</tool_call>')],
  ['backticks that do not end', 'hermes', writeRuns()],
  ['a backtick before many calls', 'hermes', `\` ${repeat(CALL)}`],
  ['paragraphs with an open backtick', 'hermes', repeat(`\` ${CALL}\n\n`)],
  ['a long call', 'hermes', `<tool_call>{"name":"look","arguments":{"at":"${repeat('x')}"}}</tool_call>`],
  ['code blocks of data', 'json-fence', repeat('```json\n{"name": "a"}\n```\n')],
  ['an object that does not end', 'llama', `{"name": ${repeat('{')}`],
  ['arguments of a call', 'qwen-coder', `<tool_call><function=look>${repeat('<parameter=at>a</parameter>')}`],
  ['arguments that do not end', 'qwen-coder', repeat('<tool_call><function=look><parameter=at></tool_call>')],
  ['heads', 'harmony', repeat('<|channel|>')],
  ['heads of thoughts', 'harmony', repeat('<|channel|>analysis<|message|>')],
  ['sections', 'kimi', repeat('<|tool_calls_section_begin|><|tool_call_begin|>')],
  ['blanks of a list', 'brackets', `<|tool_call_start|>${repeat(' ')}x`],
  ['blanks of a block', 'gemma', `\`\`\`tool_code\n${repeat('\t')}x`],
  ['words for thoughts', 'hermes', `a ${repeat('<think>')}`],
  ['words for many thoughts', 'hermes', `a ${repeat('<think><thinking><THOUGHT> [think] ')}`],
  ['ends of thoughts', 'hermes', repeat('</reasoning>')],
  ['comments', 'hermes', repeat('<!-- a --')],
  ['TeX', 'hermes', repeat('\\begin{verbatim')],
  ['names', 'mistral', repeat('[TOOL_CALLS]look')],
]

let most = 0

test.each(TEXTS)('%s cost a few looks at each character (%s)', (_, format, text) => {
  for (const pieceChars of [1, 7, text.length]) {
    const parser = new AnswerParser({
      format: PROMPTED_FORMATS[format],
      tools: TOOLS,
      mayRepair: true,
      onParsed: () => {},
    })
    for (let at = 0; at < text.length; at += pieceChars) parser.push(text.slice(at, at + pieceChars))
    parser.end(true)
    most = Math.max(most, parser.looks / text.length)
    expect(parser.looks).toBeLessThanOrEqual(5 * text.length)
  }
})

afterAll(() => console.log(`looks at a character: ${most.toFixed(1)} at most`))
