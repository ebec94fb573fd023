// A server built with the official SDK's first major version and Zod 3, which writes draft 7. Tests start it as a
// process.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod/v3'

const server = new McpServer({ name: 'stock', version: '1' })

function add(name: string, inputSchema: z.ZodRawShape): void {
  const say = (given: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(given) }] })
  server.registerTool(name, { description: name, inputSchema }, (given: unknown) => say(given))
}

add('slice', { pages: z.tuple([z.number().int(), z.number().int()]) })
add('mark', { point: z.tuple([z.number(), z.string()]).rest(z.boolean()) })
add('open', { url: z.string().regex(new RegExp(String.raw`^https\:\/\/`)) })
add('tag', { name: z.string().regex(new RegExp(String.raw`^[\w\-\.]+\@v\d+$`)) })
add('pay', { amount: z.number().multipleOf(0.01) })
add('weigh', { kilos: z.number().positive().step(0.001).max(30) })
add('mail', { to: z.string().email(), at: z.string().datetime().optional() })
add('draw', {
  shape: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('circle'), radius: z.number().positive() }),
    z.object({ kind: z.literal('line'), ends: z.tuple([z.number(), z.number()]) }),
  ]),
})
add('count', { words: z.record(z.number().int().nonnegative()), note: z.string().nullable() })

await server.connect(new StdioServerTransport())
