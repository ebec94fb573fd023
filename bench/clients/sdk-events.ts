// The vendor's own SDK, used for the bare events of the stream; the user concatenates the answer. If the SDK has no
// such API, `sdk.ts` does the same.
import type { EventsWireName } from '../scenarios.ts'
import type { OpenClient, RunTurn } from './client.ts'
import { createClient } from './client.ts'

export const open: OpenClient = async ({ base, wire }) => {
  const turn = await TURNS[wire as EventsWireName](base) // as named by the scenario
  return createClient(() => async (onText) => {
    let whole = ''
    await turn((text) => {
      whole += text
      onText(text)
    })
    if (whole === '') throw new Error('the answer was empty')
  })
}

const QUESTION = { role: 'user', content: 'hi' } as const
const STREAM = { model: 'mock-model', stream: true } as const

const TURNS: Readonly<Record<EventsWireName, (base: string) => Promise<RunTurn>>> = {
  messages: async (base) => {
    const { default: Anthropic } = await import('@anthropic-ai/sdk')
    const api = new Anthropic({ apiKey: 'k', baseURL: base, maxRetries: 0 })
    return async (onText) => {
      for await (const event of await api.messages.create({ ...STREAM, max_tokens: 4096, messages: [QUESTION] }))
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') onText(event.delta.text)
    }
  },
  responses: async (base) => {
    const { default: OpenAI } = await import('openai')
    const api = new OpenAI({ apiKey: 'k', baseURL: `${base}/v1`, maxRetries: 0 })
    return async (onText) => {
      for await (const event of await api.responses.create({ ...STREAM, input: 'hi' }))
        if (event.type === 'response.output_text.delta') onText(event.delta)
    }
  },
  chat: async (base) => {
    const { default: OpenAI } = await import('openai')
    const api = new OpenAI({ apiKey: 'k', baseURL: `${base}/v1`, maxRetries: 0 })
    return async (onText) => {
      for await (const { choices } of await api.chat.completions.create({ ...STREAM, messages: [QUESTION] }))
        onText(choices[0]?.delta.content ?? '')
    }
  },
}
