// Measures how many sessions one machine supports over version 2: each streams 20 pieces of text a second to its own
// connection, compared with a bare WebSocket server that sends as many frames of the same size. For each number of
// sessions, it prints the latency between a piece at the model and its frame at the app, and the resources used by the
// processes. It also prints the cost of an idle connection, and of opening a session of 1,000 turns.
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { AppsReport } from './apps.ts'
import type { ServerUse } from './server.ts'

const { values: options } = parseArgs({
  options: {
    sessions: { type: 'string', default: '250,500,1000,1500,2000,3000' },
    seconds: { type: 'string', default: '10' },
    postgres: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
  },
})
const levels = options.sessions.split(',').map(Number)
const seconds = Number(options.seconds)
if (![...levels, seconds].every((value) => Number.isInteger(value) && value > 0))
  throw new Error('--sessions takes whole numbers with commas between them, --seconds one')

/** The 99th percentile of the latency, in milliseconds, above which the number of sessions is not increased further. */
const ENOUGH_MS = 250
const IDLE = 500
const HISTORY_TURNS = 1000

/** `connected`: a version 2 connection without a session. */
type Kind = 'bare' | 'baton' | 'connected'

async function ask<Answer>(child: ChildProcess, question?: object): Promise<Answer> {
  const answered = once(child, 'message') as Promise<[Answer]> // by the protocol of the processes
  if (question) child.send(question)
  return (await answered)[0]
}

function start(file: string, words: readonly string[]): ChildProcess {
  const execArgv = ['--conditions=@baton/source', '--no-warnings', '--expose-gc']
  const profile = options.profile && words[0] === 'baton' ? ['--cpu-prof', '--cpu-prof-dir=reports'] : []
  return fork(join(import.meta.dirname, file), [...words], { execArgv: [...execArgv, ...profile] })
}

interface Level {
  readonly kind: string
  readonly sessions: number
  readonly p50: number
  readonly p99: number
  readonly frames: number
  readonly cores: number
  readonly appCores: number
}

async function measure(kind: Kind, sessions: number, stores: readonly string[]): Promise<Level> {
  const servers = stores.map((store) => start('server.ts', [kind, store]))
  const ports = await Promise.all(servers.map((server) => ask<{ readonly port: number }>(server)))
  const apps = start('apps.ts', [kind, ports.map(({ port }) => port).join(), String(sessions), String(seconds)])
  await ask(apps) // all are connected, and their sessions have spoken
  const before = await Promise.all(servers.map((server) => ask<ServerUse>(server, { type: 'use' })))
  const report = await ask<AppsReport>(apps, { type: 'begin' })
  const after = await Promise.all(servers.map((server) => ask<ServerUse>(server, { type: 'use' })))
  const cpuMs = after.reduce((sum, use, index) => sum + use.cpuMs - (before[index]?.cpuMs ?? 0), 0)
  for (const child of [apps, ...servers]) {
    child.send({ type: 'end' })
    await once(child, 'exit')
  }
  return {
    kind:
      kind === 'bare'
        ? kind
        : stores[0] === 'memory'
          ? 'baton, memory'
          : `baton, PostgreSQL, processes: ${stores.length}`,
    sessions,
    p50: report.p50,
    p99: report.p99,
    frames: report.frames,
    cores: cpuMs / 1000 / seconds,
    appCores: report.cpuMs / 1000 / seconds,
  }
}

async function measureIdle(kind: Kind): Promise<number> {
  const server = start('server.ts', [kind, 'memory'])
  const { port } = await ask<{ readonly port: number }>(server)
  const apps = start('apps.ts', [kind, String(port), String(IDLE), '0'])
  await ask(apps)
  const some = await ask<ServerUse>(server, { type: 'use' })
  await ask(apps, { type: 'more' })
  const all = await ask<ServerUse>(server, { type: 'use' })
  for (const child of [apps, server]) {
    child.send({ type: 'end' })
    await once(child, 'exit')
  }
  return (all.heapBytes - some.heapBytes) / IDLE / 1024
}

const print = (line: string): void => void process.stdout.write(`${line}\n`)
const show = (value: number): string => value.toFixed(value < 10 ? 2 : 0)

print(`${cpus().length} cores, Node ${process.version}; ${seconds} s each, 20 pieces a second and session`)
print('server | sessions | p50 ms | p99 ms | frames a second | cores of the servers | cores of the apps')
const postgresProgram = options.postgres
  ? findPostgres('the load test', (message) => void process.stderr.write(`${message}\n`))
  : undefined
const postgres = postgresProgram === undefined ? undefined : await startPostgres(postgresProgram)
const kinds: readonly (readonly [Kind, () => readonly string[]])[] = [
  ['bare', () => ['memory']],
  ['baton', () => ['memory']],
  ...(postgres
    ? [
        ['baton', () => [postgres.createDatabase()]] as const,
        [
          'baton',
          () => {
            const database = postgres.createDatabase()
            return [database, database]
          },
        ] as const,
      ]
    : []),
]
for (const [kind, makeStores] of kinds)
  for (const sessions of levels) {
    const level = await measure(kind, sessions, makeStores())
    const { p50, p99, frames, cores, appCores } = level
    print([level.kind, sessions, show(p50), show(p99), show(frames / seconds), show(cores), show(appCores)].join(' | '))
    if (p99 > ENOUGH_MS) break
  }
await postgres?.close()
const [bare, connected, baton] = [await measureIdle('bare'), await measureIdle('connected'), await measureIdle('baton')]
print(
  `idle: a bare connection ${show(bare)} KiB, one of version 2 ${show(connected)} KiB, with its session ${show(baton)} KiB`,
)
const server = start('server.ts', ['history', 'memory', String(HISTORY_TURNS)])
await ask(server)
const { openMs, pageMs } = await ask<{ readonly openMs: number; readonly pageMs: number }>(server, { type: 'open' })
print(
  `opening a session of ${HISTORY_TURNS} turns: ${show(openMs)} ms of CPU, with its newest 50 messages ${show(pageMs)} ms`,
)
server.send({ type: 'end' })
