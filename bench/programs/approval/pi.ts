// A tool that a person must approve: the terminal asks, and the call runs or is denied.
import type { AgentTool } from '@earendil-works/pi-agent-core'
import { Agent } from '@earendil-works/pi-agent-core'
import { contentText } from '@earendil-works/pi-ai'
import { builtinModels } from '@earendil-works/pi-ai/providers/all'
import { createInterface } from 'node:readline/promises'
import { Type } from 'typebox'

const terminal = createInterface({ input: process.stdin })
const models = builtinModels()
const parameters = Type.Object({ cents: Type.Integer() })
const refund: AgentTool<typeof parameters> = {
  name: 'refund',
  label: 'Refund',
  description: 'Refunds an order',
  parameters,
  execute: async (_id, { cents }) => ({
    content: [{ type: 'text', text: JSON.stringify({ refunded: cents }) }],
    details: {},
  }),
}
const agent = new Agent({
  streamFn: models.streamSimple.bind(models),
  initialState: { model: models.getModel('anthropic', 'claude-haiku-4-5')!, tools: [refund] },
  beforeToolCall: async ({ toolCall, args }) => {
    console.log('approve?', toolCall.name, args)
    return (await terminal.question('')) === 'y' ? undefined : { block: true, reason: 'a person denied it' }
  },
})
await agent.prompt('Refund 20 euros.')
if (agent.state.errorMessage !== undefined) throw new Error(agent.state.errorMessage)
const answer = agent.state.messages.at(-1)
if (answer?.role === 'assistant') console.log(contentText(answer.content, ''))
terminal.close()
