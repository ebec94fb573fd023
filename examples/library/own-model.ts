// Your own model: an id, its capabilities, and one function that streams an answer. It never retries; the host does.
import type { Model } from '@baton/host'
import { createHost, defineAgent } from '@baton/host'

const echo: Model = {
  id: 'own/echo',
  provider: 'own',
  capabilities: { tools: 'none', images: false, contextTokens: 8192 },
  run: async ({ messages }, sink) => {
    const said = messages.at(-1)?.parts.flatMap((part) => (part.type === 'text' ? part.text : [])) ?? []
    const text = `You said: ${said.join(' ')}`
    sink({ type: 'text-delta', text })
    return await Promise.resolve({ parts: [{ type: 'text', text }], finish: 'end', usage: {}, model: 'echo' })
  },
}
await using host = createHost({ agent: defineAgent({ name: 'parrot', model: echo }) })
const session = await host.session()
console.log((await session.send('Hello!').answer).text)
