// A worker for sessions and goals over Temporal: it makes decisions, calls models and runs tools until a signal stops
// it.
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalWorker } from '@baton/temporal'
import agent from '../goal-review/agent.ts'

const store = await openPostgresStore(process.env['BATON_STORE'] ?? 'postgres://localhost/baton')
const worker = await createTemporalWorker({
  address: process.env['BATON_TEMPORAL'] ?? 'localhost:7233',
  redis: process.env['BATON_REDIS'] ?? 'redis://localhost:6379',
  logStore: store,
  agents: [agent],
})
process.once('SIGTERM', () => worker.shutdown())
console.log('working')
await worker.run()
await store.close()
