// The last bytes of a stream, in any pieces.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createStreamTail } from './stream-tail.ts'

test('the end is there, and not much more', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 20 })),
      fc.integer({ min: 1, max: 50 }),
      (pieces, least) => {
        const tail = createStreamTail(least)
        for (const piece of pieces) tail.push(Buffer.from(piece))
        const whole = Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString()
        expect(whole.endsWith(tail.text())).toBe(true)
        const kept = Buffer.byteLength(tail.text())
        expect(kept).toBeGreaterThanOrEqual(Math.min(least, Buffer.byteLength(whole)))
        expect(kept).toBeLessThan(least + 80)
      },
    ),
  )
})

test('a character that came in two pieces', () => {
  const bytes = Buffer.from('größe')
  const tail = createStreamTail(100)
  for (const byte of bytes) tail.push(Uint8Array.of(byte))
  expect(tail.text()).toBe('größe')
})
