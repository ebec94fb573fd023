// Workers that are killed while tasks of their session run, over a real Temporal service, PostgreSQL and Redis. The tried moments
// change daily; BATON_CHAOS_SEED and BATON_CHAOS_SHARE choose others, and share 1 tries all.
import type { Fact } from '@baton/core/machine'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { startServices } from '../components/services.ts'
import { createPlace } from './place.test-kit.ts'

const what = 'tasks over Temporal whose workers are killed'
const services = await startServices(what, (message) => console.warn(message))

/** Minimum number of history events of an undisturbed conversation. */
const EVENTS = 90
/** One in this many events is tried. */
const SHARE = Number(process.env['BATON_CHAOS_SHARE'] ?? 15)
const SEED = Number(process.env['BATON_CHAOS_SEED'] ?? Math.floor(Date.now() / 86_400_000))
const counts = { kills: 0, acts: 0, unknown: 0 }

const count = (facts: readonly Fact[], type: Fact['type']): number => facts.filter((fact) => fact.type === type).length

/** Kills the worker as soon as the history has this many events, and starts another one. */
async function playKilled(at: number): Promise<void> {
  if (!services) throw new Error('there are no services')
  const place = await createPlace(services, 'task')
  let worker = await place.startWorker()
  const session = await place.host.session(place.session)
  const { answer } = session.send('Go.', { inputId: 'go' })
  answer.catch(() => {})
  const readFacts = async (): Promise<readonly Fact[]> => (await place.readRecords()).flatMap(({ facts }) => facts)
  let facts: readonly Fact[] = []
  let isKilled = false
  const isOver = async (): Promise<boolean> => {
    facts = await readFacts()
    const { tasks, activity } = await session.info()
    return count(facts, 'task-settled') === 3 && tasks.length === 0 && activity === 'idle'
  }
  while (!(await isOver())) {
    for (const { approvalId } of await session.approvals().catch(() => []))
      await session.decide({ approvalId, decision: 'approve' }).catch(() => {}) // tried again
    if (!isKilled && (await place.countEvents()) >= at) {
      isKilled = true
      counts.kills += 1
      worker.kill('SIGKILL')
      await worker.ended
      worker = await place.startWorker()
    }
    await wait(10)
  }
  await answer
  const acts = existsSync(place.effects) ? readFileSync(place.effects, 'utf8').split('\n').filter(Boolean) : []
  const ran = (name: string): readonly string[] => acts.filter((line) => line.startsWith(`${name} `))
  const receipts = facts.filter((fact) => fact.type === 'call-settled' && fact.task === true)
  const wakes = facts.flatMap((fact) =>
    fact.type === 'input-accepted' && fact.inputId.startsWith('baton.task.') ? [fact.inputId] : [],
  )
  const unknown = facts.filter((fact) => fact.type === 'task-settled' && fact.settlement.type === 'unknown').length
  expect(ran('order').length).toBeLessThanOrEqual(1)
  expect(ran('pay').length).toBeLessThanOrEqual(1)
  expect(new Set(ran('export')).size).toBe(1)
  expect([receipts.length, wakes.length, new Set(wakes).size]).toEqual([3, 3, 3])
  expect([count(facts, 'child-begun'), count(facts, 'child-closed'), count(facts, 'child-lost')]).toEqual([1, 1, 0])
  counts.acts += acts.length
  counts.unknown += unknown
  await session.close()
  worker.kill('SIGTERM')
  await worker.ended
  await place.close()
}

describe.skipIf(!services)('tasks over Temporal', () => {
  const events = Array.from({ length: EVENTS }, (_, index) => index + 1).filter(
    (event) => event % SHARE === SEED % SHARE,
  )
  console.log(`tasks: one event of ${SHARE}, seed ${SEED}`)
  test.concurrent.each(events)('a worker that is killed at event %i of the session', playKilled)
})

afterAll(async () => {
  console.log(`tasks: ${counts.kills} workers killed, ${counts.acts} acts, ${counts.unknown} unknown`)
  await services?.close()
})
