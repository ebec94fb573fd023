// Sessions through the host's API: inputs in any order, repeated ids, control, handles, frames, and how a host stops.
import { tool } from '@baton/core'
import { expect } from 'vitest'
import { act, CALL, listCalls, collect, never, textsTold } from './situation-parts.ts'
import type { Situations } from './situation.ts'

const ANSWERED = { outcome: 'answered', stop: 'end', usage: {}, sources: [], limits: [], forgotten: false } as const

export const SESSION_SITUATIONS: Situations = {
  'an input that is sent during a turn is answered by the next one': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'one', pieceMs: 100 }, { text: 'two' }] })
    const session = await world.open()
    const first = session.send('a')
    await world.time.settle()
    const second = session.send('b')
    const third = session.send('c')
    const answers = await world.time.until(Promise.all([first.answer, second.answer, third.answer]))
    expect(answers.map(({ text }) => text)).toEqual(['one', 'two', 'two'])
    expect(textsTold(world.model, 'user')).toEqual(['a', 'b', 'c'])
  },
  'an input that steers reaches the model with the results of the running step': async ({ createWorld }) => {
    const gate = Promise.withResolvers<string>()
    const world = await createWorld({ tools: [act(() => gate.promise)], steps: [listCalls('act'), { text: 'both' }] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    const steered = session.send('but gently', { delivery: 'steer' })
    await world.time.settle()
    gate.resolve('done')
    expect((await world.time.until(steered.answer)).text).toBe('both')
    expect((await turn.answer).text).toBe('both')
    expect(textsTold(world.model, 'user')).toEqual(['go', 'but gently'])
  },
  'the same input again, before, during and after its turn, has the same answer and no second model call': async ({
    createWorld,
  }) => {
    const world = await createWorld({ steps: [{ text: 'only once', pieceMs: 100 }] })
    const session = await world.open()
    const again = () => session.send('go', { inputId: 'i1' }).answer
    const at = [again(), again()]
    await world.time.pass(50)
    at.push(again())
    await world.time.until(Promise.all(at))
    at.push(again())
    const answers = await world.time.until(Promise.all(at))
    expect(answers).toEqual(answers.map(() => ({ ...ANSWERED, text: 'only once' })))
    expect(world.model.requests).toHaveLength(1)
  },
  'an input that is refused leaves no reader behind': async ({ createWorld }) => {
    const world = await createWorld({ steps: [], limits: { inputChars: 10 } })
    const session = await world.open()
    const turn = session.send('far too long an input')
    await expect(turn.answer).rejects.toMatchObject({ code: 'input_too_large' })
    const read = async (): Promise<void> => {
      for await (const event of turn) expect(event).toBe('nothing')
    }
    await expect(read()).rejects.toMatchObject({ code: 'input_too_large' })
  },
  'a paused session keeps its turn for later, a stopped one ends it and takes no input': async ({ createWorld }) => {
    const gate = Promise.withResolvers<string>()
    const world = await createWorld({
      tools: [act(() => gate.promise)],
      steps: [listCalls('act'), { text: 'after the pause' }, { hangs: 'until-aborted' }, { text: 'started' }],
    })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    await session.submit({ type: 'pause' })
    gate.resolve('done')
    await world.time.pass(60_000)
    expect(world.model.requests).toHaveLength(1)
    await session.submit({ type: 'continue' })
    expect((await world.time.until(turn.answer)).text).toBe('after the pause')
    const stopped = session.send('more')
    await world.time.settle()
    await session.submit({ type: 'stop' })
    expect((await world.time.until(stopped.answer)).outcome).toBe('stopped')
    await expect(session.send('now?').answer).rejects.toMatchObject({ code: 'session_stopped' })
    await session.submit({ type: 'start' })
    expect((await world.time.until(session.send('now!').answer)).text).toBe('started')
  },
  'a session that is opened twice, also at once, is one session': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'hello' }] })
    const [one, two, three] = await Promise.all([world.open(), world.open(), world.open()])
    const seen = collect(two.events())
    await world.time.until(one.send('hi').answer)
    await three.close()
    await two.close()
    expect(new Set((await world.records()).map(({ epoch }) => epoch)).size).toBe(1)
    expect(seen.events.some(({ type }) => type === 'turn-finished')).toBe(true)
  },
  'a chat that opens its session for each message, and closes it, has the log of one that stays open': async ({
    createWorld,
  }) => {
    const steps = () => ({ text: 'answer' })
    const chat = await createWorld({ steps })
    for (let n = 0; n < 5; n++) {
      const session = await chat.open()
      expect((await chat.time.until(session.send(`message ${n}`).answer)).text).toBe('answer')
      await session.close()
      await chat.time.pass(n === 3 ? 600_000 : 1000) // the last pause is longer than a session lingers
    }
    const held = await createWorld({ steps })
    const session = await held.open()
    for (let n = 0; n < 5; n++) await held.time.until(session.send(`message ${n}`).answer)
    const inputs = async ({ records }: typeof chat) => (await records()).map(({ input }) => input.type)
    expect(await inputs(chat)).toEqual(await inputs(held))
    expect(textsTold(chat.model, 'user')).toEqual([0, 1, 2, 3, 4].map((n) => `message ${n}`))
  },
  'sessions without an id are new ones': async ({ createWorld }) => {
    const world = await createWorld({ steps: [] })
    const [one, two] = await Promise.all([world.host.session(undefined), world.host.session(undefined)])
    expect(one.id).not.toBe(two.id)
  },
  'a host that stops lets a turn end in its time, and closes everything': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'slow answer', pieceMs: 500 }] })
    const session = await world.open()
    const turn = session.send('go')
    const seen = collect(session.events())
    await world.time.settle()
    const stopped = world.host.stop({ drainMs: 5000 })
    expect(world.host.stop()).toBe(stopped)
    await expect(world.host.session('late')).rejects.toMatchObject({ code: 'host_stopped' })
    await world.time.until(stopped)
    expect((await turn.answer).text).toBe('slow answer')
    await seen.done
    await expect(session.send('more').answer).rejects.toMatchObject({ code: 'session_closed' })
  },
  'a host that stops at once aborts what runs; its turns reject': async ({ createWorld }) => {
    const signals: boolean[] = []
    const hangs = act((_, { signal }) => {
      signal.addEventListener('abort', () => signals.push(true))
      return never()
    })
    const world = await createWorld({ tools: [hangs], steps: [listCalls('act')] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    await world.host.stop()
    await expect(turn.answer).rejects.toMatchObject({ code: 'session_closed' })
    expect(signals).toEqual([true])
  },
  'a reader that leaves while it waits ends at once': async ({ createWorld }) => {
    const world = await createWorld({ steps: [] })
    const session = await world.open()
    for (const from of ['now', 'start'] as const) {
      const reader = session.events({ from })[Symbol.asyncIterator]()
      for (let next = await reader.next(); next.value?.type !== 'live';) next = await reader.next()
      const waits = [reader.next(), reader.next()]
      await world.time.settle()
      await reader.return?.()
      expect(await Promise.all(waits)).toEqual(waits.map(() => ({ done: true, value: undefined })))
    }
  },
  'events of a turn that nobody reads stay small': async ({ createWorld }) => {
    const notes = Array.from({ length: 5000 }, (_, done) => ({ done }))
    const busy = act((_, { progress }) => notes.forEach((note) => progress(note)))
    const world = await createWorld({
      tools: [busy],
      steps: [{ text: 'word '.repeat(5000), ...listCalls('act') }, { text: 'word '.repeat(5000) }],
    })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.until(turn.answer)
    const events = []
    for await (const event of turn) events.push(event)
    const shown = events.filter(({ type }) => ['text', 'call-progress', 'turn-finished'].includes(type))
    expect(shown.map(({ type }) => type)).toEqual(['text', 'call-progress', 'text', 'turn-finished'])
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'call-progress', callId: CALL, note: { done: 4999 } }),
    )
    expect(events.length).toBeLessThan(30)
  },
  'two who read the events of one turn both come to its end': async ({ createWorld }) => {
    const world = await createWorld({ steps: [{ text: 'some words', pieceMs: 10 }] })
    const session = await world.open()
    const turn = session.send('go')
    const read = async (): Promise<string[]> => {
      const types: string[] = []
      for await (const event of turn) types.push(event.type)
      return types
    }
    const types = await world.time.until(Promise.all([read(), read()]))
    expect(types.flat().filter((type) => type === 'turn-finished')).toHaveLength(1)
  },
  'a program without handlers sees the call that waits for it, claims it and answers it by hand': async ({
    createWorld,
  }) => {
    const look = tool({ name: 'look', description: 'look', input: { type: 'object' }, effect: 'pure' })
    const world = await createWorld({ tools: [look], steps: [listCalls('look'), { text: 'seen' }] })
    const session = await world.open()
    const turn = session.send('go')
    await world.time.settle()
    const content = [{ type: 'text', text: 'a tree' }] as const
    const client = await session.attach()
    expect(client.calls()).toMatchObject([{ callId: CALL, name: 'look' }])
    expect(await client.claim(CALL)).toMatchObject({ name: 'look', arguments: '{}' })
    expect(client.calls()).toEqual([])
    expect(await client.result(CALL, { type: 'ok', content })).toMatchObject({ type: 'accepted' })
    expect((await world.time.until(turn.answer)).text).toBe('seen')
  },
  'a session belongs to who opened it first': async ({ createWorld }) => {
    const world = await createWorld({ steps: [] })
    const session = await world.time.until(world.host.session(world.session, { principal: { id: 'ann' } }))
    const eve = { principal: { id: 'eve' } }
    await expect(world.host.session(world.session, eve)).rejects.toMatchObject({ code: 'unauthorized' })
    await session.close()
  },
}
