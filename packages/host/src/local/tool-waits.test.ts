// How long a host waits before it retries a failed tool, by the tool's own clock.
import { expect, test } from 'vitest'
import { act, createTestWorld, listCalls, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

test('the waits between tries are 500 ms, 1 s, 2 s and so on up to 10 s', async () => {
  const triedMs: number[] = []
  const fails = (): never => {
    triedMs.push(world.time.nowMs())
    throw new Error('busy')
  }
  const tools = [act(fails, { retry: { attempts: 8 }, timeoutMs: 600_000 })]
  const world = createTestWorld({ tools, steps: [listCalls('act'), { text: 'done' }] })
  const session = await world.open()
  expect((await world.time.until(session.send('go').answer)).text).toBe('done')
  const waits = triedMs.slice(1).map((ms, at) => ms - (triedMs[at] ?? 0))
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000])
})
