// Tools that change during a session, and an agent chosen per session.
import type { Tool, ToolSource } from '@baton/host'
import { createHost, createOfflineModel, defineAgent, tool } from '@baton/host'

function createShelf() {
  let tools: readonly Tool[] = []
  let tell = (): void => {}
  const source: ToolSource = {
    name: 'shelf',
    list: () => Promise.resolve(tools),
    onChange: (listener) => {
      tell = listener
      return () => (tell = () => {})
    },
  }
  const put = (...next: readonly Tool[]): void => {
    tools = next
    tell()
  }
  return { source, put }
}

const shelf = createShelf()
const host = createHost({
  // Called for every opening, even after a restart, with the known facts about the session.
  agentOf: ({ principal }) =>
    defineAgent({
      name: 'cities',
      model: createOfflineModel(),
      instructions: `You help ${principal.id}.`,
      sources: [shelf.source],
    }),
})
const session = await host.session('trip', { principal: { id: 'ann' }, description: { title: 'A trip to Oslo' } })
const ask = async () => (await session.send('What is the population of the city "Oslo"?').answer).text
console.log('before:', await ask())
shelf.put(
  tool({
    name: 'city.population',
    description: 'The population of a city',
    input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    effect: 'pure',
    execute: ({ city }) => ({ city, people: city === 'Oslo' ? 717_710 : null }),
  }),
)
await new Promise((resolve) => setImmediate(resolve)) // the source is listed again
console.log('after:', await ask())
console.log((await host.sessions({ principal: { id: 'ann' } })).sessions.map(({ id, title }) => `${id}: ${title}`))
await host.stop()
