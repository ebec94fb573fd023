// A tool that a person must approve: the program shows the pending call, and decides about it.
import { createHost, createOfflineModel, defineAgent, tool } from '@baton/host'

const population = tool({
  name: 'city.population',
  description: 'The population of a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'pure',
  approval: true,
  describe: ({ city }) => ({ title: `Look up ${city}` }),
  execute: ({ city }) => ({ city, people: city === 'Oslo' ? 717_710 : null }),
})
const host = createHost({ agent: defineAgent({ name: 'cities', model: createOfflineModel(), tools: [population] }) })
const session = await host.session('trip')
const turn = session.send('What is the population of the city "Oslo"?')
for await (const event of turn) {
  if (event.type !== 'approval-requested') continue
  const [shown] = await session.approvals()
  console.log('asks for your approval:', shown?.title, shown?.input)
  await session.decide({ approvalId: event.approvalId, decision: 'approve', reason: 'it is public' })
}
console.log((await turn.answer).text)
await host.stop()
