// A gateway in its own program: a stateless host over the workers of `worker.ts`.
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalHost } from '@baton/temporal'
import agent from '../goal-review/agent.ts'

const store = await openPostgresStore(process.env['BATON_STORE'] ?? 'postgres://localhost/baton')
const host = await createTemporalHost({
  address: process.env['BATON_TEMPORAL'] ?? 'localhost:7233',
  redis: process.env['BATON_REDIS'] ?? 'redis://localhost:6379',
  logStore: store,
  agents: [agent],
})
const session = await host.session(process.argv[2] ?? 'review-17', { agent })
const answer = await session.send('Is submission "leases" valid for payout?', { inputId: 'review' }).answer
console.log(answer.text)
await host.stop()
await store.close()
