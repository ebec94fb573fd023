// A server for `useChat` on Node's own HTTP server; and one request to it, as the AI SDK's transport sends it.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent } from '@baton/host'
import { createHandler, createNodeListener } from '@baton/server/http'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const users: Readonly<Record<string, string>> = { 'a-secret-of-ann': 'ann' }
const model = createScriptedModel({ steps: [{ text: 'At nine.' }] })
const host = createHost({ agent: defineAgent({ name: 'shop', model }) })
const handler = createHandler(host, {
  authenticate: ({ headers }) => {
    const id = users[headers.get('authorization')?.replace('Bearer ', '') ?? '']
    return id === undefined ? undefined : { id }
  },
})
const server = createServer(createNodeListener(handler)).listen(0, '127.0.0.1')
await once(server, 'listening')

const { port } = server.address() as AddressInfo
const response = await fetch(`http://127.0.0.1:${port}/api/chat`, {
  method: 'POST',
  headers: { 'content-type': 'application/json', authorization: 'Bearer a-secret-of-ann' },
  body: JSON.stringify({
    id: 'chat-1',
    messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'When do you open?' }] }],
  }),
})
console.log(await response.text())
server.close()
await host.stop()
