// Reading a peer's answer to a chat, however the network splits it.
import type { JsonValue } from '@baton/core'
import { expect, test } from 'vitest'
import { readPassedChunks } from './pass-on.ts'

function createBody(bytes: Uint8Array, pieceBytes: number): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream({
    pull: (controller) => {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, (at += pieceBytes)))
    },
  })
}

async function read(text: string, pieceBytes: number, most = 1000) {
  const chunks: JsonValue[] = []
  const isWhole = await readPassedChunks(createBody(new TextEncoder().encode(text), pieceBytes), most, (chunk) => {
    chunks.push(chunk)
    return undefined
  })
  return { chunks, isWhole }
}

const ANSWER = ': alive\n\ndata: {"type":"text","delta":"Grüße 🙂\\n\\n"}\n\ndata: {"type":"finish"}\n\n'

test.each([1, 2, 3, 7, 1000])('an answer in pieces of %i bytes has the same chunks', async (pieceBytes) => {
  const chunks = [{ type: 'text', delta: 'Grüße 🙂\n\n' }, { type: 'finish' }]
  expect(await read(`${ANSWER}data: [DONE]\n\n`, pieceBytes)).toEqual({ chunks, isWhole: true })
  expect(await read(ANSWER, pieceBytes)).toEqual({ chunks, isWhole: false })
  expect(await read(`${ANSWER}data: {"ty`, pieceBytes)).toEqual({ chunks, isWhole: false })
})

test.each([
  ['an event without end', `${ANSWER}data: "${'x'.repeat(1000)}`, 'has more than 1000 characters'],
  ['an event that is not JSON', 'data: {\n\n', 'is not JSON'],
  ['three line ends', `${ANSWER}\ndata: 1\n\n`, 'is not JSON'],
])('%s is refused, whole and byte for byte', async (_, text, message) => {
  for (const pieceBytes of [1, 5, 10_000])
    await expect(read(text, pieceBytes)).rejects.toMatchObject({
      code: 'session_held',
      message: expect.stringContaining(message),
    })
})

test('a long event in pieces of four bytes is read completely', async () => {
  const text = 'x'.repeat(400_000)
  const { chunks } = await read(`data: ${JSON.stringify(text)}\n\n`, 4, 2 * text.length)
  expect(chunks).toEqual([text])
})

test('only one event at a time is bounded, not the answer', async () => {
  const event = `data: "${'x'.repeat(600)}"\n\n`
  const { chunks, isWhole } = await read(`${event}${event}${event}data: [DONE]\n\n`, 100)
  expect([chunks.length, isWhole]).toEqual([3, true])
})
