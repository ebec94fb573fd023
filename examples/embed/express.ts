// A chat for `useChat` in an Express server: ANTHROPIC_API_KEY=… node express.ts
import { createHost, defineAgent } from '@baton/host'
import { createHandler, createNodeListener } from '@baton/server/http'
import express from 'express'
import type { AddressInfo } from 'node:net'

const agent = defineAgent({
  name: 'shop',
  model: 'anthropic/claude-haiku-4-5',
  instructions: 'You answer for a shop that opens at nine.',
})
const host = createHost({ agent })
const handler = createHandler(host, { hosts: ['localhost', '127.0.0.1'] }) // without `authenticate`: for this machine only

const app = express()
app.use('/api', createNodeListener(handler)) // before or after `express.json()`
app.get('/', (_request, response) => void response.send('The chat is at /api/chat.'))

const server = app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  console.log(`http://127.0.0.1:${port}/`)
})
process.once('SIGTERM', () => {
  server.close()
  void host.stop({ drainMs: 5000 })
})
