// Version 2 clients as separate programs, in two languages: with any frame lost and the server killed anywhere, they
// receive the turn once, exactly as logged, and each effect happens as often as its tool allows.
import { describe, expect, test } from 'vitest'
import { chooseRotating, chooseSample, describeRotation } from '../components/depth.ts'
import { HOME_TEXT } from './home-agent.ts'
import type { KillPlan } from '../kill-loop/plan.ts'
import { checkEffects, checkTold, checkTwoDevices, findClients, inGroups } from './check-home.test-kit.ts'
import type { PlayedTurn } from './play-home.ts'
import { playCut, playKilled, playTwoLocalDevices } from './play-home.ts'

describe.each(findClients(console.warn))('a client in %s', (name, program) => {
  test('is told a turn once, whichever frame is lost', async () => {
    const whole = await playCut(program, [])
    const places = Array.from({ length: whole.frames }, (_, index) => index + 1)
    const tried = chooseSample(places, 8)
    const check = async (cutAt: readonly number[]): Promise<PlayedTurn> => {
      const played = await playCut(program, cutAt)
      checkTold(played)
      expect(played.said).toBe(HOME_TEXT)
      expect(played.effects).toEqual({ camera: 1, note: 1, pay: 1 })
      return played
    }
    await inGroups(tried, async (place) => void (await check([place])))
    const often = await check(places.map((place) => place * 4))
    console.log(
      `client in ${name}: ${tried.length} of ${places.length} frames lost, one a turn; ${often.cuts} in one turn`,
    )
  })

  test('is told a turn once beside another device, over connections that break', async () => {
    for (const [, listener] of findClients(console.warn))
      checkTwoDevices(await playTwoLocalDevices([program, listener]))
  })

  test('is told a turn once, wherever the server is killed', async () => {
    const plans = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14].flatMap((at): readonly KillPlan[] => [
      { at, moment: 'before', laterMs: 0 },
      { at, moment: 'after', laterMs: 0 },
      { at, moment: 'later', laterMs: 4 },
    ])
    let killed = 0
    const tried = chooseRotating(plans)
    await inGroups(tried, async (plan) => {
      const played = await playKilled(program, plan)
      killed += played.wasKilled ? 1 : 0
      checkTold(played)
      checkEffects(played)
    })
    console.log(`client in ${name}: ${killed} servers killed, of ${plans.length} places; ${describeRotation()}`)
    expect(killed).toBeGreaterThan(0)
  })
})
