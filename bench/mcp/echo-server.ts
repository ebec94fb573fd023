// An MCP server with one tool, over standard input and output, or over HTTP on a free port that it prints.
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { McpServer, createMcpHandler, fromJsonSchema } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'

const createEcho = (): McpServer => {
  const server = new McpServer({ name: 'echo', version: '1.0.0' })
  const inputSchema = fromJsonSchema<{ text: string }>({
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
  })
  server.registerTool('echo', { description: 'Says the text again', inputSchema }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }))
  return server
}

if (process.argv[2] === 'http') {
  // Its types were written without `exactOptionalPropertyTypes`.
  const handle = toNodeHandler(createMcpHandler(createEcho)) as unknown as RequestListener
  const server = createServer(handle)
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    if (address !== null && typeof address !== 'string') process.send?.({ port: address.port })
  })
} else serveStdio(createEcho)
