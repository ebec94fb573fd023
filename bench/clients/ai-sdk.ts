// Peer: the AI SDK's streamText.
import { createAnthropic } from '@ai-sdk/anthropic'
import { stepCountIs, streamText, tool } from 'ai'
import { z } from 'zod'
import type { OpenClient } from './client.ts'
import { createClient } from './client.ts'

export const open: OpenClient = ({ base }) => {
  const model = createAnthropic({ apiKey: 'k', baseURL: `${base}/v1` })('mock-model')
  const inputSchema = z.object({ text: z.string(), n: z.number() })
  return createClient((echo) => async (onText) => {
    const result = streamText({
      model,
      tools: { echo: tool({ description: 'echo', inputSchema, execute: async (input) => echo(input) }) },
      stopWhen: stepCountIs(60),
      maxRetries: 0,
      maxOutputTokens: 4096,
      messages: [{ role: 'user', content: 'hi' }],
    })
    for await (const part of result.fullStream) {
      if (part.type === 'text-delta') onText(part.text)
      else if (part.type === 'error') throw part.error
    }
  })
}
