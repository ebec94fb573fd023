// Peer: the tool runner of Anthropic's SDK. Like all other clients, it sends the whole conversation each time (`thread:
// false`).
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import type { OpenClient } from './client.ts'
import { ECHO_SCHEMA, createClient } from './client.ts'

export const open: OpenClient = ({ base }) => {
  const api = new Anthropic({ apiKey: 'k', baseURL: base, maxRetries: 0 })
  return createClient((echo) => async (onText) => {
    const runner = api.beta.messages.toolRunner({
      model: 'mock-model',
      max_tokens: 4096,
      messages: [{ role: 'user', content: 'hi' }],
      tools: [betaTool({ name: 'echo', description: 'echo', inputSchema: ECHO_SCHEMA, run: (input) => echo(input) })],
      stream: true,
      thread: false,
    })
    for await (const stream of runner)
      for await (const event of stream)
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') onText(event.delta.text)
  })
}
