// Version 2 clients as separate programs, over a real Temporal service, PostgreSQL and Redis: with any frame lost while
// they switch gateways, and the gateway ended anywhere, they receive the turn once, exactly as logged, and each effect
// happens once.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { chooseRotating, describeRotation, isEveryPlaceTried } from '../components/depth.ts'
import { HOME_TEXT } from './home-agent.ts'
import { startServices } from '../components/services.ts'
import { checkTold, checkTwoDevices, findClients, inGroups } from './check-home.test-kit.ts'
import type { PlayedTurn } from './play-home.ts'
import type { TemporalHome } from './play-temporal.test-kit.ts'
import { openTemporalHome } from './play-temporal.test-kit.ts'

const services = await startServices('clients of version 2 over Temporal', (message) => console.warn(message))
/** Number of positions in the turn at which a frame is lost, if not all are tried. */
const PLACES = 12

function choosePlaces(frames: number): readonly number[] {
  const count = isEveryPlaceTried() ? frames : PLACES
  return Array.from({ length: count }, (_, index) => 1 + Math.floor((index * frames) / count))
}

/** The worker stays alive, so nothing may be `unknown`. */
function check(played: PlayedTurn): void {
  checkTold(played)
  expect(played.said).toBe(HOME_TEXT)
  expect(played.effects).toEqual({ camera: 1, note: 1, pay: 1 })
}

describe.skipIf(!services)('over Temporal', () => {
  let home: TemporalHome
  beforeAll(async () => {
    if (services) home = await openTemporalHome(services)
  })
  afterAll(async () => {
    await home.close()
    await services?.close()
  })

  describe.each(findClients(console.warn))('a client in %s', (name, program) => {
    test('is told a turn once, whichever frame is lost before it comes to the other gateway', async () => {
      const whole = await home.playCut(program, [])
      check(whole)
      const places = choosePlaces(whole.frames)
      await inGroups(places, async (place) => check(await home.playCut(program, [place])))
      const often = await home.playCut(
        program,
        places.map((_, index) => (index + 1) * 4),
      )
      check(often)
      console.log(
        `over Temporal, client in ${name}: ${places.length} of ${whole.frames} frames lost, one a turn, each before it comes to ` +
          `the other gateway; ${often.cuts} in one turn`,
      )
    })

    test('is told a turn once beside another device, over connections that break', async () => {
      for (const [, listener] of findClients(console.warn))
        checkTwoDevices(await home.playTwoDevices([program, listener]))
    })

    test('is told a turn once, wherever the gateway ends', async () => {
      const { frames } = await home.playCut(program, [])
      let ended = 0
      const places = chooseRotating(Array.from({ length: frames }, (_, index) => index + 1))
      await inGroups(places, async (frame) => {
        const signal = places.indexOf(frame) % 2 === 0 ? 'SIGKILL' : 'SIGTERM'
        const played = await home.playRestarted(program, { frame, signal })
        ended += played.hasEnded ? 1 : 0
        check(played)
      })
      console.log(
        `over Temporal, client in ${name}: ${ended} gateways ended in mid-turn, at ${places.length} frames; ${describeRotation()}`,
      )
      expect(ended).toBeGreaterThan(places.length / 2)
    })
  })
})
