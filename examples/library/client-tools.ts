// A tool without `execute` runs where the user is: here this program plays their browser. Its handler has the tool's
// types.
import { createHost, createOfflineModel, defineAgent, tool } from '@baton/host'

const place = tool({
  name: 'device.place',
  description: 'Where the device of the user is now, its city',
  input: { type: 'object', properties: { exact: { type: 'boolean' } } },
  effect: 'pure',
})
await using host = createHost({
  agent: defineAgent({ name: 'guide', model: createOfflineModel(), tools: [place] }),
})
const session = await host.session()
await session.attach({
  'device.place': ({ exact = false }) => ({ city: 'Oslo', ...(exact && { street: 'Karl Johans gate' }) }),
})
const { text } = await session.send('Where is my device now? Tell me the place and the city.').answer
console.log(text)
