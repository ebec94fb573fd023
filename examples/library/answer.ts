// The smallest program on Baton: an agent with one tool answers one question.
import { defineAgent, tool } from '@baton/core'
import { createHost } from '@baton/host'
import { createOfflineModel } from '@baton/models/offline'

const population = tool({
  name: 'city.population',
  description: 'The population of a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'pure',
  execute: ({ city }) => ({ city, people: city === 'Oslo' ? 717_710 : null }),
})
const agent = defineAgent({ name: 'cities', model: createOfflineModel(), tools: [population] })
const host = createHost({ agent })
const session = await host.session(undefined)
console.log((await session.send('What is the population of the city "Oslo"?').answer).text)
await host.stop()
