// Sessions through the host's API: inputs in any order, the same id again, control, handles, frames, and how a host stops.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import {
  act,
  callsOf,
  collect,
  createTestWorld,
  never,
  noUnhandledRejections,
  SESSION,
  textsTold,
} from './test-world.ts'

afterEach(noUnhandledRejections())

test('an input that is sent during a turn is answered by the next one', async () => {
  const world = createTestWorld({ steps: [{ text: 'one', pieceMs: 100 }, { text: 'two' }] })
  const session = await world.open()
  const first = session.send('a')
  await world.time.settle()
  const second = session.send('b')
  const third = session.send('c')
  const answers = await world.time.until(Promise.all([first.answer, second.answer, third.answer]))
  expect(answers.map(({ text }) => text)).toEqual(['one', 'two', 'two'])
  expect(textsTold(world.model, 'user')).toEqual(['a', 'b', 'c'])
})

test('an input that steers reaches the model with the results of the running step', async () => {
  const gate = Promise.withResolvers<string>()
  const world = createTestWorld({ tools: [act(() => gate.promise)], steps: [callsOf('act'), { text: 'both' }] })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.settle()
  const steered = session.send('but gently', { delivery: 'steer' })
  await world.time.settle()
  gate.resolve('done')
  expect((await world.time.until(steered.answer)).text).toBe('both')
  expect((await turn.answer).text).toBe('both')
  expect(textsTold(world.model, 'user')).toEqual(['go', 'but gently'])
})

test('the same input again, before, during and after its turn, has the same answer and no second model call', async () => {
  const world = createTestWorld({ steps: [{ text: 'only once', pieceMs: 100 }] })
  const session = await world.open()
  const again = () => session.send('go', { inputId: 'i1' }).answer
  const at = [again(), again()]
  await world.time.pass(50)
  at.push(again())
  await world.time.until(Promise.all(at))
  at.push(again())
  const answers = await world.time.until(Promise.all(at))
  expect(answers).toEqual(answers.map(() => ({ outcome: 'answered', text: 'only once', usage: {} })))
  expect(world.model.requests).toHaveLength(1)
  const { store, time } = world
  await world.host.stop()
  const later = createTestWorld({ store, time, steps: [] })
  const reopened = await later.open()
  expect((await time.until(reopened.send('go', { inputId: 'i1' }).answer)).text).toBe('only once')
})

test('an input that is refused leaves no reader behind', async () => {
  const world = createTestWorld({ steps: [], limits: { inputChars: 10 } })
  const session = await world.open()
  const turn = session.send('far too long an input')
  await expect(turn.answer).rejects.toMatchObject({ code: 'input_too_large' })
  const events = []
  for await (const event of turn.events) events.push(event)
  expect(events).toEqual([])
})

test('a paused session keeps its turn for later, a stopped one ends it and takes no input', async () => {
  const gate = Promise.withResolvers<string>()
  const world = createTestWorld({
    tools: [act(() => gate.promise)],
    steps: [callsOf('act'), { text: 'after the pause' }, { hangs: 'until-aborted' }, { text: 'started' }],
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
  expect(world.time.pending()).toBe(0)
  await session.submit({ type: 'start' })
  expect((await world.time.until(session.send('now!').answer)).text).toBe('started')
})

test('a session that is opened twice, also at once, is one session', async () => {
  const world = createTestWorld({ steps: [{ text: 'hello' }] })
  const [one, two, three] = await Promise.all([world.open(), world.open(), world.open()])
  const seen = collect(two.frames())
  await world.time.until(one.send('hi').answer)
  await three.close()
  await two.close()
  expect((await world.records()).map(({ epoch }) => epoch)).toEqual((await world.records()).map(() => 1))
  expect(seen.frames.some((frame) => frame.type === 'fact' && frame.fact.type === 'turn-finished')).toBe(true)
})

test('sessions without an id are new ones', async () => {
  const world = createTestWorld({ steps: [] })
  const [one, two] = await Promise.all([world.host.session(undefined), world.host.session(undefined)])
  expect(one.id).not.toBe(two.id)
})

test('a session that cannot be opened is an error with a code, and is tried again by who asks again', async () => {
  const store = createMemoryStore()
  const { acquire } = store
  Object.assign(store, { acquire: () => Promise.reject(new Error('no disk')) })
  const world = createTestWorld({ store, steps: [{ text: 'fine' }] })
  await expect(world.host.session(SESSION)).rejects.toMatchObject({ code: 'store_failed' })
  Object.assign(store, { acquire: never })
  await expect(world.time.until(world.host.session(SESSION))).rejects.toMatchObject({ code: 'store_failed' })
  Object.assign(store, { acquire })
  const session = await world.open()
  expect((await world.time.until(session.send('hi').answer)).text).toBe('fine')
})

test('an agent that changed while the session was closed is a fact, and its model answers', async () => {
  const world = createTestWorld({ steps: [{ text: 'old' }] })
  const session = await world.open()
  await world.time.until(session.send('hi').answer)
  await world.host.stop()
  const model = createScriptedModel({ id: 'new/model', steps: [{ text: 'new' }] })
  const agent = defineAgent({ name: 'other', model, instructions: 'Be new.' })
  const next = createTestWorld({ ...world, steps: [], host: { agent } })
  const again = await next.open()
  expect((await next.time.until(again.send('hi').answer)).text).toBe('new')
  expect(await next.facts('agent-changed')).toHaveLength(1)
  expect(model.requests[0]?.messages).toHaveLength(3)
})

test('a host that stops lets a turn end in its time, and closes everything', async () => {
  const world = createTestWorld({ steps: [{ text: 'slow answer', pieceMs: 500 }] })
  const session = await world.open()
  const turn = session.send('go')
  const frames = collect(session.frames())
  await world.time.settle()
  const stopped = world.host.stop({ drainMs: 5000 })
  expect(world.host.stop()).toBe(stopped)
  await expect(world.host.session('late')).rejects.toMatchObject({ code: 'host_stopped' })
  await world.time.until(stopped)
  expect((await turn.answer).text).toBe('slow answer')
  await frames.done
  await expect(session.send('more').answer).rejects.toMatchObject({ code: 'session_closed' })
  expect(world.time.pending()).toBe(0)
})

test('a host that stops at once aborts what runs; its turns reject', async () => {
  const signals: boolean[] = []
  const hangs = act((_, { signal }) => {
    signal.addEventListener('abort', () => signals.push(true))
    return never()
  })
  const world = createTestWorld({ tools: [hangs], steps: [callsOf('act')] })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.settle()
  await world.host.stop()
  await expect(turn.answer).rejects.toMatchObject({ code: 'session_closed' })
  expect(signals).toEqual([true])
  expect(world.time.pending()).toBe(0)
})

test('a host stops while a session is being opened by a store that does not answer', async () => {
  const store = createMemoryStore()
  const gate = Promise.withResolvers<void>()
  const { acquire } = store
  Object.assign(store, {
    acquire: (session: string, owner: string) => gate.promise.then(() => acquire(session, owner)),
  })
  const world = createTestWorld({ store, steps: [] })
  const opening = world.host.session(SESSION)
  opening.catch(() => {})
  await world.time.until(world.host.stop())
  gate.resolve()
  await expect(world.time.until(opening)).rejects.toMatchObject({ code: 'host_stopped' })
  expect(world.time.pending()).toBe(0)
})

test('a reader that is too slow is told so, and reads on from where it was', async () => {
  const world = createTestWorld({ steps: () => ({ text: 'ok' }) })
  const session = await world.open()
  const slow = session.frames({ pos: 0 })[Symbol.asyncIterator]()
  const positions: number[] = []
  const take = async (reader: typeof slow): Promise<number | undefined> => {
    const next = await reader.next()
    if (next.done === true) throw new Error('the reading ended')
    if (next.value.type === 'lagged') return next.value.pos
    if (next.value.type === 'fact') positions.push(next.value.pos)
    return undefined
  }
  await take(slow)
  for (let count = 0; count < 5100; count++) await session.submit({ type: count % 2 === 0 ? 'pause' : 'continue' })
  for (let count = 0; count < 5100; count++) await session.submit({ type: count % 2 === 0 ? 'pause' : 'continue' })
  let lagged: number | undefined
  while (lagged === undefined) lagged = await take(slow)
  const last = (await world.records()).length - 1
  const again = session.frames({ pos: lagged })[Symbol.asyncIterator]()
  while (positions.at(-1) !== last) await take(again)
  expect([...new Set(positions)]).toEqual(Array.from({ length: last + 1 }, (_, pos) => pos))
})

test('a reader that leaves while it waits ends at once', async () => {
  const world = createTestWorld({ steps: [] })
  const session = await world.open()
  for (const cursor of [undefined, { pos: 0 }]) {
    const reader = session.frames(cursor)[Symbol.asyncIterator]()
    if (cursor) await reader.next()
    const waits = [reader.next(), reader.next()]
    await world.time.settle()
    await reader.return?.()
    expect(await Promise.all(waits)).toEqual(waits.map(() => ({ done: true, value: undefined })))
  }
})

test('events of a turn that nobody reads stay small', async () => {
  const notes = Array.from({ length: 5000 }, (_, done) => ({ done }))
  const busy = act((_, { progress }) => notes.forEach((note) => progress(note)))
  const world = createTestWorld({
    tools: [busy],
    steps: [{ text: 'word '.repeat(5000), ...callsOf('act') }, { text: 'word '.repeat(5000) }],
  })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.until(turn.answer)
  const events = []
  for await (const event of turn.events) events.push(event)
  expect(events.map(({ type }) => type)).toEqual([
    'text-delta',
    'call-proposed',
    'tool-progress',
    'call-settled',
    'text-delta',
    'turn-finished',
  ])
  expect(events).toContainEqual({ type: 'tool-progress', callId: 'call_id2_1_0', note: { done: 4999 } })
})

test('two who read the events of one turn both come to its end', async () => {
  const world = createTestWorld({ steps: [{ text: 'some words', pieceMs: 10 }] })
  const session = await world.open()
  const turn = session.send('go')
  const read = async (): Promise<string[]> => {
    const types: string[] = []
    for await (const event of turn.events) types.push(event.type)
    return types
  }
  const types = await world.time.until(Promise.all([read(), read()]))
  expect(types.flat().filter((type) => type === 'turn-finished')).toHaveLength(1)
})

test('a program that answers a client tool’s call by hand becomes the client that it was asked of', async () => {
  const look = tool({ name: 'look', description: 'look', input: { type: 'object' }, effect: 'pure' })
  const world = createTestWorld({ tools: [look], steps: [callsOf('look'), { text: 'seen' }] })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.settle()
  const content = [{ type: 'text', text: 'a tree' }] as const
  expect(await session.toolResult('call_id2_1_0', { type: 'ok', content })).toMatchObject({ type: 'accepted' })
  expect((await world.time.until(turn.answer)).text).toBe('seen')
})

test('a session that nobody holds leaves the memory once it is at rest, and comes back from its log', async () => {
  const world = createTestWorld({ steps: [{ text: 'one', pieceMs: 100 }, { text: 'two' }] })
  const first = await world.open()
  first.send('a').answer.catch(() => {})
  await world.time.settle()
  await first.close()
  await world.time.pass(60_000)
  expect((await world.facts('turn-finished')).map(({ outcome }) => outcome)).toEqual(['answered'])
  const again = await world.open()
  expect((await world.time.until(again.send('b').answer)).text).toBe('two')
  expect((await world.facts('host-restarted')).length).toBe(1)
})

test('a session belongs to who opened it first, also after its host has begun anew', async () => {
  const world = createTestWorld({ steps: [] })
  const session = await world.time.until(world.host.session(SESSION, { principal: { id: 'ann' } }))
  const eve = { principal: { id: 'eve' } }
  await expect(world.host.session(SESSION, eve)).rejects.toMatchObject({ code: 'unauthorized' })
  await session.close()
  await world.host.stop()
  const later = createTestWorld({ store: world.store, time: world.time, steps: [] })
  await expect(world.time.until(later.host.session(SESSION, eve))).rejects.toMatchObject({ code: 'unauthorized' })
})
