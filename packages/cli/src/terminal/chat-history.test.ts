// Typed lines are available in the same user's next chat only.
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openChatHistory } from './chat-history.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-'))
  file = join(folder, 'deep/history')
})
afterEach(() => rmSync(folder, { recursive: true }))

test('lines are kept for their owner alone, newest first; what begins with a blank is not kept', () => {
  const history = openChatHistory(file)
  expect([history.lines, existsSync(file)]).toEqual([[], false])
  for (const line of ['one', 'two\nlines', ' secret', '  ', 'x'.repeat(5000)]) history.add(line)
  expect(openChatHistory(file).lines).toEqual(['two\nlines', 'one'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('lines that are none, or that would steer a terminal, are passed over', () => {
  file = join(folder, 'history')
  writeFileSync(file, '"good"\n{"a":1}\nno json\n"\\u001b[2J"\n')
  expect(openChatHistory(file).lines).toEqual(['good'])
})

test('a file that has grown is cut to its newest lines', () => {
  file = join(folder, 'history')
  const lines = Array.from({ length: 3000 }, (_, index) => JSON.stringify(`${index} ${'x'.repeat(400)}`))
  writeFileSync(file, `${lines.join('\n')}\n`)
  expect(openChatHistory(file).lines).toHaveLength(1000)
  expect(statSync(file).size).toBeLessThan(500_000)
  expect(openChatHistory(file).lines[0]).toMatch(/^2999 /)
})

test('a chat works without a history file', () => {
  writeFileSync(join(folder, 'deep'), 'a file in the place of the folder')
  const history = openChatHistory(file)
  history.add('one')
  expect(openChatHistory(file).lines).toEqual([])
})
