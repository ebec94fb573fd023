// A worker of the load test.
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalWorker, sendTemporalLogs } from '@baton/temporal'
import { createLoadAgent } from './load-agent.ts'
import type { Place } from './load-process.ts'
import { readWord } from './load-process.ts'

const { address, taskQueue, postgres, redis } = readWord<Place>()
const warn = (message: string): void => void process.stderr.write(`worker: ${message}\n`)
sendTemporalLogs({ info: () => {}, warn })
const worker = await createTemporalWorker({
  address,
  taskQueue,
  redis,
  logStore: await openPostgresStore(postgres),
  agent: createLoadAgent(),
  log: { info: () => {}, warn },
})
process.once('SIGTERM', () => worker.shutdown())
process.stdout.write('working\n')
await worker.run()
process.exit(0)
