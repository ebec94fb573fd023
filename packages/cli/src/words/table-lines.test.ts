// Columns of untrusted text.
import { expect, test } from 'vitest'
import { tableLines } from './table-lines.ts'

test('a cell cannot move the cursor, turn the writing or be endless', () => {
  const lines = tableLines([
    ['session', 'records'],
    ['e\u001b]0;PWN\u0007\u202e\nx', '1'],
    ['y'.repeat(100_000), '2'],
  ])
  expect(lines[1]).toMatch(/^e\\u001b\]0;PWN\\u0007\\u202e\\nx\s+1$/)
  expect(lines[2]).toHaveLength(256 + 2 + 1)
})
