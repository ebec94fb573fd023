// A file for `baton serve --agent agent.ts`: its default export is an agent. The input of its tool is a Zod schema.
import { defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const population = tool({
  name: 'city.population',
  description: 'The population of a city',
  input: z.object({ city: z.string().describe('Its name in English') }),
  effect: 'pure',
  execute: ({ city }) => ({ city, people: city === 'Oslo' ? 717_710 : null }),
})
export default defineAgent({ name: 'cities', instructions: 'Answer briefly.', tools: [population] })
