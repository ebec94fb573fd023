// Written frames reach `ws` unchanged and in order, whatever their length.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { encodeTextFrames } from './ws-socket.ts'

test('texts of every kind of length arrive as they are', async () => {
  const lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 200_000]
  const texts = [...lengths.map((length) => 'x'.repeat(length)), 'ä€😀', '😀'.repeat(20_000), 'last']
  const heard = await deliver(encodeTextFrames(texts), texts.length)
  expect(heard).toEqual(texts)
})

/** Writes the bytes to an app connected by `ws`. */
async function deliver(bytes: Buffer, count: number): Promise<readonly string[]> {
  const sockets = new WebSocketServer({ noServer: true })
  const http = createServer()
  http.on('upgrade', (request, stream, head) => {
    sockets.handleUpgrade(request, stream, head, () => stream.write(bytes))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const { port } = http.address() as AddressInfo
  const app = new WebSocket(`ws://127.0.0.1:${port}`)
  const heard: string[] = []
  const ended = Promise.withResolvers<void>()
  app.on('error', ended.reject)
  app.on('message', (data: Buffer) => {
    heard.push(data.toString())
    if (heard.length === count) ended.resolve()
  })
  await ended.promise
  app.terminate()
  http.closeAllConnections()
  http.close()
  return heard
}
