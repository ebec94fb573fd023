// A tool that runs on the user's device. Both sides are in this file and share only an address, like two programs.
import type { AssistantMessage, Message } from '@earendil-works/pi-ai'
import { contentText } from '@earendil-works/pi-ai'
import { builtinModels } from '@earendil-works/pi-ai/providers/all'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Type } from 'typebox'

const models = builtinModels()
const place = {
  name: 'place',
  description: 'Where the user is',
  parameters: Type.Object({ exact: Type.Optional(Type.Boolean()) }),
}
const server = createServer(async (request, response) => {
  try {
    const messages = (await json(request)) as Message[]
    response.end(
      JSON.stringify(
        await models.complete(models.getModel('anthropic', 'claude-haiku-4-5')!, { messages, tools: [place] }),
      ),
    )
  } catch (error) {
    response.writeHead(500).end(String(error))
  }
}).listen(0)
await once(server, 'listening')
const { port } = server.address() as AddressInfo

const handlers: Record<string, () => { city: string }> = { place: () => ({ city: 'Oslo' }) }
const messages: Message[] = [{ role: 'user', content: 'Where am I?', timestamp: Date.now() }]
for (;;) {
  const response = await fetch(`http://localhost:${port}`, { method: 'POST', body: JSON.stringify(messages) })
  if (!response.ok) throw new Error(await response.text())
  const answer = (await response.json()) as AssistantMessage
  if (answer.stopReason === 'error') throw new Error(answer.errorMessage)
  messages.push(answer)
  const calls = answer.content.filter((part) => part.type === 'toolCall')
  if (calls.length === 0) {
    console.log(contentText(answer.content, ''))
    break
  }
  for (const { id, name } of calls) {
    const text = JSON.stringify(handlers[name]?.() ?? null)
    messages.push({
      role: 'toolResult',
      toolCallId: id,
      toolName: name,
      content: [{ type: 'text', text }],
      isError: false,
      timestamp: Date.now(),
    })
  }
}
server.close()
