// A tool with a schema for its input: the model calls it, and answers with its result.
import { createHost, defineAgent, tool } from '@baton/host'
import { z } from 'zod'

const population = tool({
  name: 'population',
  description: 'The population of a city',
  input: z.object({ city: z.string() }),
  effect: 'pure',
  execute: ({ city }) => ({ city, people: 717_710 }),
})
const session = await createHost({
  agent: defineAgent({ name: 'cities', model: 'anthropic/claude-haiku-4-5', tools: [population] }),
}).session()
const { text } = await session.send('How many people live in Oslo?').answer
console.log(text)
