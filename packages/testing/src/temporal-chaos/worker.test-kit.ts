// A worker as a separate process, for tests that kill it.
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalWorker, sendTemporalLogs } from '@baton/temporal'
import { createKilledAgent } from './killed-agent.ts'

const [address = '', taskQueue = '', postgres = '', redis = '', effects = '', kind = 'chaos'] = process.argv.slice(2)
const log = {
  info: () => {},
  warn: (message: string, data?: object) => process.stderr.write(`${JSON.stringify({ message, ...data })}\n`),
}
sendTemporalLogs(log)
const worker = await createTemporalWorker({
  address,
  taskQueue,
  logStore: await openPostgresStore(postgres),
  redis,
  agent: createKilledAgent(kind, effects),
  log,
  timesOf: () => ({ heartbeatMs: 2000 }),
  // Tasks of a killed worker go to another one after this time.
  temporal: { stickyQueueScheduleToStartTimeout: 1000 },
})
process.stdout.write('working\n')
process.once('SIGTERM', () => worker.shutdown())
await worker.run()
process.exit(0)
