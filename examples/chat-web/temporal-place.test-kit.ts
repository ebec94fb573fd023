// The chat page served over Temporal: two gateways and a worker, each a process that can be killed, and sessions that
// stop at a point of the journey or at a record of their log.
import type { SessionRecord } from '@baton/core/machine'
import { openPostgresStore } from '@baton/host/postgres'
import { bundleWorkflows } from '@baton/temporal'
import { findFreePort } from '@baton/testing/free-port'
import type { KillPlan } from '@baton/testing/kill-plan'
import type { Services } from '@baton/testing/services'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import { untilLineWithin, within } from '@baton/testing/within'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Point } from './journey.test-kit.ts'
import { bundlePage } from './server.ts'
import type { ProcessWords } from './temporal-process.test-kit.ts'

/**
 * A point of the journey, a record around which the worker dies, or `at once`, which stops the log at its present end.
 */
export type StopPlace = Point | KillPlan | 'at once'

/** The page is at the first gateway, unless it moves to the other one. */
type Part = 'gateway' | 'other gateway' | 'worker'

export interface ChatPlace {
  /** Ports of the gateways. */
  readonly ports: readonly [number, number]
  /** Does nothing if the part is running. */
  start(part: Part): Promise<void>
  /** Kills the part by SIGKILL. */
  kill(part: Part): Promise<void>
  stopAt(session: string, place: StopPlace): void
  /** Resolves when the session has stopped at its place. */
  reached(session: string): Promise<void>
  /** Whether the session has reached or passed its place. */
  hasReached(session: string): boolean
  /**
   * Kills the worker by SIGKILL, around the records at which its sessions wait. Every session may continue on another
   * worker.
   */
  strikeWorker(): Promise<void>
  /** Every session continues, and none stops again. */
  goOn(): void
  readEffects(session: string): readonly string[]
  /** Number of requests to the model. */
  countRequests(session: string): number
  readLog(session: string): Promise<readonly SessionRecord[]>
  /** Error output of its processes, for failure messages. */
  errors(): string
  close(): Promise<void>
}

const PROGRAM = join(import.meta.dirname, 'temporal-process.test-kit.ts')
/** Timeouts in milliseconds for the start of a process, and for a session to reach its point. */
const START_MS = 60_000
const REACH_MS = 60_000
/** Timeout in milliseconds for the death of a worker. */
const DIE_MS = 60_000

export async function openChatPlace(
  services: Services,
  times: Pick<ProcessWords, 'heartbeatMs' | 'pageMs'>,
): Promise<ChatPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-chat-temporal-'))
  writeFileSync(join(folder, 'workflows.json'), JSON.stringify(await bundleWorkflows()))
  writeFileSync(join(folder, 'page.js'), await bundlePage())
  const shared: ProcessWords = {
    address: services.temporal.address,
    taskQueue: `chat-${randomUUID()}`,
    postgres: services.postgres.createDatabase(),
    redis: services.redis.url,
    folder,
  }
  const log = await openPostgresStore(shared.postgres)
  const ports = [await findFreePort(), await findFreePort()] as const
  const own = { gateway: { port: ports[0] }, 'other gateway': { port: ports[1] }, worker: times }
  const running = new Map<Part, StartedCommand>()
  const stopped = new Set<string>()
  let errors = ''
  const end = async (part: Part, signal: 'SIGKILL' | 'SIGHUP'): Promise<void> => {
    const command = running.get(part)
    running.delete(part)
    command?.kill(signal)
    if (command) await within(DIE_MS, `the end of the ${part}`, command.ended)
    errors += command?.errors() ?? ''
  }
  const kill = (part: Part) => end(part, 'SIGKILL')
  const goOn = (): void => {
    for (const session of stopped) rmSync(join(folder, session))
    stopped.clear()
  }
  const readLines = (name: string): readonly string[] => {
    const file = join(folder, name)
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
  }
  return {
    ports,
    start: async (part) => {
      if (running.has(part)) return
      const words = [
        '--conditions=@baton/source',
        '--no-warnings',
        PROGRAM,
        JSON.stringify({ ...shared, ...own[part] }),
      ]
      const command = startCommand(process.execPath, { words })
      running.set(part, command)
      await untilLineWithin(START_MS, command, 'ready')
    },
    kill,
    stopAt: (session, place) => {
      // Written and renamed, so that a process never reads half of it.
      const file = join(folder, session)
      writeFileSync(`${file}.new`, JSON.stringify(place))
      renameSync(`${file}.new`, file)
      stopped.add(session)
    },
    reached: async (session) => {
      const worker = running.get('worker')
      if (!worker) throw new Error('there is no worker')
      await untilLineWithin(REACH_MS, worker, `${session} is there`)
    },
    hasReached: (session) => running.get('worker')?.output().includes(`${session} is there\n`) ?? false,
    strikeWorker: async () => {
      await end('worker', 'SIGHUP')
      goOn()
    },
    goOn,
    readEffects: (session) =>
      readLines('effects.txt').flatMap((line) =>
        line.startsWith(`${session} `) ? [line.slice(session.length + 1)] : [],
      ),
    countRequests: (session) => readLines('requests.txt').filter((line) => line === session).length,
    readLog: async (session) => {
      const records: SessionRecord[] = []
      for await (const record of log.read(session, 0)) records.push(record)
      return records
    },
    errors: () => errors + [...running.values()].map((command) => command.errors()).join(''),
    close: async () => {
      await Promise.all(Array.from(running.keys(), kill))
      await log.close()
      rmSync(folder, { recursive: true })
    },
  }
}
