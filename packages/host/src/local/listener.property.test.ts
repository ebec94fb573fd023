// Random inputs, failures, stops, pauses and restarts, in this and other processes: each accepted input is in the
// model's final request once and in order, and two model calls never overlap.
import { frontOf } from '@baton/core/internal'
import type { Session } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type { Random, ScriptedStep } from '@baton/core/testing'
import { createRandom } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import { expect, test } from 'vitest'
import { createListened } from './listener.test-kit.ts'
import { act, listCalls, noUnhandledRejections, textsTold } from './test-world.test-kit.ts'

noUnhandledRejections()

const STEPS = 60

function chooseStep(random: Random): ScriptedStep {
  const pieceMs = random.pick([0, 0, 300, 5000])
  return random.pick<() => ScriptedStep>([
    () => ({ text: 'one two three', pieceMs }),
    () => ({ text: 'so it is', pieceMs }),
    () => ({ text: '' }),
    () => ({ ...listCalls('act', 'act'), text: 'let me see', pieceMs }),
    () => ({ ...listCalls('act') }),
    () => ({ text: 'broken', pieceMs, error: new BatonError({ code: 'model_overloaded', message: 'busy' }) }),
    () => ({ error: new BatonError({ code: 'model_auth_failed', message: 'no key', retryable: false }) }),
  ])()
}

async function play(seed: number) {
  const random = createRandom(seed)
  let isCalm = false
  const running = { now: 0, most: 0 }
  const world = createListened({
    steps: () => (isCalm ? { text: 'calm' } : chooseStep(random)),
    tools: [act((_, { signal }) => wait(random.pick([0, 100, 4000]), signal))],
    window: { exchanges: 10_000 },
  })
  const { time, model } = world
  const wait = (ms: number, signal: AbortSignal): Promise<string> =>
    new Promise((resolve, reject) => {
      time.environment.timers.start(ms, () => resolve('done'))
      signal.addEventListener('abort', () => reject(new Error('aborted')))
    })
  const { run } = model
  // A call runs until it has settled: an abort is only a request.
  Object.assign(model, {
    run: async (...given: Parameters<typeof run>) => {
      running.now += 1
      running.most = Math.max(running.most, running.now)
      return await run(...given).finally(() => (running.now -= 1))
    },
  })
  const calls: string[] = []
  const listen = (of: ReturnType<typeof world.listen>) => {
    of.listener.on('agent:tool_call', ({ callId }) => calls.push(callId))
    return of
  }
  let { host, listener } = listen(world)
  await time.until(listener.start())

  const taken: string[] = []
  let serial = 0
  const give = async (say: (mark: string) => Promise<unknown>): Promise<void> => {
    const mark = `<${(serial += 1)}>`
    try {
      await time.until(say(mark))
      taken.push(mark)
    } catch (cause) {
      if (!isBatonError(cause) || cause.code !== 'session_stopped') throw cause
    }
  }
  /** Phases of the session in which an urgent event arrived. */
  const phases = new Set<string>()
  const tell = (event: Parameters<typeof listener.event>[0]): Promise<unknown> => {
    phases.add(frontOf(listener.session).phase)
    return listener.event(event)
  }
  const actions: readonly (() => Promise<unknown>)[] = [
    () => give((text) => listener.push({ speaker: 'Ann', text })),
    () => give((text) => listener.push({ speaker: 'Bob', text })),
    () => give((type) => tell({ type })),
    () => give((type) => tell({ type, urgency: 'interrupt' })),
    () => time.pass(random.pick([0, 100, 700, 2500, 20_000])),
    () => time.pass(random.pick([0, 100, 700, 2500, 20_000])),
    () => time.until(listener.stop()).catch(() => {}),
    () => (frontOf(listener.session).phase === 'stopped' ? Promise.resolve() : time.until(listener.pause())),
    () => time.until(listener.start()),
    () => time.until(listener.start()),
    async () => {
      const { cursor } = listener
      await time.until(listener.close())
      await time.until(host.stop())
      ;({ host, listener } = listen(world.listen(cursor ? { cursor } : {})))
      await time.until(listener.start())
    },
  ]
  for (let step = 0; step < STEPS; step++) await random.pick(actions)()
  isCalm = true
  await time.until(listener.start())
  await give((type) => listener.event({ type }))
  await time.pass(120_000)
  const asked = textsTold(model, 'user').join('\n').match(/<\d+>/g) ?? []
  const settled = await time.until(listSettled(listener.session))
  return { taken, asked, calls, settled, phases, most: running.most, inputs: serial }
}

async function listSettled(session: Session): Promise<readonly string[]> {
  const settled: string[] = []
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'live') break
    if (event.type === 'call' && event.call.status === 'settled') settled.push(event.call.callId)
  }
  return settled
}

test('each input that was taken is read once, in order, and no two model calls run at once', async () => {
  const totals = { taken: 0, refused: 0, calls: 0 }
  const told = new Set<string>()
  const seeds = chooseCount({ quick: 20, landing: 60, deep: 1000 })
  for (let seed = 1; seed <= seeds; seed++) {
    const { taken, asked, calls, settled, phases, most, inputs } = await play(seed)
    expect([seed, asked]).toEqual([seed, taken])
    expect([seed, most]).toEqual([seed, 1])
    expect([seed, ...calls]).toEqual([seed, ...settled])
    for (const phase of phases) told.add(phase)
    totals.taken += taken.length
    totals.refused += inputs - taken.length
    totals.calls += calls.length
  }
  // The host ends an interrupt at once, so no event arrives during one.
  expect([...told].toSorted()).toEqual(['calling', 'idle', 'modelling', 'paused', 'stopped'])
  console.log(
    `listener: ${seeds} conversations, ${JSON.stringify(totals)}, events in the phases ${[...told].join(', ')}`,
  )
})
