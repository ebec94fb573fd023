// The conversation: messages in pages, newest last, and the current state of the session.
import { createHost, createOfflineModel, defineAgent } from '@baton/host'

await using host = createHost({ agent: defineAgent({ name: 'guide', model: createOfflineModel() }) })
const session = await host.session('trip', { description: { title: 'A trip to Oslo' } })
for (const question of ['Hello!', 'Are you there?']) await session.send(question).answer

const newest = await session.messages({ limit: 2 })
const [first] = newest.messages
const older = await session.messages({ limit: 2, ...(first && { before: first.id }) })
for (const message of [...older.messages, ...newest.messages]) {
  const said = message.role === 'user' ? message.parts : message.steps
  const text = said.map((part) => ('text' in part ? part.text : `[${part.type}]`)).join('')
  console.log(`${message.role}: ${text.slice(0, 40)}`)
}
const { title, activity, context } = await session.info()
console.log(`${title}: ${activity}, more: ${older.more}, about ${context.used > 0 ? 'some' : 'no'} tokens`)
