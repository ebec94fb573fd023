// Version 2 clients as separate programs, over a real Temporal service, PostgreSQL and Redis: with the worker killed at
// any record of the log, or after an unreported effect, alone or with the gateway, they receive the turn once, exactly
// as logged, and no effect happens twice.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chooseRotating, describeRotation } from '../components/depth.ts'
import { startServices } from '../components/services.ts'
import { checkEffects, checkTold, findClients, inGroups } from './check-home.test-kit.ts'
import type { KilledWorkers, WorkerKill } from './play-killed-worker.test-kit.ts'
import { openKilledWorkers } from './play-killed-worker.test-kit.ts'

const services = await startServices('clients of version 2 over Temporal, workers killed', (message) =>
  console.warn(message),
)
/** Minimum number of records in an undisturbed turn. */
const RECORDS = 14
/** The record is either lost, or stored without acknowledgement. */
const MOMENTS = [
  { moment: 'before', laterMs: 0 },
  { moment: 'after', laterMs: 0 },
] as const
/** At every other one, the gateway dies too. */
const KILLS = MOMENTS.flatMap((when, index): readonly WorkerKill[] =>
  Array.from({ length: RECORDS }, (_, at) => ({
    when: { plan: { at, ...when } },
    withGateway: (at + index) % 2 === 0,
  })),
)

/** Tried every day: the tool has acted, but did not report it. */
const AFTER_EFFECTS: readonly WorkerKill[] = ['note', 'pay'].map((diesAfter, index) => ({
  when: { diesAfter },
  withGateway: index > 0,
}))

describe.skipIf(!services)('over Temporal', () => {
  let killed: KilledWorkers
  beforeAll(async () => {
    if (services) killed = await openKilledWorkers(services)
  })
  afterAll(async () => {
    killed.close()
    await services?.close()
  })

  test.each(findClients(console.warn))(
    'a client in %s is told a turn once, wherever the worker is killed',
    async (name, program) => {
      const counts = { workers: 0, gateways: 0, unknown: 0 }
      await inGroups([...AFTER_EFFECTS, ...chooseRotating(KILLS)], async (kill) => {
        const played = await killed.play(program, kill)
        checkTold(played)
        counts.unknown += checkEffects(played)
        if (!played.wasKilled) return
        counts.workers += 1
        if (kill.withGateway) counts.gateways += 1
      })
      console.log(
        `over Temporal, client in ${name}: ${counts.workers} workers killed, of ${KILLS.length + AFTER_EFFECTS.length} places, and ` +
          `${counts.gateways} gateways with them; ${counts.unknown} calls told as unknown; ${describeRotation()}`,
      )
      expect(counts.workers).toBeGreaterThan(0)
      expect(counts.unknown).toBeGreaterThanOrEqual(AFTER_EFFECTS.length)
    },
  )
})
