// A delegating tool with arguments of its own: the task is made from them, and the answer is a value.
import { createScriptedModel } from '@baton/host/testing'
import { createHost, defineAgent, delegate } from '@baton/host'
import { z } from 'zod'

const researcher = defineAgent({
  name: 'researcher',
  model: createScriptedModel({ steps: [{ text: '{"people":717710}' }] }),
  output: z.object({ people: z.number() }),
})
const count = delegate({
  agent: researcher,
  name: 'count',
  description: 'Counts the people of a city',
  input: z.object({ city: z.string(), year: z.number() }),
  prompt: ({ city, year }) => `How many people lived in ${city} in ${year}?`,
})
const model = createScriptedModel({
  steps: [{ calls: [{ name: 'count', arguments: { city: 'Oslo', year: 2025 } }] }, { text: 'About 718,000.' }],
})
const host = createHost({ agent: defineAgent({ name: 'writer', model, tools: [count] }) })
const session = await host.session('article')
for await (const event of session.send('How large is Oslo?'))
  if (event.type === 'call' && event.call.result?.type === 'ok') console.log(event.call.result.value)
await host.stop()
