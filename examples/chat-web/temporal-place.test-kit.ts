// Where the chat page is served over Temporal: two gateways and a worker, each a process that can be killed, and sessions that
// stop at a point of the journey.
import { bundleWorkflows } from '@baton/temporal'
import { findFreePort } from '@baton/testing/free-port'
import type { Services } from '@baton/testing/services'
import type { StartedCommand } from '@baton/testing/start-command'
import { startCommand } from '@baton/testing/start-command'
import { untilLineWithin } from '@baton/testing/within'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Point } from './journey.test-kit.ts'
import type { ProcessWords } from './temporal-process.test-kit.ts'

/** The page is at the first gateway, unless it moves to the other one. */
type Part = 'gateway' | 'other gateway' | 'worker'

export interface ChatPlace {
  /** Of the gateways. */
  readonly ports: readonly [number, number]
  /** Does nothing where it runs. */
  start(part: Part): Promise<void>
  /** By SIGKILL. */
  kill(part: Part): Promise<void>
  stopAt(session: string, point: Point): void
  /** Resolves when the session stands at its point. */
  reached(session: string): Promise<void>
  /** Every session goes on, and none stops again. */
  goOn(): void
  readEffects(session: string): readonly string[]
  /** What a failure is told with: what its processes said to their error streams. */
  errors(): string
  close(): Promise<void>
}

const PROGRAM = join(import.meta.dirname, 'temporal-process.test-kit.ts')
/** Milliseconds that a process has to start, and a session to come to its point. */
const START_MS = 60_000
const REACH_MS = 60_000

export async function openChatPlace(services: Services, heartbeatMs: number): Promise<ChatPlace> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-chat-temporal-'))
  writeFileSync(join(folder, 'workflows.json'), JSON.stringify(await bundleWorkflows()))
  const shared: ProcessWords = {
    address: services.temporal.address,
    taskQueue: `chat-${randomUUID()}`,
    postgres: services.postgres.createDatabase(),
    redis: services.redis.url,
    folder,
  }
  const ports = [await findFreePort(), await findFreePort()] as const
  const own = { gateway: { port: ports[0] }, 'other gateway': { port: ports[1] }, worker: { heartbeatMs } }
  const running = new Map<Part, StartedCommand>()
  const stopped = new Set<string>()
  let errors = ''
  const kill = async (part: Part): Promise<void> => {
    const command = running.get(part)
    running.delete(part)
    command?.kill('SIGKILL')
    await command?.ended
    errors += command?.errors() ?? ''
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
    stopAt: (session, point) => {
      writeFileSync(join(folder, session), point)
      stopped.add(session)
    },
    reached: async (session) => {
      const worker = running.get('worker')
      if (!worker) throw new Error('there is no worker')
      await untilLineWithin(REACH_MS, worker, `${session} is there`)
    },
    goOn: () => {
      for (const session of stopped) rmSync(join(folder, session))
      stopped.clear()
    },
    readEffects: (session) => {
      const file = join(folder, 'effects.txt')
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
      return lines.flatMap((line) => (line.startsWith(`${session} `) ? [line.slice(session.length + 1)] : []))
    },
    errors: () => errors + [...running.values()].map((command) => command.errors()).join(''),
    close: async () => {
      await Promise.all(Array.from(running.keys(), kill))
      rmSync(folder, { recursive: true })
    },
  }
}
