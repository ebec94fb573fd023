// Random texts of marks, code, quotes and partial calls: their meaning does not depend on how they are split, no text
// is lost, and a call within a surrounding code block is not a call.
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Parsed } from './answer-parser.ts'
import { AnswerParser } from './answer-parser.ts'
import type { PromptedFormatName } from './formats.ts'
import { PROMPTED_FORMATS } from './formats.ts'
import { offeredTools } from './json-calls.ts'

const RUNS = chooseCount({ quick: 300, landing: 1000, deep: 20_000 })
const NAMES = Object.keys(PROMPTED_FORMATS) as readonly PromptedFormatName[] // the keys of that record
const TOOLS = offeredTools([{ name: 'look', inputSchema: { type: 'object' } }])

// prettier-ignore
const COMMON = [
  '`', '``', '```', '~~~', '\n', '\n\n', ' ', '    ', '\t', 'a', 'b c', '- ', '1. ', '> ', '# ', '---', '\\', '<think>', '</think>', '<Thinking >', '</thinking>', '<!--', '-->', '<pre', '>', '</pre>', '\\begin{verbatim}', '\\end{verbatim}',
  '{', '}', '[', ']', '"', "'", '{"name": "look"', '"arguments": {}', ',', ':', 'look', '(', ')', '=', 'None', '<', '|', '😀', '<code>',
  '```json\n', 'print(', '"""', ';', '<function=look>', '<parameter=a>', '</parameter>', '</function>', '<arg_key>a</arg_key>',
  '<arg_value>', '</arg_value>', '<invoke name="look">', '</invoke>', '[ARGS]', 'assistant', 'analysis', 'final',
  'commentary to=functions.look',
]

function listPieces(name: PromptedFormatName): readonly string[] {
  const { marks, head, strays = [], writeCall } = PROMPTED_FORMATS[name]
  const call = writeCall({ name: 'look', arguments: '{"a":"b"}' })
  const heads = head ? [...head.open, head.until, ...head.close] : []
  return [call, call, ...marks.flatMap(({ open, close }) => [open, open, ...close]), ...strays, ...heads]
}

function read(name: PromptedFormatName, pieces: readonly string[], isWhole: boolean): readonly Parsed[] {
  const heard: Parsed[] = []
  const parser = new AnswerParser({
    format: PROMPTED_FORMATS[name],
    tools: TOOLS,
    mayRepair: isWhole,
    onParsed: (parsed) => {
      const last = heard.at(-1)
      if ('text' in parsed && last?.type === parsed.type)
        heard.splice(-1, 1, { type: parsed.type, text: last.text + parsed.text })
      else heard.push(parsed)
    },
  })
  for (const piece of pieces) parser.push(piece)
  parser.end(isWhole)
  return heard
}

function cut(text: string, places: readonly number[]): readonly string[] {
  const sorted = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted((one, other) => one - other)
  return [0, ...sorted].map((from, index) => text.slice(from, sorted[index] ?? text.length))
}

test.each(NAMES)('random texts of the format %s mean the same in all pieces, and lose no text', (name) => {
  const piece = fc.oneof(fc.constantFrom(...COMMON), fc.constantFrom(...listPieces(name)))
  const texts = fc.array(piece, { maxLength: 18 }).map((pieces) => pieces.join(''))
  let calls = 0
  fc.assert(
    fc.property(texts, fc.array(fc.nat()), fc.boolean(), (text, places, isWhole) => {
      const whole = read(name, [text], isWhole)
      expect(read(name, text.split(''), isWhole)).toEqual(whole)
      expect(read(name, cut(text, places), isWhole)).toEqual(whole)
      const isText = whole.every(({ type }) => type === 'text' || type === 'thought-ended')
      if (!isText) calls += 1
      const said = whole.map((parsed) => ('text' in parsed ? parsed.text : '')).join('')
      // Text outside of calls is shown; harmony's end-of-message tokens are not part of the text.
      const isLossless = isText && isWhole && !PROMPTED_FORMATS[name].head
      expect(isLossless ? said : text).toBe(text)
    }),
    { numRuns: RUNS },
  )
  expect(calls).toBeGreaterThan(RUNS / 50)
})

test.each(NAMES)('in a code block around all of it nothing is a call in the format %s', (name) => {
  const piece = fc.oneof(fc.constantFrom(...COMMON), fc.constantFrom(...listPieces(name)))
  const texts = fc.array(piece, { maxLength: 12 }).map((pieces) => `\`\`\`\`\`\`txt\n${pieces.join('')}`)
  fc.assert(
    fc.property(texts, (text) => {
      fc.pre(!/`{6,}\s*$/m.test(text.slice(9)))
      expect(read(name, [text], true)).toEqual([{ type: 'text', text }])
    }),
    { numRuns: RUNS },
  )
})
