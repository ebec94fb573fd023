// Your own store: another store with some of its methods replaced. This one counts records per session.
import type { Store } from '@baton/host'
import { createHost, createMemoryStore, createOfflineModel, defineAgent } from '@baton/host'

function createCountingStore(inner: Store) {
  const counts = new Map<string, number>()
  const store: Store = {
    ...inner,
    append: async (session, epoch, afterPos, records) => {
      counts.set(session, (counts.get(session) ?? 0) + records.length)
      return await inner.append(session, epoch, afterPos, records)
    },
  }
  return { store, counts }
}

const { store, counts } = createCountingStore(createMemoryStore())
await using host = createHost({ agent: defineAgent({ name: 'counted', model: createOfflineModel() }), store })
const session = await host.session('trip')
await session.send('Hello!').answer
console.log(`trip has more than ${Math.min(2, counts.get('trip') ?? 0)} records`)
