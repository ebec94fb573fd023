// Sentences as a listener expects them, whatever pieces a text arrives in.
import { expect, test } from 'vitest'
import { SENTENCE_CHARS, takeUnit, WHOLE_LINE_CHARS } from './sentences.ts'
import type { LineState } from './sentences.ts'

interface Spoken {
  readonly said: readonly string[]
  /** Sentences found before the text's end was known. */
  readonly early: readonly string[]
  readonly waitingMost: number
  readonly covered: string
}

function speakAll(pieces: readonly string[]): Spoken {
  const said: string[] = []
  let early: readonly string[] = []
  let rest = ''
  let line: LineState = {}
  let waitingMost = 0
  let covered = ''
  const take = (isEnd: boolean): void => {
    const next = (): ReturnType<typeof takeUnit> => takeUnit(rest, { ...line, at: covered.length }, isEnd)
    for (let unit = next(); unit; unit = next()) {
      if (unit.text !== '') said.push(unit.text)
      covered += rest.slice(0, unit.chars)
      rest = rest.slice(unit.chars)
      line = unit.line
    }
  }
  for (const piece of pieces) {
    rest += piece
    take(false)
    waitingMost = Math.max(waitingMost, rest.length)
  }
  early = [...said]
  take(true)
  return { said, early, waitingMost, covered }
}

const CASES: readonly (readonly [situation: string, text: string, said: readonly string[]])[] = [
  ['two sentences', 'It is open. Shall I go on?', ['It is open.', 'Shall I go on?']],
  ['titles and initials', 'Dr. Smith met J. K. Rowling. They left.', ['Dr. Smith met J. K. Rowling.', 'They left.']],
  [
    'German abbreviations',
    'Obst, z. B. Äpfel, d.h. Kernobst, ist ca. 3 Tage haltbar. Gut!',
    ['Obst, z. B. Äpfel, d.h. Kernobst, ist ca. 3 Tage haltbar.', 'Gut!'],
  ],
  ['a date', 'Am 3. Mai um 8 Uhr. Ja.', ['Am 3. Mai um 8 Uhr.', 'Ja.']],
  ['a number before a number', 'See No. 5 of it. No. I will not.', ['See No. 5 of it.', 'No.', 'I will not.']],
  ['a number at the end of a sentence', 'We need 5. Shall I go on?', ['We need 5.', 'Shall I go on?']],
  ['decimals, versions and addresses', 'It is 3.5 m. Use v2.0 of a.b.c now.', ['It is 3.5 m. Use v2.0 of a.b.c now.']],
  ['decimals end no sentence', 'It is 3.5 metres. Fine.', ['It is 3.5 metres.', 'Fine.']],
  ['an ellipsis goes on', 'Well... maybe. Or… no. Wait... Now.', ['Well... maybe.', 'Or… no.', 'Wait...', 'Now.']],
  ['a question that goes on', '"Really?" she said. "Yes." He left.', ['"Really?" she said.', '"Yes."', 'He left.']],
  [
    'quotes and brackets after the stop',
    'He said “Go.” (So I went.) Then…',
    ['He said “Go.”', '(So I went.)', 'Then…'],
  ],
  ['several stops', 'What?! No!!! Yes.', ['What?!', 'No!!!', 'Yes.']],
  ['Chinese and Japanese', '你好。今天「很好。」对吗？好', ['你好。', '今天「很好。」', '对吗？', '好']],
  ['emoji stay with their sentence', 'Great! 😀👍🏽 Next one. 🇳🇴', ['Great! 😀👍🏽', 'Next one. 🇳🇴']],
  ['an emoji alone', '👍', ['👍']],
  ['emphasis over two sentences', '**First. Second.** Third.', ['First.', 'Second.', 'Third.']],
  [
    'a list',
    'I have:\n- apples\n- pears. Good ones.\n1. one\n2. two',
    ['I have:', 'apples', 'pears.', 'Good ones.', '1. one', '2. two'],
  ],
  ['a heading', '# The title\nlower text. End', ['The title', 'lower text.', 'End']],
  [
    'a text that was wrapped',
    'The quick\nbrown fox.\n\nNew line\nAnother',
    ['The quick brown fox.', 'New line', 'Another'],
  ],
  ['a code block is silent', 'Do this:\n```ts\nconst a = 1. Then\n```\nThen stop.', ['Do this:', 'Then stop.']],
  [
    'a JSON object, as an agent with an output schema answers',
    ' \n{ "verdict": "It is. Yes.",\n"sure": true }\nEnd.',
    [],
  ],
  ['an empty JSON object', '{}', []],
  ['a brace that begins no JSON', '{name} is here. Yes.', ['{name} is here.', 'Yes.']],
  ['JSON after words', 'It is {"a": 1}. Yes.', ['It is {"a": 1}.', 'Yes.']],
  ['a code block that never closes', 'Look:\n~~~\nrm -rf /. Now\n', ['Look:']],
  [
    'a stop in code and in a link',
    'Run `a. B` now. See [This. That](https://a.example/x.y) too.',
    ['Run a. B now.', 'See This. That too.'],
  ],
  ['a table', '| Name. | Age |\n|---|:-:|\n| Ann. B | 7 |\nDone.', ['Name., Age', 'Ann. B, 7', 'Done.']],
  ['an address given apart', 'See it.\n[1]: https://a.example "A. B"\n', ['See it.']],
  ['rules say nothing', 'One.\n\n---\n\nTwo.', ['One.', 'Two.']],
  ['marks in the midst of a line open no block', 'So. ```x``` is it.', ['So.', 'x is it.']],
  ['nothing to say', ' \n\n***\n', []],
]

test.each(CASES)('%s', (_situation, text, said) => {
  const whole = speakAll([text])
  expect(whole.said).toEqual(said)
  expect(whole.covered).toBe(text)
  expect(speakAll(text.split('')).said).toEqual(said)
})

test('a sentence is said as soon as the next one begins', () => {
  expect(speakAll(['It is open. S']).early).toEqual(['It is open.'])
  expect(speakAll(['It is open.\n']).early).toEqual(['It is open.'])
  expect(speakAll(['你好。今']).early).toEqual(['你好。'])
  // It may be a decimal, a list's number, or an abbreviation.
  for (const text of ['It is 5.', '1. ', 'See Dr. ', 'Great! ']) expect(speakAll([text]).early).toEqual([])
})

test('a text that runs on is cut at a word, and nothing waits without a bound', () => {
  const words = 'word and another '.repeat(100).trim()
  const { said, waitingMost } = speakAll(words.match(/.{1,7}/gs) ?? [])
  expect(said.join(' ')).toBe(words)
  expect(Math.max(...said.map(({ length }) => length))).toBeLessThanOrEqual(SENTENCE_CHARS)
  expect(waitingMost).toBeLessThan(SENTENCE_CHARS + 60)
  const wide = '漢😀'.repeat(400)
  expect(speakAll([wide]).said.join('')).toBe(wide)
  for (const mark of ['`', '```', '|', '[', ' ', '\n', '. ', '!', '😀', '```\nx', '> ', '1. ', '[a]: ']) {
    const text = mark + 'a.b'.repeat(3000) + mark.repeat(3000)
    const spoken = speakAll(text.match(/.{1,13}/gsu) ?? [])
    expect({ mark, covered: spoken.covered }).toEqual({ mark, covered: text })
    expect(spoken.waitingMost).toBeLessThan(WHOLE_LINE_CHARS + 60)
    expect({ mark, said: spoken.said }).toEqual({ mark, said: speakAll([text]).said })
  }
})

test('a long row of a table is cut between characters', () => {
  const row = `|${'a'.repeat(998)}😀${'b'.repeat(300)}|\n`
  const { said, covered } = speakAll([row])
  expect(said.every((text) => text.isWellFormed())).toBe(true)
  expect(said.join('')).toContain('😀')
  expect(covered).toBe(row)
})
