// Baton behind `useChat`: the HTTP front over a host with the in-memory store, in a node:http server. One session for
// each chat.
import { createHandler, createNodeListener } from '@baton/server/http'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openServedHost } from './baton-websocket.ts'
import type { OpenClient } from './client.ts'
import { turnsOfApp } from './websocket-turns.ts'

export const open: OpenClient = async ({ base }) => {
  const { host, world } = openServedHost(base)
  const server = createServer(createNodeListener(createHandler(host, world))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return turnsOfApp('chat-app.ts', {
    words: [`http://127.0.0.1:${port}/api/chat`],
    missingChars: 0,
    close: async () => {
      server.close()
      await host.stop()
    },
  })
}
