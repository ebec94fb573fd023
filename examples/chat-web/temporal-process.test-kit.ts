// A gateway or a worker of the journey over Temporal, as a process that tests kill: `node temporal-process.test-kit.ts WORDS`.
// A session stops at the point that a file of its name holds, until the file is gone.
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalHost, createTemporalWorker, sendTemporalLogs } from '@baton/temporal'
import type { TemporalWorkerOptions } from '@baton/temporal'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createJourney } from './journey.test-kit.ts'
import { serveChat } from './server.ts'

export interface ProcessWords {
  readonly address: string
  readonly taskQueue: string
  readonly postgres: string
  readonly redis: string
  /** With the files of sessions that stop, `effects.txt` and `workflows.json`. */
  readonly folder: string
  /** Present: it is a gateway. */
  readonly port?: number
  /** Milliseconds of silence after which the work of a worker is lost; the default by default. */
  readonly heartbeatMs?: number
}

/** Milliseconds between two looks at a file. */
const LOOK_MS = 20
/** Milliseconds that a page has for a call: machines that run tests are slow. */
const PAGE_MS = 120_000
const MANY = 1_000_000
/** All pages of a test are one principal. */
const LIMITS = {
  principalTurns: MANY,
  addressTurns: MANY,
  principalRequestsPerMinute: MANY,
  addressRequestsPerMinute: MANY,
}

const words = JSON.parse(process.argv[2] ?? '') as ProcessWords // of the test
const { address, taskQueue, redis, folder, port, heartbeatMs } = words
const agent = createJourney({
  pageMs: PAGE_MS,
  pass: async (point, session) => {
    const file = join(folder, session)
    if (!existsSync(file) || readFileSync(file, 'utf8') !== point) return
    process.stdout.write(`${session} is there\n`)
    while (existsSync(file)) await wait(LOOK_MS)
  },
  note: (tool, session) => appendFileSync(join(folder, 'effects.txt'), `${session} ${tool}\n`),
})
const log = {
  info: () => {},
  warn: (message: string, data?: object) => process.stderr.write(`${JSON.stringify({ message, ...data })}\n`),
}
const shared = { address, taskQueue, redis, agent, log, logStore: await openPostgresStore(words.postgres) }
if (port === undefined) {
  sendTemporalLogs(log)
  const worker = await createTemporalWorker({
    ...shared,
    // As `bundleWorkflows` made it.
    workflowBundle: JSON.parse(readFileSync(join(folder, 'workflows.json'), 'utf8')) as NonNullable<
      TemporalWorkerOptions['workflowBundle']
    >,
    timesOf: () => (heartbeatMs === undefined ? {} : { heartbeatMs }),
  })
  process.stdout.write('ready\n')
  await worker.run()
} else {
  await serveChat(await createTemporalHost(shared), { port, limits: LIMITS })
  process.stdout.write('ready\n')
}
