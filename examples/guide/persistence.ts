// A conversation in a SQLite file. Run it twice: the second process continues where the first one ended.
import { createHost, createOfflineModel, defineAgent, openSqliteStore } from '@baton/host'

const store = await openSqliteStore(process.argv[2] ?? 'chat.db')
const host = createHost({ agent: defineAgent({ name: 'friend', model: createOfflineModel() }), store })
const { recovered } = await host.recover() // turns that a crash interrupted continue now
console.log('recovered:', recovered)

const session = await host.session('ann')
console.log('messages so far:', (await session.messages()).messages.length)
await session.send('Hello again!', { inputId: `hello-${process.pid}` }).answer

await host.stop({ drainMs: 5000 })
await store.close()
