// The load test over Temporal: two workers and three gateways, as processes, over one Temporal service, PostgreSQL and
// Redis, with an increasing number of sessions, compared with three local hosts over the same database. It prints one
// table, and with --write inserts it into docs/scaling.md.
import { findPostgres, startPostgres } from '@baton/testing/postgres'
import { findRedis, startRedis } from '@baton/testing/redis'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import type { GatewayLoad, GatewayReport, Place } from './load-process.ts'
import type { TurnPrice } from './turn-price.ts'
import { priceTurn } from './turn-price.ts'

const { values: options } = parseArgs({
  options: {
    sessions: { type: 'string', default: '10,25,50,100,200,400' },
    turns: { type: 'string', default: '6' },
    'pace-ms': { type: 'string', default: '5000' },
    write: { type: 'boolean', default: false },
  },
})
const levels = options.sessions.split(',').map(Number)
const turns = Number(options.turns)
const paceMs = Number(options['pace-ms'])
if (![...levels, turns, paceMs].every((value) => Number.isInteger(value) && value > 0))
  throw new Error('--sessions takes whole numbers with commas between them, --turns and --pace-ms one each')

const GATEWAYS = 3
const WORKERS = 2
/**
 * The 99th percentile of the time to the first piece, in milliseconds, above which the number of sessions is not
 * increased further.
 */
const ENOUGH_MS = 3000

interface Level {
  readonly sessions: number
  readonly local: Measured
  readonly temporal: Measured
}

interface Measured {
  readonly p50: number
  readonly p99: number
  readonly wholeP50: number
  readonly turnsPerSecond: number
  readonly turns: number
  readonly errors: number
}

const warn = (message: string): void => void process.stderr.write(`${message}\n`)
const what = 'the load test'
const programs = {
  temporal: findTemporal(what, warn),
  postgres: findPostgres(what, warn),
  redis: findRedis(what, warn),
}
if (programs.temporal === undefined || programs.postgres === undefined || programs.redis === undefined) process.exit(1)
const temporal = await startTemporal(programs.temporal)
const postgres = await startPostgres(programs.postgres)
const redis = await startRedis(programs.redis)
try {
  const text = await measureAll()
  process.stdout.write(`\n${text}`)
  if (options.write) writeTable(text)
} finally {
  await temporal.close()
  await postgres.close()
  await redis.kill()
}

async function measureAll(): Promise<string> {
  const place = { address: temporal.address, taskQueue: 'load', postgres: postgres.createDatabase(), redis: redis.url }
  const workers: readonly ChildProcess[] = await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      const worker = start('worker', place)
      await untilLine(worker, (line) => line === 'working')
      return worker
    }),
  )
  const prices = { plain: await priceTurn(place, 'plain'), tool: await priceTurn(place, 'tool') }
  const measured: Level[] = []
  for (const sessions of levels) {
    const local = await measure('local', sessions, { ...place, postgres: postgres.createDatabase() })
    const over = await measure('temporal', sessions, place)
    measured.push({ sessions, local, temporal: over })
    warn(`${sessions} sessions: local ${show(local)}; Temporal ${show(over)}`)
    if (over.errors > 0 || over.p99 > ENOUGH_MS) break
  }
  for (const worker of workers) worker.kill('SIGTERM')
  return describe(measured, prices)
}

async function measure(kind: GatewayLoad['kind'], sessions: number, place: Place): Promise<Measured> {
  const gateways = Array.from({ length: GATEWAYS }, (_, index) => {
    const from = Math.floor((index * sessions) / GATEWAYS)
    const to = Math.floor(((index + 1) * sessions) / GATEWAYS)
    const names = Array.from({ length: to - from }, (__, own) => `${kind}-${sessions}-${from + own}`)
    const load: GatewayLoad = { ...place, kind, sessions: names, turns, paceMs, offset: from, of: sessions }
    return start('gateway', load)
  })
  await Promise.all(gateways.map((gateway) => untilLine(gateway, (line) => line === 'ready')))
  const reports = gateways.map((gateway) => untilLine(gateway, (line) => line.startsWith('{')))
  for (const gateway of gateways) gateway.stdin?.write('go\n')
  const told = (await Promise.all(reports)).map((line) => JSON.parse(line) as GatewayReport) // printed by our own process
  const first = told.flatMap(({ firstMs }) => firstMs)
  const errors = told.flatMap((report) => report.errors)
  for (const error of new Set(errors)) warn(`  ${kind}: ${error}`)
  const seconds = Math.max(...told.map(({ tookMs }) => tookMs)) / 1000
  return {
    p50: findQuantile(first, 0.5),
    p99: findQuantile(first, 0.99),
    wholeP50: findQuantile(
      told.flatMap(({ wholeMs }) => wholeMs),
      0.5,
    ),
    turnsPerSecond: first.length / seconds,
    turns: first.length,
    errors: errors.length,
  }
}

function start(kind: 'worker' | 'gateway', word: Place): ChildProcess {
  const program = join(import.meta.dirname, `${kind}-process.ts`)
  const words = ['--conditions=@baton/source', program, JSON.stringify(word)]
  return spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
}

function untilLine(child: ChildProcess, isWanted: (line: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) throw new Error('its output is not read')
    createInterface({ input: child.stdout }).on('line', (line) => isWanted(line) && resolve(line))
    child.once('exit', (code) => reject(new Error(`a process of the load test ended with ${String(code)}`)))
  })
}

function findQuantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

function show({ p50, p99, turnsPerSecond, errors }: Measured): string {
  return `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${turnsPerSecond.toFixed(1)} turns/s, ${errors} errors`
}

function describe(measured: readonly Level[], { plain, tool }: Record<'plain' | 'tool', TurnPrice>): string {
  const model = cpus()[0]?.model ?? 'unknown'
  const machine = `${cpus().length} cores (${model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GB, Node ${process.version}`
  const rows = measured.map(({ sessions, local, temporal: over }) =>
    [
      sessions,
      over.turnsPerSecond.toFixed(1),
      `${local.p50.toFixed(0)} / ${local.p99.toFixed(0)}`,
      `${over.p50.toFixed(0)} / ${over.p99.toFixed(0)}`,
      `${(over.p50 - local.p50).toFixed(0)} / ${(over.p99 - local.p99).toFixed(0)}`,
      over.turns,
      over.errors,
    ].join(' | '),
  )
  const price = ({ events, actions, bytes }: TurnPrice): string =>
    [events.toFixed(1), actions.toFixed(1), Math.round(bytes).toLocaleString('en')].join(' | ')
  return [
    `Measured on ${new Date().toISOString().slice(0, 10)}: ${machine}. ${WORKERS} workers, ${GATEWAYS} gateways, Temporal's development server over SQLite, PostgreSQL and Redis, all on this machine. A session speaks every ${paceMs / 1000} s, ${turns} times; the model begins to speak at once.`,
    '',
    '| Sessions | Turns per second | First piece, local host: p50 / p99 ms | First piece, Temporal: p50 / p99 ms | Added: p50 / p99 ms | Turns | Errors |',
    '|---|---|---|---|---|---|---|',
    ...rows.map((row) => `| ${row} |`),
    '',
    '| Turn | Events | Actions | Bytes of history |',
    '|---|---|---|---|',
    `| an input and an answer | ${price(plain)} |`,
    `| an input, one tool call, an answer | ${price(tool)} |`,
    '',
  ].join('\n')
}

function writeTable(text: string): void {
  const path = join(import.meta.dirname, '../../docs/scaling.md')
  const page = readFileSync(path, 'utf8')
  const parts = page.split(/(<!-- measured: temporal load -->\n|<!-- end measured -->)/)
  if (parts.length !== 5) throw new Error(`${path} has no place for the table`)
  writeFileSync(path, [parts[0], parts[1], `\n${text}\n`, parts[3], parts[4]].join(''))
}
