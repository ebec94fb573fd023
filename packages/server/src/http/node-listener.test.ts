// A handler in a node:http server, as its clients see it: streams that have nothing to say yet.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { answerEvents } from './event-response.ts'
import { createNodeListener } from './node-listener.ts'

const closers: (() => unknown)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** The address of a server with this handler. */
async function serve(handler: () => Response): Promise<string> {
  const server = createServer(createNodeListener(() => Promise.resolve(handler()))).listen(0, '127.0.0.1')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
}

test.each<[string, () => Response]>([
  [
    'events',
    () =>
      answerEvents({
        timers: { start: () => () => {} },
        headers: {},
        waitingBytes: 100,
        keepAliveMs: 10_000,
        run: ({ left }) => left,
      }),
  ],
  ['a peer', () => new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } })],
])('a client of %s that are silent at first is connected at once', async (_what, handler) => {
  const url = await serve(handler)
  let status = 0
  fetch(url).then(
    (response) => (status = response.status),
    () => {}, // the server was closed
  )
  await expect.poll(() => status).toBe(200)
})
