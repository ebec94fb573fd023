// The memory of a session's stream: nothing of an answer stays after its step.
import { readStart, SessionProjection } from '@baton/core/internal'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { beginAttempt, beginTurn, finishTurn, openStream } from './stream.test-kit.ts'

test('a projection that begins in the middle of an answer keeps nothing of the state where it began', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void // what the flag exposes
  const { state, history, log, publish } = openStream()
  publish(...beginTurn(1), beginAttempt(1))
  const begin = (): readonly [SessionProjection, WeakRef<object>] => {
    const start = readStart(state(), history())
    return [new SessionProjection({ start }), new WeakRef(start)]
  }
  const [projection, start] = begin()
  publish(finishTurn(1))
  expect(
    projection
      .takeRecord(log[1]!)
      .read()
      .map(({ type }) => type),
  ).toEqual(['step-reset', 'turn-finished', 'session'])
  const isKept = (): boolean => {
    collectGarbage()
    return start.deref() !== undefined
  }
  await expect.poll(isKept).toBe(false)
  expect(projection.activity).toBe('idle')
})
