// Differences of texts as a person reads them.
import { expect, test } from 'vitest'
import { compareLines, diffLines, pairLines } from './line-diff.ts'

const show = (lines: ReturnType<typeof diffLines>) => lines?.map(({ type, text }) => `${type[0]} ${text}`)

test('a changed line has three lines around it, and the others are counted', () => {
  const before = Array.from({ length: 12 }, (_, index) => `line ${index}`).join('\n')
  expect(show(diffLines(before, before.replace('line 5', 'other 5')))).toEqual([
    'g 2 unchanged lines',
    's line 2',
    's line 3',
    's line 4',
    'r line 5',
    'a other 5',
    's line 6',
    's line 7',
    's line 8',
    'g 3 unchanged lines',
  ])
})

test('equal texts are one gap', () => {
  expect(show(diffLines('a\nb', 'a\nb'))).toEqual(['g 2 unchanged lines'])
  expect(show(diffLines('a', 'a'))).toEqual(['g 1 unchanged line'])
})

test('side by side: what was replaced stands beside what replaced it', () => {
  const pairs = pairLines(compareLines(['a', 'b', 'c'], ['a', 'B', 'c', 'd']) ?? [])
  expect(pairs.map(({ left, right }) => [left?.text, right?.text])).toEqual([
    ['a', 'a'],
    ['b', 'B'],
    ['c', 'c'],
    [undefined, 'd'],
  ])
})

test('texts that are too different are not compared', () => {
  const many = (word: string) => Array.from({ length: 5000 }, (_, index) => `${word} ${index}`).join('\n')
  expect(diffLines(many('one'), many('two'))).toBeUndefined()
})
