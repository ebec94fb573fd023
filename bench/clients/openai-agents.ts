// Peer: the OpenAI Agents SDK, on its native wire, OpenAI Responses.
import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import type { OpenClient } from './client.ts'
import { createClient } from './client.ts'

export const open: OpenClient = ({ base }) => {
  setTracingDisabled(true)
  const api = new OpenAI({ apiKey: 'k', baseURL: `${base}/v1`, maxRetries: 0 })
  // Two copies of the vendor's client may be installed; they have the same shape.
  const model = new OpenAIResponsesModel(api as never, 'mock-model')
  const parameters = z.object({ text: z.string(), n: z.number() })
  return createClient((echo) => async (onText) => {
    const tools = [tool({ name: 'echo', description: 'echo', parameters, execute: async (input) => echo(input) })]
    const agent = new Agent({ name: 'bench', instructions: 'be brief', model, tools })
    const result = await run(agent, 'hi', { stream: true, maxTurns: 60 })
    for await (const event of result)
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta') onText(event.data.delta)
    await result.completed
  })
}
