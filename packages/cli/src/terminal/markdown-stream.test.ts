// Markdown on a terminal: styled parts, unchanged parts, and the same result however the text is streamed.
import fc from 'fast-check'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { createMarkdownStream } from './markdown-stream.ts'

function render(pieces: readonly string[], isPlain = false) {
  let all = ''
  let code = ''
  const stream = createMarkdownStream({
    isPlain,
    prose: (text) => void (all += text),
    verbatim: (text) => {
      all += text
      code += text
    },
  })
  for (const piece of pieces) stream.push(piece)
  stream.end()
  return { all, code }
}

const BOLD = (text: string): string => `\u001b[1m${text}\u001b[22m`
const ITALIC = (text: string): string => `\u001b[3m${text}\u001b[23m`
const CODE = (text: string): string => `\u001b[36m${text}\u001b[39m`

test.each([
  ['a **bold** word', `a ${BOLD('bold')} word`],
  ['an *italic* word and `code`', `an ${ITALIC('italic')} word and ${CODE('code')}`],
  ['``a`b`` ends', `${CODE('a`b')} ends`],
  ['# Title', BOLD('Title')],
  ['## Title of `code`\ntext', `${BOLD(`Title of ${CODE('code')}`)}\ntext`],
  ['- one\n* two\n  + three', '• one\n• two\n  • three'],
  ['- **one**: x', `• ${BOLD('one')}: x`],
])('%j is styled', (text, wanted) => {
  expect(render([text]).all).toBe(wanted)
})

test.each([
  '2 * 3 * 4 = 24',
  'def f(*args, **kwargs): a*b*c',
  'snake_case_name and __init__',
  'an `open mark',
  'a **bold that never ends',
  '#hashtag',
  '1. one\n2) two',
  '[a link](https://example.org)',
  '-5 degrees',
  '***',
])('%j stays as it is, but for a rule', (text) => {
  const { all } = render([text])
  expect(stripVTControlCharacters(all)).toBe(text === '***' ? '─'.repeat(20) : text)
})

test('code and tables are written as they are, and marks in them mean nothing', () => {
  const code = '  if (a **b** && `c`) {\n\n# no heading\n- no item\n  }'
  const { all, code: verbatim } = render([`Look:\n\`\`\`ts\n${code}\n\`\`\`\ndone **now**`])
  expect(stripVTControlCharacters(verbatim)).toBe(`\`\`\`ts\n${code}\n\`\`\`\n`)
  expect(verbatim).toContain(`\n${code}\n`)
  expect(all.endsWith(`done ${BOLD('now')}`)).toBe(true)
  const table = '| a | **b** |\n|---|---|\n| 1 | 2 |\n'
  expect(render([table]).code).toBe(table)
  expect(render(['    indented *code*\n']).code).toBe('    indented *code*\n')
})

test('a fence of four marks is not closed by three, and code that never ends is code', () => {
  const { code } = render(['````\n```\ninner\n```\n````\n'])
  expect(stripVTControlCharacters(code)).toBe('````\n```\ninner\n```\n````\n')
  expect(render(['```\nopen **x**']).code.endsWith('open **x**')).toBe(true)
})

test('whatever comes, in whatever pieces: the same is shown, and no letter of it is lost', () => {
  const part = fc.constantFrom(
    'a',
    ' ',
    '\n',
    '*',
    '**',
    '`',
    '```',
    '# ',
    '- ',
    '| ',
    '~~~',
    '1. ',
    '    ',
    'word',
    '漢',
    '---',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const text = parts.join('')
      const whole = render([text]).all
      expect(render(Array.from(text)).all).toBe(whole)
      expect(render(parts).all).toBe(whole)
      expect(render(parts, true).all).toBe(text)
      const letters = (value: string): string => stripVTControlCharacters(value).replace(/[^\p{L}\p{N}]/gu, '')
      expect(letters(whole)).toBe(letters(text))
    }),
    { numRuns: 500 },
  )
})
