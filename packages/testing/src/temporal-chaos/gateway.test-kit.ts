// A gateway as a separate process, for tests that kill it. It prints what it reads, one batch of events per line.
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalHost } from '@baton/temporal'
import { createChaosAgent } from './chaos-agent.ts'

const [address = '', taskQueue = '', postgres = '', redis = '', effects = '', said = '', inputId = ''] =
  process.argv.slice(2)
const logStore = await openPostgresStore(postgres)
const host = await createTemporalHost({ address, taskQueue, logStore, redis, agent: createChaosAgent(effects) })
const session = await host.session(taskQueue)
const stream = session.events({ from: 'start' })
session.send(said, { inputId }).answer.catch(() => {})
for (;;) {
  const batch = await stream.nextBatch()
  if (!batch) break
  process.stdout.write(`${JSON.stringify(batch)}\n`)
}
