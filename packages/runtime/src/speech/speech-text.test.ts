// Speech text: the words a voice says of answers that models write.
import { expect, test, vi } from 'vitest'
import { extractSpeech, LINE_CHARS, SPOKEN_CHARS } from './speech-text.ts'

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

const RUNS = String.raw`[ ${'`'} * _ <a | ( > ![ http: ~ . |- - []( \ # mailto: [a](" *_ www. 😀`.split(' ')

/** Characters that patterns looked at, counted for each pattern, and the longest text passed to one. */
function countSeen(text: string): { readonly seen: number; readonly longest: number } {
  let seen = 0
  let longest = 0
  const count = (subject: string): void => {
    seen += subject.length
    longest = Math.max(longest, subject.length)
  }
  const { test: tries } = RegExp.prototype
  const { replace } = String.prototype
  const spies = [
    vi.spyOn(RegExp.prototype, 'test').mockImplementation(function (this: RegExp, subject) {
      count(subject)
      return tries.call(this, subject)
    }),
    vi.spyOn(String.prototype, 'replace').mockImplementation(function (this: string, ...given) {
      count(this)
      return replace.apply(this, given)
    }),
  ]
  extractSpeech(text)
  for (const spy of spies) spy.mockRestore()
  return { seen, longest }
}

test.each([...RUNS, ' .', '> ', '- ', '( ', 'a ', '\t'])(
  'a run of "%s", also behind an address, costs its length',
  (piece) => {
    for (const before of ['', 'http://a']) {
      const [short, long] = [10_000, 20_000].map((length) => `${before}${piece.repeat(length / piece.length)}a`)
      const [once, twice] = [countSeen(short ?? ''), countSeen(long ?? '')]
      expect(twice.seen).toBeLessThanOrEqual(once.seen * 2.5)
      expect(twice.longest).toBeLessThanOrEqual(LINE_CHARS)
    }
  },
)

test('a long line is spoken whole, and an endless one to its bound', () => {
  const words = 'word 😀 '.repeat(5000).trim()
  expect(extractSpeech(words).replaceAll('\n', ' ')).toBe(words)
  expect(extractSpeech('word '.repeat(100_000)).length).toBeLessThanOrEqual(SPOKEN_CHARS)
  expect(extractSpeech('😀'.repeat(5000)).replaceAll('\n', '')).toBe('😀'.repeat(5000))
})
