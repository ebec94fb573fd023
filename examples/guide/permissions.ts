// Hard limits of an agent, whatever a person approves: it reads the workspace, writes nothing, and nothing leaves the
// machine.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { workspaceTools } from '@baton/tools/workspace'
import { z } from 'zod'

const weather = tool({
  name: 'weather',
  description: 'The weather in a city',
  input: z.object({ city: z.string() }),
  execute: async ({ city }) => (await fetch(`https://weather.example.com/${city}`)).text(),
})
const model = createScriptedModel({
  steps: ({ tools }) => ({ text: `I have ${tools.map(({ name }) => name).join(', ')}.` }),
})
const agent = defineAgent({
  name: 'reader',
  model,
  tools: [...workspaceTools({ root: '.', write: true }), weather],
  permissions: {
    allow: ['fs.*', 'content.*', 'code.*', 'weather'],
    deny: ['fs.write', 'fs.edit', 'fs.move', 'fs.delete'],
    network: false,
  },
})
const log = { info: (text: string, data = {}) => console.log(text, JSON.stringify(data)), warn: console.warn }
const host = createHost({ agent, log })
const session = await host.session('one')
console.log((await session.send('What do you have?').answer).text)
await host.stop()
