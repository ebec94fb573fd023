// Speech text: what a voice says of answers as models write them.
import { expect, test } from 'vitest'
import { extractSpeech } from './speech-text.ts'

test.each([
  ['plain words stay', 'It is 5. Shall I go on?', 'It is 5. Shall I go on?'],
  [
    'emphasis goes',
    'This is **very** _important_ and ***new*** and ~~old~~.',
    'This is very important and new and old.',
  ],
  ['names with underscores and products stay', 'snake_case_name and 3 * 4', 'snake_case_name and 3 * 4'],
  ['a code block goes whole', 'Do this:\n```ts\nconst a = 1\n```\nThen stop.', 'Do this:\nThen stop.'],
  ['a fence that never closes', 'Look:\n~~~\nrm -rf /\n', 'Look:'],
  ['a name in code marks is said', 'Open `main.ts` now.', 'Open main.ts now.'],
  ['a link is its text', 'See [the docs](https://example.com/a_b?c=1).', 'See the docs.'],
  ['an address alone is not read out', 'See https://example.com/a/b?c=d, or ask.', 'See, or ask.'],
  ['an address in brackets', 'It is open (https://example.com) now.', 'It is open now.'],
  ['a link whose text is its address', '[https://a.example](https://a.example) works', 'works'],
  ['an address in angle brackets', 'Go to <https://a.example>.', 'Go to.'],
  [
    'headings, quotes, lists and boxes',
    '# Title\n> said\n- one\n* two\n- [x] done\n1. first',
    'Title\nsaid\none\ntwo\ndone\n1. first',
  ],
  ['a table is read cell by cell', '| Name | Age |\n|---|:-:|\n| Ann | 7 |', 'Name, Age\nAnn, 7'],
  ['rules, tags and escapes', 'a\n\n---\n\nb<br/>c \\* d', 'a\nb c * d'],
  ['an image is its description', '![a cat](https://example.com/c.png)', 'a cat'],
  ['only code: nothing to say', '```\nx\n```', ''],
])('%s', (_situation, text, expected) => {
  expect(extractSpeech(text)).toBe(expected)
})

test.each(['[', '`', '*', '_', '<a', '|', '(', '> ', '![', 'http:', '~'])(
  'a long run of "%s" takes no longer than its length',
  (piece) => {
    const text = piece.repeat(30_000)
    expect(extractSpeech(text).length).toBeLessThanOrEqual(text.length)
  },
)
