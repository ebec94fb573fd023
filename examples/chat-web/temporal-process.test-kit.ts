// A gateway or a worker of the journey over Temporal, as a process that tests kill: `node temporal-process.test-kit.ts
// WORDS`. A session stops at the point named in the file with its name until the file is removed, or waits at its
// record until SIGHUP arrives.
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
  /** Contains the files of stopping sessions, `effects.txt`, `requests.txt`, `page.js` and `workflows.json`. */
  readonly folder: string
  /** Present for a gateway. */
  readonly port?: number
  /** A worker's work is lost after this many milliseconds of silence; defaults to the library's value. */
  readonly heartbeatMs?: number
  /** Milliseconds that a page has for a call. */
  readonly pageMs?: number
}

/** Interval of file checks in milliseconds. */
const LOOK_MS = 20
/** Default milliseconds that a page has for a call: test machines are slow. */
const PAGE_MS = 120_000
/**
 * Milliseconds until a killed worker is noticed without other signs: the heartbeat interval to the service, and how
 * long Temporal waits for a dead worker that had a session cached.
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

const words = JSON.parse(process.argv[2] ?? '') as ProcessWords // passed by the test
const { address, taskQueue, redis, folder, port, heartbeatMs, pageMs = PAGE_MS } = words
/** The test removes the file at any moment. */
const findPlace = (session: string): StopPlace | undefined => {
  try {
    return JSON.parse(readFileSync(join(folder, session), 'utf8')) as StopPlace // as written by the place
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined
    throw cause
  }
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
    // As built by `bundleWorkflows`.
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
