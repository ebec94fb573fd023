// Workers that are killed at events of a conversation, over a real Temporal service, PostgreSQL and Redis. The tried
// events change daily; the seed is printed, and can be set with BATON_CHAOS_SEED and BATON_CHAOS_SHARE: share 1 tries
// all.
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, describe, test } from 'vitest'
import { startServices } from '../components/services.ts'
import { checkConversation, converse, readTwice } from './conversation.test-kit.ts'
import { createPlace } from './place.test-kit.ts'

const what = 'conversations over Temporal whose workers are killed'
const services = await startServices(what, (message) => console.warn(message))

/** Minimum number of history events in an undisturbed conversation. */
const EVENTS = 150
/** One in this many events is tried. */
const SHARE = Number(process.env['BATON_CHAOS_SHARE'] ?? 25)
const SEED = Number(process.env['BATON_CHAOS_SEED'] ?? Math.floor(Date.now() / 86_400_000))
const counts = { kills: 0, turns: 0, calls: 0, unknown: 0 }

/** Kills the worker as soon as the history has this many events, and starts another one. */
async function playKilled(at: number): Promise<void> {
  if (!services) throw new Error('there are no services')
  const place = await createPlace(services)
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
  const checked = checkConversation(await place.readRecords(), place.effects, held)
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
  test.concurrent.each(events)('a worker that is killed at event %i', playKilled)
})

afterAll(async () => {
  console.log(
    `chaos: ${counts.kills} workers killed, ${counts.turns} turns, ${counts.calls} calls, ${counts.unknown} unknown`,
  )
  await services?.close()
})
