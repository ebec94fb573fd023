// The ledger of promises: every missing or superfluous entry yields a line that says what to do.
import { expect, test } from 'vitest'
import { promises, splitSentences } from './page-sentences.ts'
import type { Ledger } from './promises.ts'
import { findFaults, listNew, readLedger, readPageSentences, renew } from './promises.ts'

const PAGE = 'docs/tea.md'
const TEST = 'packages/tea/src/tea.test.ts: water is boiled once'
const SENTENCE = 'Baton boils the water at most once for each cup of tea.'
const ledger: Ledger = {
  promises: { 'boils-once': { witness: 'world', tests: [TEST] } },
  sentences: { [PAGE]: [{ sentence: SENTENCE, promises: ['boils-once'] }] },
  notYetCovered: {},
  insideAtMost: 0,
}
const page = (...sentences: readonly string[]) => new Map([[PAGE, sentences]])
const readTest = (path: string) => (path.endsWith('tea.test.ts') ? "test('water is boiled once', () => {" : undefined)
const find = (change: Partial<Ledger>, pages = page(SENTENCE)) => findFaults({ ...ledger, ...change }, pages, readTest)

test('the ledger of this repository has no faults', () => {
  expect(findFaults(readLedger(), readPageSentences())).toEqual([])
})

test('a whole ledger has no faults', () => {
  expect(find({})).toEqual([])
})

test.each<[string, Partial<Ledger>, readonly string[], RegExp]>([
  [
    'a new sentence',
    {},
    [SENTENCE, 'It never spills.'],
    /tea\.md: .*names no test: "It never spills\."\. .*--list-new/,
  ],
  ['a sentence that is gone', {}, [], /"Baton boils .*" is no longer on the page/],
  [
    'a promise without a test',
    { promises: { 'boils-once': { witness: 'world', tests: [] } } },
    [SENTENCE],
    /"boils-once" has no test$/,
  ],
  [
    'a file that is not there',
    { promises: { 'boils-once': { witness: 'world', tests: ['packages/tea/src/pot.test.ts: x'] } } },
    [SENTENCE],
    /names packages\/tea\/src\/pot\.test\.ts, which is not a test file/,
  ],
  [
    'a test that is not in its file',
    { promises: { 'boils-once': { witness: 'world', tests: [`${TEST} more`] } } },
    [SENTENCE],
    /tea\.test\.ts has no test "water is boiled once more"/,
  ],
  [
    'a witness that is none',
    { promises: { 'boils-once': { witness: 'eve' as never, tests: [TEST] } } },
    [SENTENCE],
    /has the witness "eve", which does not exist/,
  ],
  ['a promise that no sentence makes', { sentences: {} }, [], /no sentence makes the promise "boils-once"/],
  [
    'a promise that nobody has written down',
    { sentences: { [PAGE]: [{ sentence: SENTENCE, promises: ['boils-once', 'never-spills'] }] } },
    [SENTENCE],
    /names the promise "never-spills", which has no tests/,
  ],
  [
    'a sentence without a reason',
    { promises: {}, sentences: { [PAGE]: [{ sentence: SENTENCE, noPromise: ' ' }] } },
    [SENTENCE],
    /does not say why it is not a promise/,
  ],
  ['a page that has got better', { notYetCovered: { [PAGE]: 2 } }, [SENTENCE, 'It never spills.'], /has 1: update it/],
  [
    'one more promise that only the code sees',
    { promises: { 'boils-once': { witness: 'inside', tests: [TEST] } } },
    [SENTENCE],
    /1 promises are observed only from inside, and 0 may be/,
  ],
])('%s has one line', (_, change, sentences, line) => {
  expect(find(change, page(...sentences))).toEqual([expect.stringMatching(line)])
})

test('a sentence that was reworded keeps its promises, and one that is new has none', () => {
  const reworded = SENTENCE.replace('each cup of tea', 'each pot of tea')
  const pages = page(reworded, 'It never spills.')
  expect(listNew(ledger, pages).map(({ sentence, was }) => [sentence, was?.sentence])).toEqual([
    [reworded, SENTENCE],
    ['It never spills.', undefined],
  ])
  expect(renew(ledger, pages).sentences).toEqual({ [PAGE]: [{ sentence: reworded, promises: ['boils-once'] }] })
})

test('sentences are those that people read: no code, no headings, no generated parts; a row is one', () => {
  const text = `# It never stops

It never
stops. "At once." Then it ends.

\`\`\`ts
// It never stops
\`\`\`

- one
- two. Three
  and four

| Limit | Is |
|---|---|
| a | 5. At most |

<!-- generated: x -->
It never stops.
<!-- end generated -->
`
  expect(splitSentences(text)).toEqual([
    'It never stops.',
    '"At once."',
    'Then it ends.',
    'one',
    'two.',
    'Three and four',
    '| Limit | Is |',
    '| a | 5. At most |',
  ])
})

test.each([
  ['It starts at most once.', true],
  ['It is read at once.', false],
  ['The type is `once`.', false],
  ['Once you have read it, go on.', false],
  ['It is asked for once.', true],
  ['A longer one is refused.', true],
  ['It waits for 30 s.', true],
  ['It has 3 fields.', false],
])('%s promises something: %s', (sentence, isPromise) => {
  expect(promises(sentence)).toBe(isPromise)
})
