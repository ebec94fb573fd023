// A tool that runs on the user's device. Both sides are in this file and share only an address, like two programs.
import { anthropic } from '@ai-sdk/anthropic'
import type { ModelMessage, ToolResultPart } from 'ai'
import { generateText, tool } from 'ai'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'

interface Answered {
  readonly text: string
  readonly toolCalls: readonly { readonly toolCallId: string; readonly toolName: string }[]
  readonly responseMessages: readonly ModelMessage[]
}
const place = tool({
  description: 'Where the user is',
  inputSchema: z.object({ exact: z.boolean().optional() }),
  outputSchema: z.object({ city: z.string() }),
})
const server = createServer(async (request, response) => {
  try {
    const messages = (await json(request)) as ModelMessage[]
    const { text, toolCalls, responseMessages } = await generateText({
      model: anthropic('claude-haiku-4-5'),
      tools: { place },
      messages,
    })
    response.end(JSON.stringify({ text, toolCalls, responseMessages } satisfies Answered))
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
}).listen(0)
await once(server, 'listening')
const { port } = server.address() as AddressInfo

const handlers: Record<string, () => { city: string }> = { place: () => ({ city: 'Oslo' }) }
const messages: ModelMessage[] = [{ role: 'user', content: 'Where am I?' }]
for (;;) {
  const response = await fetch(`http://localhost:${port}`, { method: 'POST', body: JSON.stringify(messages) })
  if (!response.ok) throw new Error(await response.text())
  const { text, toolCalls, responseMessages } = (await response.json()) as Answered
  messages.push(...responseMessages)
  if (toolCalls.length === 0) {
    console.log(text)
    break
  }
  const results = toolCalls.map(({ toolCallId, toolName }): ToolResultPart => {
    const value = handlers[toolName]?.() ?? null
    return { type: 'tool-result', toolCallId, toolName, output: { type: 'json', value } }
  })
  messages.push({ role: 'tool', content: results })
}
server.close()
