// Workers of a tree of sessions that are killed at events of its root, over a real Temporal service, PostgreSQL and Redis. The
// tried events change daily; BATON_CHAOS_SEED and BATON_CHAOS_SHARE choose others, and share 1 tries all.
import type { Session } from '@baton/core'
import type { Fact } from '@baton/core/machine'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { startServices } from '../components/services.ts'
import type { Place } from './place.test-kit.ts'
import { createPlace } from './place.test-kit.ts'

const what = 'trees of sessions over Temporal whose workers are killed'
const services = await startServices(what, (message) => console.warn(message))

/** Minimum number of history events of the root in an undisturbed conversation. */
const EVENTS = 90
/** One in this many events is tried. */
const SHARE = Number(process.env['BATON_CHAOS_SHARE'] ?? 15)
const SEED = Number(process.env['BATON_CHAOS_SEED'] ?? Math.floor(Date.now() / 86_400_000))
const counts = { kills: 0, paid: 0, unknown: 0 }

/** Approves what waits until the turn has ended. */
async function approveAll(session: Session, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    for (const { approvalId } of await session.approvals().catch(() => []))
      await session.decide({ approvalId, decision: 'approve' }).catch(() => {}) // tried again
    await wait(50)
  }
}

const count = (facts: readonly Fact[], type: Fact['type']): number => facts.filter((fact) => fact.type === type).length

async function readFacts(place: Place, session?: string): Promise<readonly Fact[]> {
  return (await place.readRecords(session)).flatMap(({ facts }) => facts)
}

/** Kills the worker as soon as the root's history has this many events, and starts another one. */
async function playKilled(at: number): Promise<void> {
  if (!services) throw new Error('there are no services')
  const place = await createPlace(services, 'tree')
  let worker = await place.startWorker()
  const session = await place.host.session(place.session)
  let isOver = false
  const { answer } = session.send('Go.', { inputId: 'go' })
  answer.finally(() => (isOver = true)).catch(() => {})
  const approving = approveAll(session, () => isOver)
  while (!isOver && (await place.countEvents()) < at) await wait(2)
  if (!isOver) {
    worker.kill('SIGKILL')
    await worker.ended
    counts.kills += 1
    worker = await place.startWorker()
  }
  expect((await answer).text).toBe('Done.')
  await approving
  const paid = existsSync(place.effects) ? readFileSync(place.effects, 'utf8').split('\n').filter(Boolean) : []
  const root = await readFacts(place)
  const names: string[] = []
  for await (const child of place.store.children(place.session)) names.push(child.session)
  const below = await Promise.all(names.map((name) => readFacts(place, name)))
  const settled = below.flat().flatMap((fact) => (fact.type === 'call-settled' ? [fact.settlement.type] : []))
  const unknown = settled.filter((type) => type === 'unknown').length
  expect(paid.length).toBeLessThanOrEqual(1)
  // The tool had started, and nobody knows more.
  expect(paid.length).toBeGreaterThanOrEqual(unknown === 0 ? 1 : 0)
  expect(names).toHaveLength(3)
  expect([count(root, 'child-begun'), count(root, 'child-closed'), count(root, 'child-lost')]).toEqual([2, 2, 0])
  expect(below.map((facts) => [count(facts, 'child-opened'), count(facts, 'turn-finished')])).toEqual(
    names.map(() => [1, 1]),
  )
  counts.paid += paid.length
  counts.unknown += unknown
  await session.close()
  worker.kill('SIGTERM')
  await worker.ended
  await place.close()
}

describe.skipIf(!services)('trees of sessions over Temporal', () => {
  const events = Array.from({ length: EVENTS }, (_, index) => index + 1).filter(
    (event) => event % SHARE === SEED % SHARE,
  )
  console.log(`trees: one event of ${SHARE}, seed ${SEED}`)
  test.concurrent.each(events)('a worker that is killed at event %i of the root', playKilled)
})

afterAll(async () => {
  console.log(`trees: ${counts.kills} workers killed, ${counts.paid} payments, ${counts.unknown} unknown`)
  await services?.close()
})
