// A chat for `useChat` in a Hono server: ANTHROPIC_API_KEY=… node hono.ts
import { createHost, defineAgent } from '@baton/host'
import { createHandler } from '@baton/server/http'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'

const agent = defineAgent({
  name: 'shop',
  model: 'anthropic/claude-haiku-4-5',
  instructions: 'You answer for a shop that opens at nine.',
})
const host = createHost({ agent })
const handler = createHandler(host, { hosts: ['localhost', '127.0.0.1'] }) // without `authenticate`: for this machine only

const app = new Hono()
app.get('/', (context) => context.text('The chat is at /api/chat.'))
app.all('/api/*', (context) => handler(context.req.raw, { address: getConnInfo(context).remote.address }))

const server = serve(
  { fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) },
  ({ port }) => console.log(`http://127.0.0.1:${port}/`),
)
process.once('SIGTERM', () => {
  server.close()
  void host.stop({ drainMs: 5000 })
})
