// The output of a command at the boundaries of its limit.
import { expect, test } from 'vitest'
import { BoundedOutput } from './bounded-output.ts'

test.each([
  [0, '\n[6 bytes omitted]\n', 6],
  [1, '\n[5 bytes omitted]\nf', 5],
  [4, 'a\n[2 bytes omitted]\ndef', 2],
  [6, 'abcdef', 0],
])('of six bytes, a limit of %d shows %j', (most, shown, dropped) => {
  const output = new BoundedOutput(most)
  for (const piece of ['abc', 'de', 'f']) output.take(Buffer.from(piece))
  expect({ text: output.read(), dropped: output.droppedBytes }).toEqual({ text: shown, dropped })
})
