// Peer: pi-agent-core.
import { Agent } from '@earendil-works/pi-agent-core'
import type { Model } from '@earendil-works/pi-ai'
import { streamSimple } from '@earendil-works/pi-ai/compat'
import type { Echo, EchoInput, OpenClient } from './client.ts'
import { createClient } from './client.ts'
import { Type } from 'typebox'

export const open: OpenClient = ({ base }) => {
  const model: Model<'anthropic-messages'> = {
    id: 'mock-model',
    name: 'mock',
    api: 'anthropic-messages',
    provider: 'anthropic',
    baseUrl: base,
    reasoning: false,
    input: ['text'],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 200_000,
    maxTokens: 4096,
  }
  return createClient((echo) => async (onText) => {
    const initialState = { systemPrompt: 'be brief', model, tools: [toTool(echo)] }
    const agent = new Agent({ streamFn: streamSimple, initialState, getApiKey: () => 'k' })
    agent.subscribe((event) => {
      if (event.type !== 'message_update' || event.assistantMessageEvent.type !== 'text_delta') return
      onText(event.assistantMessageEvent.delta)
    })
    await agent.prompt('hi')
    if (agent.state.errorMessage) throw new Error(agent.state.errorMessage)
  })
}

const PARAMETERS = Type.Object({ text: Type.String(), n: Type.Number() })

function toTool(echo: Echo) {
  return {
    name: 'echo',
    label: 'echo',
    description: 'echo',
    parameters: PARAMETERS,
    execute: async (_id: string, input: unknown) => ({
      content: [{ type: 'text' as const, text: echo(input as EchoInput) }],
      details: {},
    }),
  }
}
