// A worker of the home agent as a separate process, which may kill itself around a record.
import { createNodeEnvironment } from '@baton/host'
import { openPostgresStore } from '@baton/host/postgres'
import type { TemporalWorkerOptions } from '@baton/temporal'
import { createTemporalWorker, sendTemporalLogs } from '@baton/temporal'
import { appendFileSync, readFileSync } from 'node:fs'
import { createHomeAgent } from './home-agent.ts'
import { die, killingAt } from '../kill-loop/killing-store.ts'
import type { KillPlan } from '../kill-loop/plan.ts'

export interface WorkerWords {
  readonly address: string
  readonly taskQueue: string
  readonly postgres: string
  readonly redis: string
  /** A file with one line per effect: its tool. */
  readonly effects: string
  /** A file with the output of `bundleWorkflows`, as JSON. */
  readonly workflows: string
  /** When it kills itself; never if absent. */
  readonly plan?: KillPlan
  /** The tool after whose effect it kills itself, before reporting it; none if absent. */
  readonly diesAfter?: string
}

type Bundle = NonNullable<TemporalWorkerOptions['workflowBundle']>

const words = JSON.parse(process.argv[2] ?? '') as WorkerWords // from the test
const { address, taskQueue, redis, effects, plan, diesAfter } = words
const { timers } = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
const log = {
  info: () => {},
  warn: (message: string, data?: object) => process.stderr.write(`${JSON.stringify({ message, ...data })}\n`),
}
const onEffect = (name: string): void => {
  appendFileSync(effects, `${name}\n`, { flush: true })
  if (name === diesAfter) die()
}
sendTemporalLogs(log)
const store = await openPostgresStore(words.postgres)
const worker = await createTemporalWorker({
  address,
  taskQueue,
  redis,
  log,
  logStore: plan ? killingAt(store, plan) : store,
  workflowBundle: JSON.parse(readFileSync(words.workflows, 'utf8')) as Bundle, // as it was created
  agent: createHomeAgent({ timers, onEffect }),
})
process.stdout.write('working\n')
await worker.run()
