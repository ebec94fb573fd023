// The wall clock changes during a wait: every wait ends at its own time, neither late nor immediately.
import { expect } from 'vitest'
import type { ContractWorld } from './host-kind.ts'
import { act, createClientTool, listCalls, never, resultsTold } from './situation-parts.ts'
import type { Act, Situations } from './situation.ts'
import { forEachRow } from './situation.ts'

const DAY_MS = 86_400_000
const STEPS: readonly (readonly [string, number])[] = [
  ['set back by five seconds', -5000],
  ['set back by a day', -DAY_MS],
  ['set back by a year', -365 * DAY_MS],
  ['set forward by a day', DAY_MS],
  ['set forward by 40 days', 40 * DAY_MS],
  ['set forward by a year', 365 * DAY_MS],
]

/** Real duration of the work when the clock is changed after 100 ms of it. */
async function measure({ time }: ContractWorld, stepMs: number, work: Promise<unknown>): Promise<number> {
  const beganMs = time.nowMs()
  await time.pass(100)
  time.setWall(stepMs)
  await time.until(work)
  return time.nowMs() - beganMs
}

function forEachStep(name: string, play: (stage: Parameters<Act>[0], stepMs: number) => Promise<void>): Situations {
  return forEachRow<[string, number]>(`while the clock is %s, ${name}`, STEPS, (stage, [, stepMs]) =>
    play(stage, stepMs),
  )
}

export const TIME_SITUATIONS: Situations = {
  ...forEachStep('a tool that hangs settles at its own time-out', async (stage, stepMs) => {
    const tools = [act(never, { timeoutMs: 500 })]
    const world = await stage.createWorld({ tools, steps: [listCalls('act'), { text: 'done' }] })
    const session = await world.open()
    expect(await measure(world, stepMs, session.send('go').answer)).toBe(500)
    expect(resultsTold(world.model)[0]?.text).toBe('Error: tool_result_timeout')
  }),
  ...forEachStep('a client’s call settles at its own time-out', async (stage, stepMs) => {
    const tools = [{ ...createClientTool('look'), timeoutMs: 700 }]
    const world = await stage.createWorld({ tools, steps: [listCalls('look'), { text: 'done' }] })
    const session = await world.open()
    await session.attach({ look: never })
    expect(await measure(world, stepMs, session.send('go').answer)).toBe(700)
    expect(resultsTold(world.model)[0]?.text).toBe('Error: tool_result_timeout')
  }),
  ...forEachStep('a call that waits for a client waits for as long as it may', async (stage, stepMs) => {
    const world = await stage.createWorld({
      tools: [createClientTool('look')],
      limits: { awayMs: 20_000 },
      steps: [listCalls('look'), { text: 'done' }],
    })
    const session = await world.open()
    expect(await measure(world, stepMs, session.send('go').answer)).toBe(20_000)
  }),
  ...forEachStep('an approval expires in its time', async (stage, stepMs) => {
    const tools = [act(never, { approval: true })]
    const steps = [listCalls('act'), { text: 'done' }]
    const world = await stage.createWorld({ tools, steps, limits: { approvalMs: 3000 } })
    const session = await world.open()
    expect(await measure(world, stepMs, session.send('go').answer)).toBe(3000)
  }),
  ...forEachStep('a question expires in its time', async (stage, stepMs) => {
    const schema = { type: 'object' } as const
    const asking = act((_, { ask }) => ask({ message: 'Which?', schema, timeoutMs: 4000 }))
    const world = await stage.createWorld({ tools: [asking], steps: [listCalls('act'), { text: 'done' }] })
    const session = await world.open()
    expect(await measure(world, stepMs, session.send('go').answer)).toBe(4000)
  }),
  ...forEachStep('a turn ends at its own time', async (stage, stepMs) => {
    const world = await stage.createWorld({ limits: { turnMs: 2000 }, steps: [{ text: 'late', pieceMs: 60_000 }] })
    const session = await world.open()
    const { answer } = session.send('go')
    answer.catch(() => {})
    expect(
      await measure(
        world,
        stepMs,
        answer.catch(() => {}),
      ),
    ).toBe(2000)
    await expect(answer).rejects.toMatchObject({ code: 'turn_time_exceeded' })
  }),
  ...forEachStep('a host that stops lets its turns end for as long as it was told', async (stage, stepMs) => {
    const world = await stage.createWorld({ tools: [act(never)], steps: [listCalls('act')] })
    const session = await world.open()
    session.send('go').answer.catch(() => {})
    await world.time.settle()
    expect(await measure(world, stepMs, world.host.stop({ drainMs: 1000 }))).toBe(1000)
  }),
  ...forEachStep('a record says the session’s time and, beside it, what the clock said', async (stage, stepMs) => {
    const world = await stage.createWorld({ steps: () => ({ text: 'answer' }) })
    const session = await world.open()
    world.time.setWall(stepMs)
    await world.time.pass(250)
    await world.time.until(session.send('go').answer)
    const [opened, said] = await world.records()
    expect(opened).not.toHaveProperty('wallMs')
    expect(said).toMatchObject({ nowMs: 10 ** 12 + 250, wallMs: 10 ** 12 + 250 + stepMs })
    const { value } = await session
      .events({ from: { pos: 1 }, delivery: true })
      [Symbol.asyncIterator]()
      .next()
    expect(value?.at).toMatchObject({ nowMs: 10 ** 12 + 250, wallMs: 10 ** 12 + 250 + stepMs })
  }),
}
