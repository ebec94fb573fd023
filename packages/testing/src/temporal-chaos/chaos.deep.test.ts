// Workers that are killed at events of a conversation, over a real Temporal service, PostgreSQL and Redis. Which events are
// tried changes with the day; the seed is printed, and BATON_CHAOS_SEED and BATON_CHAOS_SHARE set them: share 1 tries all.
import type { SessionRecord } from '@baton/core/machine'
import type { Host, OwnedLogStore } from '@baton/core'
import { openPostgresStore } from '@baton/host/postgres'
import { createTemporalHost } from '@baton/temporal'
import { Client, Connection } from '@temporalio/client'
import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, describe, test } from 'vitest'
import { findPostgres, startPostgres } from '../postgres.ts'
import { findRedis, startRedis } from '../redis.ts'
import type { StartedCommand } from '../start-command.ts'
import { startCommand } from '../start-command.ts'
import { findTemporal, startTemporal } from '../temporal.ts'
import { createChaosAgent } from './chaos-agent.ts'
import { checkConversation, converse, readTwice } from './conversation.test-kit.ts'

const warn = (message: string): void => console.warn(message)
const what = 'conversations over Temporal whose workers are killed'
const programs = {
  temporal: findTemporal(what, warn),
  postgres: findPostgres(what, warn),
  redis: findRedis(what, warn),
}
const { temporal, postgres, redis } = programs
const services =
  temporal !== undefined && postgres !== undefined && redis !== undefined
    ? {
        temporal: await startTemporal(temporal),
        postgres: await startPostgres(postgres),
        redis: await startRedis(redis),
      }
    : undefined

/** Events of the history of a conversation that nothing disturbs, at least. */
const EVENTS = 150
/** One of so many events is tried. */
const SHARE = Number(process.env['BATON_CHAOS_SHARE'] ?? 12)
const SEED = Number(process.env['BATON_CHAOS_SEED'] ?? Math.floor(Date.now() / 86_400_000))
const WORKER = join(import.meta.dirname, 'worker.test-kit.ts')
const counts = { kills: 0, turns: 0, calls: 0, unknown: 0 }

interface Place {
  readonly host: Host
  readonly store: OwnedLogStore
  readonly session: string
  readonly effects: string
  startWorker(): Promise<StartedCommand>
  /** Events of the history, of all runs. */
  countEvents(): Promise<number>
  close(): Promise<void>
}

async function createPlace(): Promise<Place> {
  if (!services) throw new Error('there are no services')
  const url = services.postgres.createDatabase()
  const session = `chaos-${randomUUID()}`
  const effects = join(mkdtempSync(join(tmpdir(), 'baton-chaos-')), 'effects.txt')
  const { address } = services.temporal
  const store = await openPostgresStore(url)
  const place = { address, taskQueue: session, logStore: store, redis: services.redis.url }
  const host = await createTemporalHost({ ...place, agent: createChaosAgent(effects), clientLeaseMs: 60_000 })
  const connection = await Connection.connect({ address })
  const client = new Client({ connection })
  const words = ['--conditions=@baton/source', WORKER, address, session, url, services.redis.url, effects]
  return {
    host,
    store,
    session,
    effects,
    startWorker: async () => {
      const worker = startCommand(process.execPath, { words })
      await worker.untilLine((line) => line === 'working')
      return worker
    },
    countEvents: async () => {
      const described = await client.workflow
        .getHandle(session)
        .describe()
        .catch(() => undefined)
      return described?.historyLength ?? 0
    },
    close: async () => {
      await host.stop()
      await connection.close()
      await store.close()
    },
  }
}

async function readRecords({ store, session }: Place): Promise<readonly SessionRecord[]> {
  const records: SessionRecord[] = []
  for await (const record of store.read(session, 0)) records.push(record)
  return records
}

/** Kills the worker as soon as the history has so many events, and starts another one. */
async function playKilled(at: number): Promise<void> {
  const place = await createPlace()
  let worker = await place.startWorker()
  const talk = converse(place.host, place.session)
  let isOver = false
  talk.finally(() => (isOver = true)).catch(() => {})
  while (!isOver && (await place.countEvents()) < at) await wait(2)
  if (!isOver) {
    worker.kill('SIGKILL')
    await worker.ended
    counts.kills += 1
    worker = await place.startWorker()
  }
  const held = await talk
  const checked = checkConversation(await readRecords(place), place.effects, held)
  const session = await place.host.session(place.session)
  await readTwice(session)
  await session.close()
  counts.turns += checked.turns
  counts.calls += checked.calls
  counts.unknown += checked.unknown
  worker.kill('SIGTERM')
  await worker.ended
  await place.close()
}

describe.skipIf(!services)('conversations over Temporal', () => {
  const events = Array.from({ length: EVENTS }, (_, index) => index + 1).filter(
    (event) => event % SHARE === SEED % SHARE,
  )
  console.log(`chaos: one event of ${SHARE}, seed ${SEED}`)
  test.concurrent.each(events)('a worker that is killed at event %i', { timeout: 240_000 }, playKilled)
})

afterAll(async () => {
  console.log(
    `chaos: ${counts.kills} workers killed, ${counts.turns} turns, ${counts.calls} calls, ${counts.unknown} unknown`,
  )
  await services?.temporal.close()
  await services?.postgres.close()
  await services?.redis.kill()
})
