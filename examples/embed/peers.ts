// One of several servers over a PostgreSQL store, for `useChat` and WebSockets. Start it twice, with two ports:
// ANTHROPIC_API_KEY=… BATON_STORE=postgres://localhost/baton BATON_PEER_SECRET=… PORT=3001 node peers.ts
import { createHost, defineAgent } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import { createChatSocket, createHandler, createNodeListener } from '@baton/server/http'
import { createWebSocketFront } from '@baton/server/websocket'

const port = Number(process.env['PORT'] ?? 3000)
const address = `ws://127.0.0.1:${port}` // where the other servers reach this one
const peers = { address, secret: process.env['BATON_PEER_SECRET'] ?? '' }

const agent = defineAgent({
  name: 'shop',
  model: 'anthropic/claude-haiku-4-5',
  instructions: 'You answer for a shop that opens at nine.',
})
const store = await openPostgresStore(process.env['BATON_STORE'] ?? 'postgres://localhost/baton')
const host = createHost({ agent, store, address })
const handler = createHandler(host, { peers, hosts: ['localhost', '127.0.0.1'] }) // without `authenticate`: for this machine only
const chats = createChatSocket(host, { peers })
const front = createWebSocketFront(host, { port, peers, chats, requests: createNodeListener(handler) })
await host.recover({ everyMs: 5000 }) // continues turns of a dead server
await front.listen()
console.log(`http://127.0.0.1:${port}/api/chat`)

async function end(): Promise<void> {
  await front.drain({ withinMs: 5000 })
  await front.close()
  await host.stop({ drainMs: 5000 })
  await store.close()
}
process.once('SIGTERM', () => void end())
