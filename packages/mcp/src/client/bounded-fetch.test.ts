// HTTP responses larger than a limit.
import { expect, test } from 'vitest'
import { createBoundedFetch } from './bounded-fetch.ts'

const encoder = new TextEncoder()

async function read(type: string, pieces: readonly string[]): Promise<string> {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start: (controller) => {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece))
      controller.close()
    },
  })
  const response = new Response(body, { headers: { 'content-type': type } })
  const bounded = createBoundedFetch(100, () => Promise.resolve(response))
  return await (await bounded('http://127.0.0.1/')).text()
}

test('an answer up to the limit passes, a longer one fails', async () => {
  expect(await read('application/json', ['x'.repeat(60), 'x'.repeat(40)])).toHaveLength(100)
  await expect(read('application/json', ['x'.repeat(60), 'x'.repeat(41)])).rejects.toMatchObject({
    code: 'api_malformed',
    message: 'the MCP server sent more than 100 bytes in one response',
  })
})

test('a stream of many events passes, however they are cut; one long event fails', async () => {
  const events = Array.from({ length: 50 }, (_, index) => `data: ${index}\n\n`).join('')
  expect(await read('text/event-stream', [events])).toBe(events)
  expect(await read('text/event-stream; charset=utf-8', events.match(/[\s\S]{1,7}/g) ?? [])).toBe(events)
  const crlf = events.replaceAll('\n', '\r\n')
  expect(await read('text/event-stream', crlf.match(/[\s\S]{1,40}/g) ?? [])).toBe(crlf)
  await expect(read('text/event-stream', ['data: 1\n\n', 'data: ', 'x'.repeat(101)])).rejects.toMatchObject({
    message: 'the MCP server sent more than 100 bytes in one event',
  })
})

test('a status beyond 599 and a reason in another script are passed on', async () => {
  const given = new Response('no programs', { status: 500 })
  const odd = { status: 999, statusText: 'Отказано', url: 'https://shop.example/mcp', redirected: true }
  for (const [name, value] of Object.entries(odd)) Object.defineProperty(given, name, { value })
  const answer = await createBoundedFetch(100, () => Promise.resolve(given))('https://shop.example/mcp')
  expect(answer).toMatchObject({ ...odd, ok: false })
  expect(await answer.text()).toBe('no programs')
})
