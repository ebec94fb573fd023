// pi: an agent with a tool, streamed text, a message that steers the agent, and an abort.
import { Agent } from '@earendil-works/pi-agent-core'
import { createModels } from '@earendil-works/pi-ai'
import { anthropicProvider } from '@earendil-works/pi-ai/providers/anthropic'
import { Type } from 'typebox'

const models = createModels()
models.setProvider(anthropicProvider())
const model = models.getModel('anthropic', 'claude-haiku-4-5')
if (!model) throw new Error('there is no such model')

const parameters = Type.Object({ city: Type.String() })
const agent = new Agent({
  streamFn: models.streamSimple.bind(models),
  initialState: {
    systemPrompt: 'Answer briefly.',
    model,
    tools: [
      {
        name: 'population',
        label: 'Population',
        description: 'The population of a city',
        parameters,
        execute: async (_id, input) => {
          const { city } = input as { city: string }
          if (city !== 'Oslo') throw new Error(`no population data for ${city}`)
          return { content: [{ type: 'text', text: '717710' }], details: {} }
        },
      },
    ],
  },
  beforeToolCall: async ({ toolCall }) =>
    toolCall.name === 'population' ? undefined : { block: true, reason: 'not allowed' },
})
agent.subscribe((event) => {
  if (event.type === 'message_update' && event.assistantMessageEvent.type === 'text_delta')
    process.stdout.write(event.assistantMessageEvent.delta)
  if (event.type === 'tool_execution_end') console.log(event.toolName, event.isError)
})

await agent.prompt('How many people live in Oslo?')
if (agent.state.errorMessage !== undefined) throw new Error(agent.state.errorMessage)

const asked = agent.prompt('Tell me about Oslo.')
agent.steer({ role: 'user', content: 'In one sentence.', timestamp: Date.now() })
await asked
