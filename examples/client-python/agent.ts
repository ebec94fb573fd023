// An agent with a tool that its client runs: baton serve --agent examples/client-python/agent.ts
import { defineAgent, tool } from '@baton/host'

const weather = tool({
  name: 'weather',
  description: 'The weather where the user is',
  input: { type: 'object', properties: {} },
  effect: 'pure',
})
export default defineAgent({ name: 'weather', tools: [weather] })
