// Version 2 clients as separate programs, over two servers and one PostgreSQL store: a client whose connection breaks
// reconnects to the other server, which forwards to the session's holder, or takes the session over if the holder was
// killed.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chooseRotating, describeRotation } from '../components/depth.ts'
import { HOME_TEXT } from './home-agent.ts'
import type { KillPlan } from '../kill-loop/plan.ts'
import type { PostgresServer } from '../components/postgres.ts'
import { findPostgres, startPostgres } from '../components/postgres.ts'
import { checkEffects, checkTold, findClients, inGroups } from './check-home.test-kit.ts'
import type { MovedTurn } from './play-two-servers.ts'
import { openTwoServers } from './play-two-servers.ts'

const programs = findPostgres('clients of version 2 over two servers', console.warn)
/** A record, and how the holder dies at it. */
const PLANS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14].flatMap((at): readonly KillPlan[] => [
  { at, moment: 'before', laterMs: 0 },
  { at, moment: 'after', laterMs: 0 },
  { at, moment: 'later', laterMs: 4 },
])
/** This frame is lost before the first message, so the other server forwards the whole turn. */
const EARLY = 4

describe.skipIf(programs === undefined)('over two servers', () => {
  let postgres: PostgresServer
  beforeAll(async () => {
    postgres = await startPostgres(programs ?? '')
  })
  afterAll(() => postgres.close())

  describe.each(findClients(console.warn))('a client in %s', (name, program) => {
    test('is told a turn once, whichever frame is lost', async () => {
      const servers = await openTwoServers(postgres)
      try {
        const whole = await servers.play(program, [])
        const places = chooseRotating(Array.from({ length: whole.frames }, (_, index) => index + 1))
        const turns: MovedTurn[] = [whole]
        await inGroups(places, async (place) => void turns.push(await servers.play(program, [place])))
        const often = await servers.play(
          program,
          places.map((_, index) => (index + 1) * 4),
        )
        const passedOn = servers.passedOn()
        for (const played of await servers.settle([...turns, often])) {
          checkTold(played)
          expect(played.said).toBe(HOME_TEXT)
          expect(played.effects).toEqual({ camera: 1, note: 1, pay: 1 })
        }
        console.log(
          `two servers, client in ${name}: ${places.length} of ${whole.frames} frames lost, one a turn; ${often.cuts} in one turn; ` +
            `${passedOn} connections passed on`,
        )
        expect(passedOn).toBeGreaterThan(places.length / 2)
      } finally {
        await servers.close()
      }
    })

    test('is told a turn once, wherever the holder is killed', async () => {
      const counts = { killed: 0, passedOn: 0, unknown: 0 }
      const tried = chooseRotating(PLANS)
      await inGroups(tried, async (plan) => {
        const servers = await openTwoServers(postgres, plan)
        try {
          const turn = await servers.play(program, Number(plan.at) % 2 === 0 ? [EARLY] : [])
          counts.killed += servers.wasKilled() ? 1 : 0
          counts.passedOn += servers.passedOn()
          for (const played of await servers.settle([turn])) {
            checkTold(played)
            counts.unknown += checkEffects(played)
          }
        } finally {
          await servers.close()
        }
      })
      console.log(
        `two servers, client in ${name}: ${counts.killed} holders killed, of ${PLANS.length} places, ` +
          `${counts.passedOn} connections passed on, ${counts.unknown} calls told as unknown; ${describeRotation()}`,
      )
      expect(counts.killed).toBeGreaterThan(0)
    })
  })
})
