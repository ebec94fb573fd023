// A gateway or a worker of the journey over Temporal, as a process that tests kill: `node temporal-process.test-kit.ts WORDS`.
// A session stops at the point that a file of its name holds, until the file is gone, or stands at its record until SIGHUP comes.
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalHost, createTemporalWorker, sendTemporalLogs } from '@baton/temporal'
import type { TemporalWorkerOptions } from '@baton/temporal'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { StopPlace } from './temporal-place.test-kit.ts'
import { createJourney } from './journey.test-kit.ts'
import { serveChat } from './server.ts'
import { standingAt } from './standing-log.test-kit.ts'

export interface ProcessWords {
  readonly address: string
  readonly taskQueue: string
  readonly postgres: string
  readonly redis: string
  /** With the files of sessions that stop, `effects.txt`, `requests.txt`, `page.js` and `workflows.json`. */
  readonly folder: string
  /** Present: it is a gateway. */
  readonly port?: number
  /** Milliseconds of silence after which the work of a worker is lost; the default by default. */
  readonly heartbeatMs?: number
  /** Milliseconds that a page has for a call. */
  readonly pageMs?: number
}

/** Milliseconds between two looks at a file. */
const LOOK_MS = 20
/** Milliseconds that a page has for a call by default: machines that run tests are slow. */
const PAGE_MS = 120_000
/**
 * Milliseconds after which a killed worker is missed where it says nothing else: how often the service hears that work goes on, and
 * how long a dead worker is waited for that knew a session.
 */
const SDK_TIMES = { maxHeartbeatThrottleInterval: 1000, stickyQueueScheduleToStartTimeout: 2000 }
const MANY = 1_000_000
/** All pages of a test are one principal. */
const LIMITS = {
  principalTurns: MANY,
  addressTurns: MANY,
  principalRequestsPerMinute: MANY,
  addressRequestsPerMinute: MANY,
}

const words = JSON.parse(process.argv[2] ?? '') as ProcessWords // of the test
const { address, taskQueue, redis, folder, port, heartbeatMs, pageMs = PAGE_MS } = words
const findPlace = (session: string): StopPlace | undefined => {
  const file = join(folder, session)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as StopPlace) : undefined // as the place wrote it
}
const tellThere = (session: string): void => void process.stdout.write(`${session} is there\n`)
const agent = createJourney({
  pageMs,
  pass: async (point, session) => {
    if (findPlace(session) !== point) return
    tellThere(session)
    while (existsSync(join(folder, session))) await wait(LOOK_MS)
  },
  ask: (session) => appendFileSync(join(folder, 'requests.txt'), `${session}\n`),
  note: (tool, session) => appendFileSync(join(folder, 'effects.txt'), `${session} ${tool}\n`),
})
const log = {
  info: () => {},
  warn: (message: string, data?: object) => process.stderr.write(`${JSON.stringify({ message, ...data })}\n`),
}
const logStore = await openPostgresStore(words.postgres)
const shared = { address, taskQueue, redis, agent, log }
if (port === undefined) {
  sendTemporalLogs(log)
  const worker = await createTemporalWorker({
    ...shared,
    logStore: standingAt(logStore, {
      planOf: (session) => {
        const place = findPlace(session)
        return typeof place === 'object' ? place : undefined
      },
      mayWrite: async (session) => {
        while (findPlace(session) === 'at once') await wait(LOOK_MS)
      },
      tellThere,
      struck: new Promise((resolve) => void process.once('SIGHUP', () => resolve())),
    }),
    // As `bundleWorkflows` made it.
    workflowBundle: JSON.parse(readFileSync(join(folder, 'workflows.json'), 'utf8')) as NonNullable<
      TemporalWorkerOptions['workflowBundle']
    >,
    temporal: SDK_TIMES,
    timesOf: () => (heartbeatMs === undefined ? {} : { heartbeatMs }),
  })
  process.stdout.write('ready\n')
  await worker.run()
} else {
  const pageProgram = readFileSync(join(folder, 'page.js'), 'utf8')
  await serveChat(await createTemporalHost({ ...shared, logStore }), { port, limits: LIMITS, pageProgram })
  process.stdout.write('ready\n')
}
