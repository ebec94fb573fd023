// Random conversations: sentences, pauses, interrupts, discarded attempts, answers that end or are cancelled, failing
// reports, failing speakers. Played words are recorded, and the voice must report the same.
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Step } from './voice-play.test-kit.ts'
import { Play } from './voice-play.test-kit.ts'
import type { SpeakerFault } from './voice.test-kit.ts'
import { WORD_MS } from './voice.test-kit.ts'

const FAULT: fc.Arbitrary<SpeakerFault> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<SpeakerFault>({ type: 'none' }) },
  { weight: 1, arbitrary: fc.constant<SpeakerFault>({ type: 'throws' }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom('rejects', 'hangs', 'deaf'), after: fc.integer({ min: 0, max: 4 }) }),
  },
)
const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('sentence' as const),
      words: fc.integer({ min: 1, max: 5 }),
      fault: FAULT,
    }),
  },
  { weight: 8, arbitrary: fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 1500 }) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('drop' as const), back: fc.integer({ min: 0, max: 3 }) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constantFrom(
        ...(['repeat', 'late', 'answer', 'answer', 'end', 'cancel', 'cut', 'pause', 'pause', 'resume'] as const),
        ...(['interrupt', 'stop', 'break'] as const),
      ),
    }),
  },
)

test('what the voice says of it is what was played, whatever happens', async () => {
  const counts = { words: 0, interrupts: 0, errors: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 60 }), async (steps) => {
      const play = new Play()
      for (const step of steps) await play.actHeld(step)
      await play.world.pass(1_000_000)
      play.expectHeard()
      play.expectTruth()
      expect(play.voice.getSnapshot()).toEqual({ state: 'idle', utterance: undefined, queued: 0 })
      expect(play.world.timers()).toBe(0)
      counts.words += play.speaker.played.length
      counts.interrupts += play.session.interrupts.length
      counts.errors += play.errors.length
    }),
    { numRuns: chooseCount({ quick: 600, landing: 2000, deep: 20_000 }) },
  )
  console.info(`voice: ${counts.words} words, ${counts.interrupts} interrupts, ${counts.errors} errors told`)
})

test('without faults and interrupts, all that was told is said', async () => {
  const calm = fc.oneof(
    fc.record({
      type: fc.constant('sentence' as const),
      words: fc.integer({ min: 1, max: 5 }),
      fault: fc.constant<SpeakerFault>({ type: 'none' }),
    }),
    fc.record({ type: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 3 * WORD_MS }) }),
    fc.record({ type: fc.constantFrom(...(['repeat', 'answer', 'end', 'pause', 'resume', 'break'] as const)) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(calm, { maxLength: 40 }), async (steps) => {
      const play = new Play()
      for (const step of steps) await play.act(step)
      await play.world.pass(1_000_000)
      const words = [...play.told.values()].reduce((sum, one) => sum + one.words, 0)
      expect(play.speaker.played).toHaveLength(words)
      play.expectTruth()
    }),
    { numRuns: chooseCount({ quick: 150, landing: 500, deep: 5000 }) },
  )
})
