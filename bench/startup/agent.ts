// The agent that the measured commands load: one tool, as in a first program.
import { defineAgent, tool } from '@baton/host'

const population = tool({
  name: 'city.population',
  description: 'The population of a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'pure',
  execute: ({ city }) => ({ city, people: city === 'Oslo' ? 717_710 : null }),
})

export default defineAgent({ name: 'cities', tools: [population] })
