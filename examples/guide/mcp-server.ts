// An agent's tools for any MCP client. Here a client of the MCP SDK calls one, and its user approves the call.
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import { createMcpHandler } from '@baton/mcp/server'
import { createNodeListener } from '@baton/server/http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'

const refund = tool({
  name: 'refund',
  description: 'Refunds an order.',
  input: z.object({ order: z.string(), euros: z.number().max(100) }),
  approval: true,
  execute: ({ order, euros }) => `${euros} euros for ${order} are on their way.`,
})
// Calls of single tools need no model. It only answers with expose: 'agent', when clients ask the agent itself.
const model = createScriptedModel({ steps: () => ({ text: 'We open at nine.' }) })
const agent = defineAgent({ name: 'shop', model, tools: [refund] })
const host = createHost({ agent })
const handler = createMcpHandler(host, { agent })
const server = createServer(createNodeListener(handler)).listen(0, 'localhost')
await once(server, 'listening')
const { port } = server.address() as AddressInfo

const client = new Client(
  { name: 'desk', version: '1.0.0' },
  { capabilities: { elicitation: {} }, versionNegotiation: { mode: 'auto' } },
)
client.setRequestHandler('elicitation/create', ({ params }) => {
  console.log(params.message)
  return { action: 'accept', content: { approve: true } }
})
await client.connect(new StreamableHTTPClientTransport(new URL(`http://localhost:${port}/mcp`)))
const { tools } = await client.listTools()
console.log(
  client.getNegotiatedProtocolVersion(),
  tools.map(({ name }) => name),
)
const { content } = await client.callTool({ name: 'refund', arguments: { order: 'A-17', euros: 20 } })
console.log(content)

await client.close()
await handler.close()
server.close()
await host.stop()
