// A soak in real time: one server over SQLite, and the apps of all conversations in a separate process, over
// WebSockets. Every minute all conversations come to rest, and both processes' holdings are counted.
import { createRandom } from '@baton/core/testing'
import { createHost, createNodeEnvironment, openSqliteStore } from '@baton/host'
import { createMetrics } from '@baton/host/metrics'
import { createWebSocketFront } from '@baton/server/websocket'
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { AppsOptions, AppsOrder, AppsReport } from './apps-process.ts'
import type { Said } from './converse.ts'
import { createSaid } from './converse.ts'
import type { Holdings } from './holdings.ts'
import { takeHoldings } from './holdings.ts'
import { createSoakAgent, ReadBook } from './soak-model.ts'
import type { Soaked } from './soaked.ts'
import { checkRead, countOpen, sumSaid } from './soaked.ts'
import type { Timers } from '@baton/core/internal'

export interface RealSoakOptions {
  readonly minutes: number
  readonly sessions: number
  readonly seed: number
  readonly onSample: (name: string, holdings: Holdings) => void
}

const MINUTE_MS = 60_000
/** Milliseconds of each minute reserved for coming to rest. */
const REST_MS = 10_000
/** Conversations must come to rest within this many milliseconds, or they count as a failure. */
const PATIENCE_MS = 120_000
/** Milliseconds after the last answer until the server's remaining work for it has ended. */
const SETTLE_MS = 2000
const MANY = 1_000_000_000
const LIMITS = {
  connections: MANY,
  addressConnections: MANY,
  addressTurns: MANY,
  addressSessionsPerMinute: MANY,
  addressFramesPerMinute: MANY,
  addressBytesPerMinute: MANY,
  sessionTranscriptsPerMinute: MANY,
  sessionFramesPerMinute: MANY,
}
const PACE = { gapMs: 3000, idleMs: 20_000 }

export async function soakInRealTime({ minutes, sessions, seed, onSample }: RealSoakOptions): Promise<Soaked> {
  const server = await startServer(seed)
  const { book } = server
  const apps = startApps({ url: server.url, sessions, seed, pace: PACE })
  const samples: Holdings[] = []
  let said: Said = createSaid()
  try {
    for (let minute = 1; minute <= minutes; minute++) {
      await pause(MINUTE_MS - REST_MS)
      server.setCalm(true)
      const report = await askToRest(apps)
      await pause(SETTLE_MS)
      const holdings = { ...(await server.takeHoldings()), ...nameHoldings('apps: ', report.holdings) }
      samples.push(holdings)
      onSample(`${minute} min`, holdings)
      checkRead(book, report.said)
      if (minute === minutes) for (const told of report.errors) book.report(`an app received ${told}`)
      said = sumSaid(report.said)
      server.setCalm(false)
      apps.send((minute === minutes ? 'over' : 'open') satisfies AppsOrder)
    }
    await once(apps, 'exit', { signal: AbortSignal.timeout(PATIENCE_MS) })
  } finally {
    apps.kill()
    await server.close()
  }
  return { samples, book, said }
}

async function startServer(seed: number) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-soak-'))
  const store = await openSqliteStore(join(folder, 'soak.sqlite'))
  const node = createNodeEnvironment({ post: () => Promise.reject(new Error('a soak needs no network')) })
  const counted = countTimers(node.timers)
  const environment = { ...node, timers: counted.timers }
  const metrics = createMetrics()
  const book = new ReadBook()
  let isCalm = false
  const agent = createSoakAgent({ book, random: createRandom(seed), timers: counted.timers, isCalm: () => isCalm })
  const host = createHost({ agent, store, environment, observers: [metrics] })
  const front = createWebSocketFront(host, { ...environment, port: 0, limits: LIMITS })
  const { url } = await front.listen()
  return {
    url,
    book,
    setCalm: (calm: boolean): void => void (isCalm = calm),
    takeHoldings: () => takeHoldings(countOpen(metrics, counted.pending())),
    close: async () => {
      await front.close()
      await host.stop()
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
}

function startApps(init: AppsOptions): ChildProcess {
  const execArgv = ['--conditions=@baton/source', '--no-warnings', '--expose-gc']
  return fork(join(import.meta.dirname, 'apps-process.ts'), [JSON.stringify(init)], { execArgv })
}

/** @throws Error if the conversations do not come to rest, or the process of the apps ends */
async function askToRest(apps: ChildProcess): Promise<AppsReport> {
  const ended = new AbortController()
  const signal = AbortSignal.any([AbortSignal.timeout(PATIENCE_MS), ended.signal])
  const end = (code: number | null): void => ended.abort(new Error(`the process of the apps ended with ${code}`))
  apps.once('exit', end)
  try {
    const answered = once(apps, 'message', { signal })
    apps.send('close' satisfies AppsOrder)
    const [report] = (await answered) as [AppsReport] // as sent by the process
    return report
  } finally {
    apps.off('exit', end)
  }
}

function nameHoldings(prefix: string, holdings: Holdings): Holdings {
  return Object.fromEntries(Object.entries(holdings).map(([what, value]) => [prefix + what, value]))
}

interface CountedTimers {
  readonly timers: Timers
  pending(): number
}

/** Timers that count the pending ones. */
function countTimers(timers: Timers): CountedTimers {
  let pending = 0
  const start: Timers['start'] = (delayMs, callback, options) => {
    let isPending = true
    pending += 1
    const end = (): void => {
      if (isPending) pending -= 1
      isPending = false
    }
    const stop = timers.start(
      delayMs,
      () => {
        end()
        callback()
      },
      options,
    )
    return () => {
      end()
      stop()
    }
  }
  return { timers: { start }, pending: () => pending }
}
