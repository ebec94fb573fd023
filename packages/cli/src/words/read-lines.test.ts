// Lines read from arbitrary chunks, and files that are not lines of text.
import { expect, test } from 'vitest'
import { readLines } from './read-lines.ts'

async function readAll(
  text: Uint8Array | string,
  chunkBytes: number,
  lineBytesMax?: number,
): Promise<readonly string[]> {
  const bytes = Buffer.from(text)
  const chunks = (async function* () {
    for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
  })()
  const lines: string[] = []
  for await (const line of readLines({ name: 'x.jsonl', chunks, ...(lineBytesMax !== undefined && { lineBytesMax }) }))
    lines.push(line)
  return lines
}

test.each([1, 2, 3, 7, 1000])('chunks of %i bytes give the same lines', async (chunkBytes) => {
  expect(await readAll('one\r\n\nZoë 漢 😀\nlast', chunkBytes)).toEqual(['one', '', 'Zoë 漢 😀', 'last'])
  expect(await readAll('one\n', chunkBytes)).toEqual(['one'])
  expect(await readAll('', chunkBytes)).toEqual([])
})

test('a line that is too long is refused by its number, before the rest of it is read', async () => {
  let chunksRead = 0
  const chunks = (async function* () {
    yield Buffer.from('short\n')
    for (;;) {
      chunksRead += 1
      yield Buffer.alloc(100)
    }
  })()
  const read = (async () => {
    for await (const line of readLines({ name: 'x.jsonl', chunks, lineBytesMax: 1000 })) expect(line).toBe('short')
  })()
  await expect(read).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'line 2 of x.jsonl has more than the allowed 1000 bytes',
  })
  expect(chunksRead).toBe(11)
  expect(await readAll(`${'x'.repeat(1000)}\n`, 300, 1000)).toHaveLength(1)
})

test('invalid text is refused, not misread', async () => {
  await expect(readAll(Buffer.from([0x61, 0x0a, 0xff, 0x0a]), 2)).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'line 2 of x.jsonl is not UTF-8 text',
  })
})
