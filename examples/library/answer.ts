// The smallest program with a tool: an agent answers one question.
import { createHost, defineAgent, tool } from '@baton/host'

const population = tool({
  name: 'city.population',
  description: 'The population of a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'pure',
  execute: ({ city }) => ({ city, people: city === 'Oslo' ? 717_710 : null }),
})
const host = createHost({ agent: defineAgent({ name: 'cities', model: 'offline', tools: [population] }) })
const session = await host.session()
console.log((await session.send('What is the population of the city "Oslo"?').answer).text)
