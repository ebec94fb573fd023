// An agent is tested without a network: a scripted model answers like a real one, and the program inspects its
// requests.
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import assert from 'node:assert/strict'
import { z } from 'zod'

const population = tool({
  name: 'city.population',
  description: 'The population of a city',
  input: z.object({ city: z.string().trim().min(1) }),
  effect: 'pure',
  execute: ({ city }) => ({ city, people: city === 'Oslo' ? 717_710 : null }),
})
const model = createScriptedModel({
  steps: [
    // One request per step: two calls, the second of which does not fit the schema, then an answer that cites a page.
    { calls: ['Oslo ', ''].map((city) => ({ name: population.name, arguments: { city } })) },
    { text: 'About 718,000 people.', sources: [{ url: 'https://www.ssb.no', title: 'Statistics Norway' }] },
  ],
})
const host = createHost({ agent: defineAgent({ name: 'cities', model, tools: [population] }) })
const session = await host.session()
const answer = await session.send('How many people live in Oslo?').answer
assert.equal(answer.text, 'About 718,000 people.')
assert.equal(answer.sources?.[0]?.title, 'Statistics Norway')
for (const part of model.requests[1]?.messages.at(-1)?.parts ?? [])
  if (part.type === 'result') console.log(part.isError ? 'refused:' : 'told:', part.content)
await host.stop()
