// A worker as a separate process, for tests that kill it: each turn of its sessions is told to a webhook.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { openPostgresStore } from '@baton/host/postgres'
import { webhook } from '@baton/notices/webhook'
import { createTemporalWorker, sendTemporalLogs } from '@baton/temporal'

/** `dies`: `put` kills it once it has put the end of a turn, before it notes the notice; anything else never. */
const [address = '', taskQueue = '', postgres = '', redis = '', origin = '', secret = '', dies = ''] =
  process.argv.slice(2)
const log = {
  info: () => {},
  warn: (message: string, data?: object) => process.stderr.write(`${JSON.stringify({ message, ...data })}\n`),
}
sendTemporalLogs(log)
const store = await openPostgresStore(postgres)
const put: typeof store.put = async (session, records, under) => {
  await store.put(session, records, under)
  const isEnd = records.some(({ facts }) => facts.some(({ type }) => type === 'turn-finished'))
  if (dies === 'put' && isEnd) process.kill(process.pid, 'SIGKILL')
}
const retriesMs = Array.from({ length: 20 }, () => 200)
const worker = await createTemporalWorker({
  address,
  taskQueue,
  logStore: { ...store, put },
  redis,
  agent: defineAgent({ name: 'telling', model: createScriptedModel({ steps: () => ({ text: 'noted' }) }) }),
  notify: [webhook({ url: `${origin}/hook`, allow: [origin], secret, retriesMs, timeoutMs: 500 })],
  log,
  timesOf: () => ({ heartbeatMs: 2000 }),
  // Tasks of a killed worker go to another one after this time.
  temporal: { stickyQueueScheduleToStartTimeout: 1000 },
})
process.stdout.write('working\n')
process.once('SIGTERM', () => worker.shutdown())
await worker.run()
process.exit(0)
