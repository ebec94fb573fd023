// Pause, continue, stop and start through the Session API: every input is kept and answered, even across a restart.
import { expect } from 'vitest'
import { act, listCalls, never, resultsTold, textsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'

export const CONTROL_SITUATIONS: Situations = {
  'what is said during a pause is answered after it, and the answer that was cut off is asked for again': async ({
    createWorld,
  }) => {
    const { open, time, model } = await createWorld({ steps: () => ({ text: 'answer', pieceMs: 1000 }) })
    const session = await open()
    const first = session.send('one')
    await time.pass(1500)
    expect(await session.submit({ type: 'pause' })).toMatchObject({ type: 'accepted' })
    const second = session.send('two')
    await time.pass(3_600_000)
    expect(session.phase).toBe('paused')
    expect(model.requests).toHaveLength(1)
    await session.submit({ type: 'continue' })
    expect((await time.until(first.answer)).text).toBe('answer')
    expect((await time.until(second.answer)).text).toBe('answer')
    expect(textsTold(model, 'user')).toEqual(['one', 'two'])
  },
  'a tool that runs when the session is paused goes on, and its result is told after the pause': async ({
    createWorld,
  }) => {
    const gate = Promise.withResolvers<string>()
    const { open, time, model } = await createWorld({
      tools: [act(() => gate.promise)],
      steps: [listCalls('act'), { text: 'done' }],
    })
    const session = await open()
    const turn = session.send('go')
    await time.settle()
    await session.submit({ type: 'pause' })
    gate.resolve('found')
    await time.settle()
    expect(model.requests).toHaveLength(1)
    await session.submit({ type: 'continue' })
    expect((await time.until(turn.answer)).text).toBe('done')
    expect(resultsTold(model)).toEqual([{ isError: false, text: 'found' }])
  },
  'a stop settles every call, calls nothing more, and refuses what is said with a code': async ({ createWorld }) => {
    const { open, time, model, facts } = await createWorld({
      tools: [act(never), act(never, { name: 'pay', effect: 'once' })],
      steps: [listCalls('act', 'pay')],
    })
    const session = await open()
    const turn = session.send('go')
    await time.settle()
    const waiting = session.send('later')
    await time.settle()
    await session.submit({ type: 'stop' })
    expect(await time.until(turn.answer)).toMatchObject({ outcome: 'stopped' })
    expect((await facts('call-settled')).map(({ settlement }) => settlement.type)).toEqual(['cancelled', 'unknown'])
    await expect(session.send('now').answer).rejects.toMatchObject({ code: 'session_stopped' })
    await time.pass(3_600_000)
    expect(model.requests).toHaveLength(1)
    waiting.answer.catch(() => {}) // it waits for a start that never comes in this test
  },
  'in one session there are never two model calls at once, whatever is said, paused, continued, stopped and started':
    async ({ createWorld }) => {
      let running = 0
      let most = 0
      const world = await createWorld({ steps: () => ({ text: 'answer', pieceMs: 700 }) })
      const { run } = world.model
      Object.assign(world.model, {
        run: async (...request: Parameters<typeof run>) => {
          most = Math.max(most, (running += 1))
          try {
            return await run(...request)
          } finally {
            running -= 1
          }
        },
      })
      const session = await world.open()
      const acts = ['pause', 'continue', 'stop', 'start'] as const
      for (let index = 0; index < 40; index++) {
        session.send(`said ${index}`).answer.catch(() => {})
        await world.time.pass((index * 137) % 900)
        await session.submit({ type: acts[(index * 7) % 4] ?? 'start' })
      }
      await session.submit({ type: 'start' })
      await session.submit({ type: 'continue' })
      await world.time.pass(600_000)
      expect(most).toBe(1)
      expect(session.phase).toBe('idle')
    },
}
