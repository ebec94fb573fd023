// A conversation that continues after a restart: `node baton.ts "I am Ann."`, then `node baton.ts "Who am I?"`.
import { createHost, defineAgent, openSqliteStore } from '@baton/host'

const session = await createHost({
  agent: defineAgent({ name: 'shop', model: 'anthropic/claude-haiku-4-5' }),
  store: await openSqliteStore('chat.db'),
}).session('ann')
const { text } = await session.send(process.argv[2] ?? 'Hello!').answer
console.log(text)
