// Server tools as they run: late, alone or concurrently, watched, and with their context. Their calls settle once, and
// the turn ends.
import type { JsonValue } from '@baton/core'
import { expect } from 'vitest'
import { act, CALL, createCyclic, listCalls, never, resultsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'

export const TOOL_SITUATIONS: Situations = {
  'a call carries the words that a voice says while it runs, and the model never reads them': async ({
    createWorld,
  }) => {
    const say = (input: unknown): string => `One moment, ${JSON.stringify(input)}.`
    const fails = (): never => {
      throw new Error('no words')
    }
    const tools = [
      act(() => 'seen', { waiting: { afterMs: 1500, say } }),
      act(() => 'seen', { name: 'plain', waiting: { afterMs: 0, say: () => `  ${'x'.repeat(600)} ` } }),
      act(() => 'seen', { name: 'broken', waiting: { afterMs: 1, say: fails } }),
    ]
    const world = await createWorld({ tools, steps: [listCalls('act', 'plain', 'broken'), { text: 'done' }] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    const words = new Map<string, unknown>()
    for await (const event of session.events({ from: 'start' })) {
      if (event.type === 'live') break
      if (event.type === 'call') words.set(event.call.name, event.call.waiting)
    }
    expect(Object.fromEntries(words)).toEqual({
      act: { afterMs: 1500, say: 'One moment, {}.' },
      plain: { afterMs: 0, say: 'x'.repeat(500) },
      broken: undefined,
    })
    expect(world.warnings).toEqual(['the waiting words of a tool were cut', 'the waiting words of a tool failed'])
    expect(JSON.stringify(world.model.requests)).not.toMatch(/One moment|xxx/)
  },
  'what is no word is not said while a tool runs, and a promise that rejects ends no process': async ({
    createWorld,
  }) => {
    // Untyped programs return such values.
    const odd = (say: unknown): Parameters<typeof act>[1] => ({ waiting: { afterMs: 1, say: say as () => string } })
    const rejects = (): unknown => Promise.reject(new Error('no words'))
    const tools = [
      act(() => 'seen', { name: 'promise', ...odd(rejects), describe: rejects as () => object }),
      act(() => 'seen', { name: 'nothing', ...odd(() => undefined) }),
      act(() => 'seen', { name: 'steers', ...odd(() => '\u001b[2JOne\u202e moment\n') }),
      act(() => 'seen', { name: 'smiles', ...odd(() => `x${'😀'.repeat(300)}`) }),
    ]
    const names = tools.map(({ name }) => name)
    const world = await createWorld({ tools, steps: [listCalls(...names), { text: 'done' }] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    const words = new Map<string, unknown>()
    for await (const event of session.events({ from: 'start' })) {
      if (event.type === 'live') break
      if (event.type === 'call') words.set(event.call.name, event.call.waiting?.say)
    }
    expect(Object.fromEntries(words)).toEqual({
      promise: undefined,
      nothing: undefined,
      steers: '[2JOne  moment',
      smiles: `x${'😀'.repeat(249)}`,
    })
    expect(world.warnings.toSorted()).toEqual([
      'a call could not be described',
      ...Array<string>(2).fill('the waiting words of a tool failed'),
      'the waiting words of a tool were cut',
    ])
  },
  'a tool that throws what cannot be looked at fails alone': async ({ createWorld }) => {
    const odd = new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw new Error('not to be looked at')
        },
      },
    )
    const tools = [
      act(() => Promise.reject(odd as Error), { name: 'odd' }),
      act(() => 'paid', { name: 'pay', effect: 'once' }),
    ]
    const world = await createWorld({ tools, steps: [listCalls('odd', 'pay'), { text: 'done' }] })
    const session = await world.open()
    expect((await world.time.until(session.send('go').answer)).text).toBe('done')
    expect(resultsTold(world.model)).toMatchObject([{ isError: true }, { isError: false, text: 'paid' }])
    expect(world.warnings).toEqual([])
  },
  'a tool that hangs settles at its deadline, and the turn ends': async ({ createWorld }) => {
    const world = await createWorld({
      tools: [act(never, { timeoutMs: 5000 })],
      steps: [listCalls('act'), { text: 'done' }],
    })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.pass(4999)
    expect(session.phase).toBe('calling')
    await world.time.pass(1)
    expect((await turn.answer).text).toBe('done')
    expect(resultsTold(world.model)).toEqual([{ isError: true, text: 'Error: tool_result_timeout' }])
  },
  'a tool that ignores its signal and finishes late is logged, and changes nothing': async ({ createWorld }) => {
    const late = Promise.withResolvers<string>()
    const signals: boolean[] = []
    const slow = act(
      async (_, { signal }) => {
        signal.addEventListener('abort', () => signals.push(true))
        return await late.promise
      },
      { timeoutMs: 1000 },
    )
    const world = await createWorld({ tools: [slow], steps: [listCalls('act'), { text: 'done' }] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    expect(signals).toEqual([true])
    late.resolve('too late')
    await world.time.settle()
    expect(await world.facts('result-ignored')).toMatchObject([{ callId: CALL, reason: 'late', preview: 'too late' }])
    expect(await world.facts('call-settled')).toHaveLength(1)
  },
  'calls run at once, eight at most, and their results go back in the order of the calls': async ({ createWorld }) => {
    const gates = Array.from({ length: 10 }, () => Promise.withResolvers<string>())
    const running: number[] = []
    const tools = gates.map((gate, index) =>
      act(
        async () => {
          running.push(index)
          return await gate.promise
        },
        { name: `t${index}` },
      ),
    )
    const names = tools.map(({ name }) => name)
    const world = await createWorld({ tools, steps: [listCalls(...names), { text: 'done' }] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    expect(running).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
    gates[7]?.resolve('r7')
    await world.time.settle()
    expect(running).toHaveLength(9)
    gates.toReversed().forEach((gate, index) => gate.resolve(`r${9 - index}`))
    await world.time.until(turn.answer)
    expect(resultsTold(world.model).map(({ text }) => text)).toEqual(names.map((_, index) => `r${index}`))
  },
  'a tool that wants no other beside it waits, and all wait for it': async ({ createWorld }) => {
    let running = 0
    const most: number[] = []
    const execute = async (): Promise<void> => {
      most.push((running += 1))
      // Long enough for another one to start.
      for (let turn = 0; turn < 100; turn++) await Promise.resolve()
      running -= 1
    }
    const tools = [act(execute, { name: 'alone', parallel: false }), act(execute, { name: 'other' })]
    const calls = listCalls('alone', 'other', 'alone', 'alone', 'other')
    const world = await createWorld({ tools, steps: [calls, { text: 'done' }] })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    expect(most).toEqual([1, 1, 1, 1, 1])
  },
  'a tool gets its context: who, where, which call, services, and a signal of its own': async ({ createWorld }) => {
    const contexts: unknown[] = []
    const look = act(
      (_, { signal, log, progress, plan, ask, messages, generate, openSession, reminders, ...plain }) => {
        contexts.push({
          ...plain,
          aborted: signal.aborted,
          log: typeof log.info,
          acts: [progress, plan, ask, messages, generate, openSession, reminders].length,
        })
      },
    )
    const services = { github: 'token of ann' }
    const world = await createWorld({
      tools: [look],
      steps: [listCalls('act'), { text: 'done' }],
      catalog: { services },
    })
    const session = await world.host.session('s', { principal: { id: 'ann' } })
    await session.send('go').answer
    expect(contexts).toEqual([
      {
        session: 's',
        agent: 'tested',
        principal: { id: 'ann' },
        callId: CALL,
        turn: 1,
        attempt: 1,
        // That of a pure call names its arguments, too.
        idempotencyKey: expect.stringMatching(/^s\/call_id2_1_0\/\w+/),
        aborted: false,
        services,
        log: 'function',
        acts: 7,
      },
    ])
  },
  'progress reaches who watches; what is too long, no JSON or too late does not, and harms nothing': async ({
    createWorld,
  }) => {
    const later: ((note: JsonValue) => void)[] = []
    const noted = act((_, { progress }) => {
      const note = { done: 1 }
      progress(note)
      note.done = 2
      progress('x'.repeat(5000))
      progress(createCyclic() as never)
      progress(1n as never)
      progress((() => {}) as never)
      later.push(progress)
      return 'fine'
    })
    const world = await createWorld({ tools: [noted], steps: [listCalls('act'), { text: 'done' }] })
    const session = await world.open()
    const turn = session.send('go')
    const notes: unknown[] = []
    for await (const event of turn) {
      if (event.type === 'call-progress') notes.push(event.note)
      if (event.type === 'call' && event.call.result) later[0]?.('too late')
    }
    expect(notes).toEqual([{ done: 1 }])
    expect(resultsTold(world.model)[0]?.text).toBe('fine')
    expect(world.warnings.filter((warning) => warning.includes('progress'))).toHaveLength(4)
  },
}
