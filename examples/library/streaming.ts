// Streams an answer and its tool calls by iterating over a turn.
import { createHost, createOfflineModel, defineAgent, tool } from '@baton/host'

const population = tool({
  name: 'city.population',
  description: 'The population of a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'pure',
  execute: ({ city }) => ({ city, people: city === 'Oslo' ? 717_710 : null }),
})
await using host = createHost({
  agent: defineAgent({ name: 'cities', model: createOfflineModel(), tools: [population] }),
})
const session = await host.session()
for await (const event of session.send('What is the population of the city "Oslo"?')) {
  if (event.type === 'text') process.stdout.write(event.text)
  if (event.type === 'call') console.log(`[${event.call.name}: ${event.call.status}]`)
  if (event.type === 'turn-finished') console.log(`\n[${event.stop}]`)
}
