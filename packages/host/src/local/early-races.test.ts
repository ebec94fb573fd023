// Notes, interrupts, inputs, and failures of the store while the answer of a pure tool is being stored and the tool runs
// already. Expected values are those of a tool that waits for its answer.
import type { Session, SessionEvent, Store } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { expect, test } from 'vitest'
import type { TestWorldOptions } from './test-world.test-kit.ts'
import {
  act,
  collect,
  createTestWorld,
  never,
  noUnhandledRejections,
  ownStore,
  resultsTold,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const EFFECTS = ['pure', 'idempotent'] as const
const CALLS = { calls: [{ name: 'act', arguments: {} }] }

/** A world whose store calls `meet` before it stores an answer. */
function worldOf(tools: TestWorldOptions['tools'], meet: () => Promise<void>, steps = [CALLS, { text: 'done' }]) {
  const disk = ownStore()
  const append: Store['append'] = async (...request) => {
    if (request[3].some(({ facts }) => facts.some(({ type }) => type === 'step-finished'))) await meet()
    return await disk.append(...request)
  }
  return createTestWorld({ store: { ...disk, append }, steps, ...(tools && { tools }) })
}

/** A store that holds each answer, and says when the first one came. */
function holdStore() {
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const meet = (): Promise<void> => {
    asked.resolve()
    return gate.promise
  }
  return { asked: asked.promise, held: gate.promise, letGo: gate.resolve, meet }
}

function failStore(times: number) {
  let left = times
  return (): Promise<void> =>
    left-- > 0 ? Promise.reject(new BatonError({ code: 'store_failed', message: 'full' })) : Promise.resolve()
}

async function hop(times: number): Promise<void> {
  for (let left = times; left > 0; left -= 1) await Promise.resolve()
}

const listNotes = (events: readonly SessionEvent[]): readonly unknown[] =>
  events.flatMap((event) =>
    event.type === 'call-progress' ? [event.note] : event.type === 'call' ? [event.call.status] : [],
  )

test('notes reach readers in their order, whenever the answer is stored between them', async () => {
  for (let hops = 0; hops < 12; hops += 1) {
    const { asked, held, letGo, meet } = holdStore()
    const notes = act(async (_, { progress }) => {
      progress('one')
      await asked
      await held
      await hop(hops)
      progress('two')
      return 'found'
    })
    const { open, time } = worldOf([notes], meet)
    const session = await open()
    const seen = collect(session.events())
    const answer = session.send('go').answer
    await time.settle()
    letGo()
    await time.until(answer)
    await time.settle()
    expect([hops, listNotes(seen.events).filter((note) => note === 'one' || note === 'two')]).toEqual([
      hops,
      ['one', 'two'],
    ])
  }
})

test('while a store hangs, the newest notes wait, and no more than a thousand', async () => {
  const { letGo, meet } = holdStore()
  const noting = act(async (_, { progress }) => {
    for (let n = 1; n <= 3000; n += 1) progress(n)
    return await never()
  })
  const { open, time } = worldOf([noting], meet)
  const session = await open()
  const seen = collect(session.events())
  session.send('go').answer.catch(() => {})
  await time.settle()
  letGo()
  await time.settle()
  const notes = listNotes(seen.events).filter((note) => typeof note === 'number')
  expect(notes).toEqual(Array.from({ length: 1000 }, (_, index) => 2001 + index))
  await time.until(session.interrupt())
})

test.each(EFFECTS)('a note of a %s tool is shown before the interrupt that follows it', async (effect) => {
  const opened: { session?: Session } = {}
  const noting = act(
    (_, { progress }) => {
      progress('half')
      void opened.session?.interrupt()
      return never()
    },
    { effect },
  )
  const { open, time } = worldOf([noting], () => Promise.resolve())
  const session = (opened.session = await open())
  const seen = collect(session.events())
  expect(await time.until(session.send('go').answer)).toMatchObject({ outcome: 'interrupted' })
  await time.settle()
  expect(listNotes(seen.events).slice(-3)).toEqual(['running', 'half', 'settled'])
})

test('a note is not shown after its call was interrupted', async () => {
  const { asked, letGo, meet } = holdStore()
  const opened: { session?: Session } = {}
  const noting = act(async (_, { progress }) => {
    void opened.session?.interrupt()
    await asked
    progress('late')
    return await never()
  })
  const { open, time } = worldOf([noting], meet)
  const session = (opened.session = await open())
  const seen = collect(session.events())
  const answer = session.send('go').answer
  await time.settle()
  letGo()
  expect(await time.until(answer)).toMatchObject({ outcome: 'interrupted' })
  await time.settle()
  expect(listNotes(seen.events).at(-1)).toBe('settled')
})

test('a tool that reads its conversation ends, although its session has died', async () => {
  let begun = 0
  let ended = 0
  const reading = act(async (_, { messages }) => {
    begun += 1
    try {
      return (await messages()).length
    } finally {
      ended += 1
    }
  })
  const { open, time } = worldOf([reading], failStore(3), [CALLS, CALLS, { text: 'done' }])
  const session = await open()
  await time.until(session.send('go').answer)
  expect([begun, ended]).toEqual([2, 2])
})

test.each(['pure', 'once'] as const)('a %s tool gets the arguments that the history has', async (effect) => {
  const given: unknown[] = []
  const tool = act((input) => void given.push(input), { effect })
  const calls = [{ name: 'act', arguments: { text: 'half a \ud83d' } }]
  const { open, time } = worldOf([tool], () => Promise.resolve(), [{ calls }, { text: 'done' }])
  const session = await open()
  await time.until(session.send('go').answer)
  expect(given).toEqual([{ text: 'half a \ufffd' }])
})

test('the late result of a run whose answer was lost does not reach the next answer’s call', async () => {
  const gates = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  let runs = 0
  const late = act(() => gates[runs++]?.promise)
  const { open, time, model, facts } = worldOf([late], failStore(3), [CALLS, CALLS, { text: 'done' }])
  const session = await open()
  const answer = session.send('go').answer
  await time.pass(1000)
  expect(runs).toBe(2)
  gates[0]?.resolve('old')
  await time.settle()
  gates[1]?.resolve('new')
  await time.until(answer)
  expect(resultsTold(model)).toMatchObject([{ text: 'new' }])
  expect(await facts('result-ignored')).toEqual([])
})

test.each(EFFECTS)('the time of a call of a %s tool goes on while its answer is being stored', async (effect) => {
  const { letGo, meet } = holdStore()
  const { open, time, facts } = worldOf([act(() => never(), { effect, timeoutMs: 2000 })], meet)
  const session = await open()
  const answer = session.send('go').answer
  await time.pass(5000)
  letGo()
  await time.pass(0)
  expect(await facts('call-settled')).toMatchObject([{ settlement: { type: 'timed-out' } }])
  await time.until(answer)
})

test.each(EFFECTS)('a message that comes with the result of a %s tool is answered after it', async (effect) => {
  const opened: { session?: Session } = {}
  const sending = act(
    () => {
      opened.session?.send('and then?', { inputId: 'second' }).answer.catch(() => {})
      return 'found'
    },
    { effect },
  )
  const { open, time, model } = worldOf([sending], () => Promise.resolve(), [CALLS, { text: 'done' }, { text: 'so' }])
  const session = (opened.session = await open())
  await time.until(session.send('go').answer)
  await time.until(session.turn('second').answer)
  expect(resultsTold(model)).toMatchObject([{ text: 'found' }])
})

test.each(EFFECTS)('a %s tool may go on after an interrupt, and its result counts', async (effect) => {
  const gate = Promise.withResolvers<string>()
  const opened: { session?: Session } = {}
  const background = act(
    () => {
      void opened.session?.interrupt()
      return gate.promise
    },
    { effect, onInterrupt: 'detach' },
  )
  const { open, time, facts } = worldOf([background], () => Promise.resolve())
  const session = (opened.session = await open())
  expect(await time.until(session.send('go').answer)).toMatchObject({ outcome: 'interrupted' })
  gate.resolve('found at last')
  await time.settle()
  expect(await facts('call-settled')).toMatchObject([{ settlement: { type: 'ok' } }])
})

test('a note of one tool does not wait for the result of the tool before it', async () => {
  const noting = act(
    async (input, { progress }) => {
      progress((input as { readonly n: number }).n)
      return 'found'
    },
    { parallel: false },
  )
  const calls = [1, 2].map((n) => ({ name: 'act', arguments: { n } }))
  const { open, time } = worldOf([noting], () => Promise.resolve(), [{ calls }, { text: 'done' }])
  const session = await open()
  const seen = collect(session.events())
  await time.until(session.send('go').answer)
  await time.settle()
  const notes = listNotes(seen.events)
  expect(notes.filter((note) => note !== 'proposed')).toEqual(['running', 1, 'settled', 'running', 2, 'settled'])
})

test.each([
  { words: ['one', 'two'], isSame: false },
  { words: ['one', 'one'], isSame: true },
])('a pure call after one that was lost has another key, unless it asks for the same: $words', async (given) => {
  const keys: string[] = []
  const tool = act((_, { idempotencyKey }) => void keys.push(idempotencyKey))
  const calls = given.words.map((word) => ({ calls: [{ name: 'act', arguments: { word } }] }))
  const { open, time, facts } = worldOf([tool], failStore(3), [...calls, { text: 'done' }])
  const session = await open()
  expect((await time.until(session.send('go').answer)).text).toBe('done')
  expect(await facts('call-settled')).toHaveLength(1)
  const [lost, stored, ...others] = keys
  expect([lost === stored, others]).toEqual([given.isSame, []])
})
