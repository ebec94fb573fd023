// One handle of a session: its messages keep their order while pictures are stored, are accepted once even if sent
// twice, and fail once it is closed.
import type { ImagePart, Schema, Session, Store, UserInput } from '@baton/core/internal'
import { tool, frontOf } from '@baton/core/internal'
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import type { TestWorldOptions } from './test-world.test-kit.ts'
import {
  act,
  createProcess,
  createSharedStore,
  createTestWorld,
  LEASE_MS,
  listCalls,
  noUnhandledRejections,
  ownStore,
  resultsTold,
  textsTold,
  connectApp,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const done = { type: 'ok', content: [{ type: 'text', text: 'by hand' }] } as const

function picture(bytes: string): ImagePart {
  return { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: bytes } }
}

/**
 * A world whose store holds each picture until the test releases it: either the oldest one, or all current and later
 * ones.
 */
function createSlowWorld(more: Partial<TestWorldOptions> = {}) {
  const waiting: (() => void)[] = []
  let isSlow = true
  const store = ownStore()
  const { put } = store.blobs
  Object.assign(store.blobs, {
    put: async (...given: Parameters<typeof put>) => {
      if (isSlow) await new Promise<void>((resolve) => void waiting.push(resolve))
      await put(...given)
    },
  })
  const keepAll = (): void => {
    isSlow = false
    for (const keep of waiting.splice(0)) keep()
  }
  const world = createTestWorld({ store, steps: (_, call) => ({ text: `answer ${call}` }), ...more })
  return { ...world, keepOne: () => waiting.shift()?.(), keepAll }
}

type Follow = (session: Session) => Promise<unknown>

test.each<[string, Follow]>([
  ['its messages', async (session) => (await session.messages()).messages.some(({ id }) => id === 'said')],
  ['a rewind', (session) => session.rewind({ message: 'said', interrupt: true })],
  ['a fork', (session) => session.fork({ before: 'said' })],
  [
    'its withdrawal',
    async (session) => {
      await frontOf(session).control('pause') // so that the message waits
      return await session.withdraw('said')
    },
  ],
])('what follows a message whose picture is still being stored comes after it: %s', async (_, follow) => {
  const { open, time, keepAll } = createSlowWorld()
  const session = await open()
  session.send([picture('AAAA')], { inputId: 'said' }).answer.catch(() => {})
  const followed = follow(session)
  await time.settle()
  keepAll()
  expect(await time.until(followed)).toBeTruthy()
})

const WARM = { temperature: 0.5 } as const

test.each<[string, Follow]>([
  ['configure', (session) => session.configure({ settings: WARM })],
  ['a command', (session) => frontOf(session).submit({ type: 'set-settings', settings: WARM })],
])('settings that follow a picture count from the next turn on: %s', async (_, configure) => {
  const { open, time, keepAll, facts } = createSlowWorld()
  const session = await open()
  const shown = session.send([picture('AAAA')])
  const configured = configure(session)
  const next = session.send('two')
  await time.settle()
  keepAll()
  for (const work of [shown.answer, configured, next.answer]) await time.until(work)
  const turns = await facts('turn-started')
  expect(turns.map(({ settings }) => settings)).toEqual([undefined, WARM])
})

test.each<[string, Follow]>([
  ['interrupt', (session) => session.interrupt()],
  ['stop', (session) => frontOf(session).control('stop')],
])('what ends a turn does not wait for a picture that is still being stored: %s', async (_, end) => {
  const { open, time, keepAll } = createSlowWorld({ steps: [{ text: 'a long answer', hangs: 'until-aborted' }] })
  const session = await open()
  const turn = session.send('go')
  await time.settle()
  session.send([picture('AAAA')]).answer.catch(() => {})
  await end(session)
  expect(['interrupted', 'stopped']).toContain((await time.until(turn.answer)).outcome)
  keepAll()
})

test('a picture that a front has passed on can be withdrawn while it is being stored', async () => {
  const { open, time, keepAll } = createSlowWorld()
  const session = await open()
  await frontOf(session).control('pause') // so that it waits
  const said = connectApp(session, { connection: 'app' }).say('said', [picture('AAAA')])
  const withdrawn = session.withdraw('said')
  await time.settle()
  keepAll()
  expect(await time.until(said)).toMatchObject({ type: 'accepted' })
  expect(await time.until(withdrawn)).toMatchObject({ type: 'accepted' })
})

test('words that follow two pictures are read behind both, though the first was stored long before the second', async () => {
  const { open, time, keepOne, facts } = createSlowWorld()
  const session = await open()
  const said: readonly [string, UserInput][] = [
    ['one', [picture('AAAA')]],
    ['two', [picture('BBBB')]],
  ]
  const turns = said.map(([inputId, input]) => session.send(input, { inputId }))
  await time.settle()
  keepOne()
  await time.settle()
  turns.push(session.send('and these?', { inputId: 'three' }))
  await time.settle()
  keepOne()
  await time.until(Promise.all(turns.map(({ answer }) => answer)))
  expect((await facts('input-accepted')).map(({ inputId }) => inputId)).toEqual(['one', 'two', 'three'])
})

test('a message that is sent again with a signal ends with that signal', async () => {
  const { open, time } = createTestWorld({ steps: [{ text: 'a long answer', hangs: 'until-aborted' }] })
  const session = await open()
  const first = session.send('go', { inputId: 'said' })
  await time.settle()
  const abort = new AbortController()
  const again = session.send('go', { inputId: 'said', signal: abort.signal })
  await time.settle()
  abort.abort()
  expect((await time.until(again.answer)).outcome).toBe('interrupted')
  expect((await time.until(first.answer)).outcome).toBe('interrupted')
  expect(getEventListeners(abort.signal, 'abort')).toEqual([])
})

test('the signal of a message that was answered ends no later turn, and keeps nothing', async () => {
  const { open, time } = createTestWorld({
    steps: [{ text: 'one' }, { text: 'a long answer', hangs: 'until-aborted' }],
  })
  const session = await open()
  const abort = new AbortController()
  const { signal } = abort
  await time.until(session.send('go', { inputId: 'said', signal }).answer)
  expect(getEventListeners(signal, 'abort')).toEqual([])
  const later = session.send('and?')
  await time.settle()
  const again = session.send('go', { inputId: 'said', signal })
  abort.abort()
  expect((await time.until(again.answer)).text).toBe('one')
  await time.settle()
  expect(frontOf(session).phase).toBe('modelling')
  await time.until(session.interrupt())
  expect((await time.until(later.answer)).outcome).toBe('interrupted')
})

test('the signal of a message ends no other turn, whenever it aborts while the answer is stored', async () => {
  const ends = new Set<string>()
  for (let hops = 0; hops < 60; hops += 1) {
    const disk = ownStore()
    const append: Store['append'] = async (...request) => {
      await hop(5)
      return await disk.append(...request)
    }
    const { open, time } = createTestWorld({
      store: { ...disk, append },
      steps: [{ text: 'one' }, { text: 'two' }],
    })
    const session = await open()
    const abort = new AbortController()
    const first = session.send('go', { signal: abort.signal })
    const second = session.send('and?')
    await hop(hops)
    abort.abort()
    const { stop } = await time.until(first.answer.catch((cause: unknown) => ({ stop: String(cause) })))
    ends.add(String(stop))
    const { outcome } = await time.until(second.answer)
    expect([hops, outcome]).toEqual([hops, 'answered'])
  }
  // The message was taken back, its turn was ended, or it was answered.
  expect(ends.size).toBeGreaterThan(1)
})

test('a message whose signal aborts while its picture is being stored is taken back once it is in', async () => {
  const { open, time, keepAll } = createSlowWorld({ steps: [{ text: 'a long answer', hangs: 'until-aborted' }] })
  const session = await open()
  const abort = new AbortController()
  const turn = session.send([picture('AAAA')], { signal: abort.signal })
  await time.settle()
  abort.abort()
  await time.settle()
  keepAll()
  expect((await time.until(turn.answer)).outcome).toBe('interrupted')
})

test('only the later one of two messages in one exchange can be repeated', async () => {
  const gate = Promise.withResolvers<string>()
  const world = createTestWorld({
    tools: [act(() => gate.promise)],
    steps: [listCalls('act'), { text: 'first' }, { text: 'again' }],
  })
  const session = await world.open()
  const turn = session.send('one', { inputId: 'one' })
  await world.time.settle()
  session.send('two', { inputId: 'two', delivery: 'steer' }).answer.catch(() => {})
  gate.resolve('found')
  await world.time.until(turn.answer)
  expect(await world.time.until(session.rewind({ message: 'two', again: true }))).toMatchObject({ turn: 'two' })
  expect((await world.time.until(session.turn('two').answer)).text).toBe('again')
  expect(textsTold(world.model, 'user')).toEqual(['one', 'two'])
})

test('a message that entered a turn with a schema is found with the value of that turn', async () => {
  const gate = Promise.withResolvers<string>()
  const world = createTestWorld({
    tools: [act(() => gate.promise)],
    steps: [listCalls('act'), { text: '{"count":3}' }],
  })
  const session = await world.open()
  const output = { type: 'object', properties: { count: { type: 'number' } } } as const
  const turn = session.send('one', { inputId: 'one', output })
  await world.time.settle()
  session.send('two', { inputId: 'two', delivery: 'steer' }).answer.catch(() => {})
  gate.resolve('found')
  await world.time.until(turn.answer)
  const found = { output: { count: 3 } }
  expect(await world.time.until(session.turn('two').answer)).toMatchObject(found)
  // Also once its turn has been taken back.
  await world.time.until(session.rewind({ message: 'one' }))
  expect(await world.time.until(session.turn('two').answer)).toMatchObject(found)
})

test('a copy of a paused session has nothing of what waits in it', async () => {
  const world = createTestWorld({ steps: () => ({ text: 'answer' }) })
  const session = await world.open()
  await world.time.until(session.send('one', { inputId: 'one' }).answer)
  await frontOf(session).control('pause')
  session.send('two', { inputId: 'two' }).answer.catch(() => {})
  await world.time.settle()
  const copy = await world.time.until(world.host.session(await world.time.until(session.fork())))
  expect((await copy.messages()).messages.map(({ id }) => id)).toEqual(['one', 't1'])
  expect((await copy.info()).queued).toEqual([])
})

test.each<[string, (session: Session, world: ReturnType<typeof createProcess>) => Promise<string>]>([
  ['a copy', (session, world) => world.time.until(session.fork({ before: 'one' }))],
  [
    'a session of somebody else',
    async (session, world) => {
      const stranger = world.host.session(session.id, { principal: { id: 'eve' } })
      await expect(world.time.until(stranger)).rejects.toMatchObject({ code: 'unauthorized' })
      await session.close()
      return session.id
    },
  ],
])('%s is not held by who asked for it: another process may open it', async (_, make) => {
  const shared = createSharedStore()
  const init = { steps: () => ({ text: 'answer' }) }
  const world = createProcess(shared.time, shared.store, init)
  const session = await world.open()
  await world.time.until(session.send('one', { inputId: 'one' }).answer)
  const id = await make(session, world)
  await world.time.pass(2 * LEASE_MS)
  const other = createProcess(shared.time, shared.store, init)
  const opened = await world.time.until(other.host.session(id))
  expect(opened.id).toBe(id)
  await world.time.until(Promise.all([world.host.stop(), other.host.stop()]))
})

test('a tool that waits for an answer hears that its session has left this process', async () => {
  const heard: unknown[] = []
  const ask = act(async (_, context) => {
    await context
      .ask({ message: 'Which?', schema: { type: 'object' } })
      .catch((cause: unknown) => void heard.push(cause))
  })
  const world = createTestWorld({ tools: [ask], steps: [listCalls('act'), { text: 'done' }] })
  const session = await world.open()
  await connectApp(session, { connection: 'app', asks: true, claims: true }).attach()
  session.send('go').answer.catch(() => {})
  await world.time.settle()
  expect(await session.questions()).toHaveLength(1)
  await world.time.until(world.host.stop())
  expect(heard).toMatchObject([{ code: 'cancelled' }])
})

test('a turn repeated with a schema returns its value as parsed by that schema', async () => {
  const { open, time } = createTestWorld({ steps: [{ text: '{"count":3}' }] })
  const session = await open()
  const object = { type: 'object', properties: { count: { type: 'number' } } } as const
  const output: Schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) => ({ value: `${JSON.stringify(value)}, read by its own schema` }),
      jsonSchema: { input: () => object, output: () => object },
    },
  } as never
  await time.until(session.send('count', { inputId: 'said', output: object }).answer)
  const again = await time.until(session.turn('said', { output }).answer)
  expect(again).toMatchObject({ output: '{"count":3}, read by its own schema' })
})

test('one signal survives many reads, and ended ones leave nothing behind', async () => {
  const { open, time } = createTestWorld({ steps: () => ({ text: 'answer' }) })
  const session = await open()
  await time.until(session.send('go').answer)
  const { signal } = new AbortController()
  for (let reading = 0; reading < 5; reading++)
    for await (const event of session.events({ from: 'start', signal })) if (event.type === 'live') break
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a client for one tool takes no other call from its client', async () => {
  const look = (name: string) => tool({ name, description: name, input: { type: 'object' }, effect: 'pure' })
  const world = createTestWorld({
    tools: [look('one'), look('two')],
    steps: [listCalls('one', 'two'), { text: 'done' }],
  })
  const session = await world.open()
  const turn = session.send('go')
  await world.time.settle()
  const [call] = (await world.facts('step-finished'))[0]?.calls ?? []
  const client = await world.time.until(frontOf(session).client({ client: 'first', runs: ['one'] }))
  await world.time.until(client.result(call?.callId ?? '', done))
  const other = await world.open()
  await other.attach({ two: () => 'by its client' })
  await world.time.until(turn.answer)
  expect(resultsTold(world.model).map(({ text }) => text)).toEqual(['by hand', 'by its client'])
})

test('accepting a model and settings returns the record that stores both', async () => {
  const { open, time, host } = createTestWorld({ steps: [] })
  const session = await open()
  const { models } = await session.info()
  const { pos } = await time.until(session.configure({ model: models[0] ?? '', settings: { temperature: 0.5 } }))
  expect((await session.info()).head.pos).toBe(pos + 1)
  await host.stop()
})

const CLOSED: readonly [string, (session: Session) => unknown][] = [
  ['send', (session) => session.send('go').answer],
  ['turn', (session) => session.turn('said').answer],
  ['hear', (session) => frontOf(session).hear({ speaker: 'Ann', text: 'Hello.' })],
  ['notify', (session) => session.notify({ name: 'bell' })],
  ['control', (session) => frontOf(session).control('pause')],
  ['interrupt', (session) => session.interrupt()],
  ['rewind', (session) => session.rewind({ message: 'said' })],
  ['fork', (session) => session.fork()],
  ['withdraw', (session) => session.withdraw('said')],
  ['configure', (session) => session.configure({ settings: { temperature: 0.5 } })],
  ['describe', (session) => session.describe({ title: 'Other' })],
  ['attach', (session) => session.attach()],
  ['client', (session) => frontOf(session).client({ client: 'phone' })],
  ['decide', (session) => session.decide({ approvalId: 'none', decision: 'approve' })],
  ['answer', (session) => session.answer({ questionId: 'none', decline: true } as never)],
]

test.each(CLOSED)('a handle that was closed says nothing more: %s', async (_, say) => {
  const { open, records, host } = createTestWorld({ steps: () => ({ text: 'answer' }) })
  const session = await open()
  const other = await open() // keeps the session open
  await session.close()
  const before = await records()
  const said = await Promise.resolve(say(session)).catch((cause: unknown) => cause)
  expect(said).toMatchObject({ code: 'session_closed' })
  expect(await records()).toEqual(before)
  await other.close()
  await host.stop()
})

test('closing a handle twice waits both times until its client has left', async () => {
  const look = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, effect: 'pure' })
  const world = createTestWorld({ tools: [look], steps: [] })
  const session = await world.open()
  await session.attach({ look: () => 'seen' })
  void session.close()
  await world.time.until(session.close())
  expect(await world.facts('client-detached')).toHaveLength(1)
})

async function hop(times: number): Promise<void> {
  for (let left = times; left > 0; left -= 1) await Promise.resolve()
}
