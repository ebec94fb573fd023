// Evidence that counts as shown: only what a tool has read itself, under the name it has there.
import { expect, test } from 'vitest'
import { ShownResults } from './evidence.ts'

test('a file that a coding session names was not shown by it', () => {
  const shown = new ShownResults()
  const files = { count: 1, most: [{ path: 'src/keys.ts', times: 3, startLine: 1, endLine: 99 }] }
  shown.add('c1', 'session.analyze', { sessions: [{ sessionId: 's1', files }], total: { files } })
  expect(shown.find({ path: 'src/keys.ts' })).toBeUndefined()
  expect(shown.find({ path: 'src/keys.ts', line: 3 })).toBeUndefined()
  expect(shown.find({ sessionId: 's1' })).toEqual({ callId: 'c1', tool: 'session.analyze', sessionId: 's1' })
  expect(shown.countPaths()).toEqual([])
})

test('the result of another tool shows nothing', () => {
  const shown = new ShownResults()
  shown.add('c1', 'result.read', { path: 'src/keys.ts', sessionId: 's1' })
  expect([shown.find({ path: 'src/keys.ts' }), shown.find({ sessionId: 's1' })]).toEqual([undefined, undefined])
})

test('a file with a backslash in its name is no file of a folder', () => {
  const shown = new ShownResults()
  const path = String.raw`src\keys.ts`
  shown.add('c1', 'content.get_span', { path, startLine: 1, endLine: 2, text: 'a\nb' })
  expect(shown.find({ path: 'src/keys.ts', line: 1 })).toBeUndefined()
  expect(shown.find({ path, line: 1 })).toMatchObject({ path, line: 1 })
})

test('a citation may be written in other ways than the result', () => {
  const shown = new ShownResults()
  shown.add('c1', 'content.get_span', { path: 'src/keys.ts', startLine: 1, endLine: 2, text: 'a\nb' })
  for (const path of ['./src/keys.ts', String.raw`src\keys.ts`, 'src/keys.ts/'])
    expect(shown.find({ path, line: 2 })).toMatchObject({ path: 'src/keys.ts', line: 2 })
})
