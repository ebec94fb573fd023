// A tool with a schema for its input: the model calls it, and answers with its result.
import type { AgentTool } from '@earendil-works/pi-agent-core'
import { Agent } from '@earendil-works/pi-agent-core'
import { contentText } from '@earendil-works/pi-ai'
import { builtinModels } from '@earendil-works/pi-ai/providers/all'
import { Type } from 'typebox'

const models = builtinModels()
const parameters = Type.Object({ city: Type.String() })
const population: AgentTool<typeof parameters> = {
  name: 'population',
  label: 'Population',
  description: 'The population of a city',
  parameters,
  execute: async (_id, { city }) => ({
    content: [{ type: 'text', text: JSON.stringify({ city, people: 717_710 }) }],
    details: {},
  }),
}
const agent = new Agent({
  streamFn: models.streamSimple.bind(models),
  initialState: { model: models.getModel('anthropic', 'claude-haiku-4-5')!, tools: [population] },
})
await agent.prompt('How many people live in Oslo?')
if (agent.state.errorMessage !== undefined) throw new Error(agent.state.errorMessage)
const answer = agent.state.messages.at(-1)
if (answer?.role === 'assistant') console.log(contentText(answer.content, ''))
