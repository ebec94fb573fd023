// Turns whose older steps were summarised together with a message that steered: the message's signal still ends the turn,
// and a rewind still finds the message.
import type { Session } from '@baton/core/internal'
import { frontOf } from '@baton/core/internal'
import type { ScriptedStep } from '@baton/core/testing'
import { expect, test } from 'vitest'
import type { TestWorld, TestWorldOptions } from './test-world.test-kit.ts'
import { act, createTestWorld, listCalls, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

interface Summarised extends TestWorld {
  readonly session: Session
  /** Sends `go`, and `also` while its first tool runs. Resolves once the older steps were summarised. */
  steer(options?: { readonly signal?: AbortSignal }): Promise<ReturnType<Session['send']>>
}

/** Calls a tool until the window is full of messages and a summary is made, then says the last step. */
async function openSummarised(last: ScriptedStep, more: Partial<TestWorldOptions> = {}): Promise<Summarised> {
  let isSummarised = false
  const gate = Promise.withResolvers<string>()
  const world = createTestWorld({
    tools: [act(() => gate.promise)],
    window: { messages: 6, summarise: true },
    steps: ({ instructions, messages }) => {
      if (JSON.stringify(messages.at(-1)).includes('hello')) return { text: 'Hello!' }
      if (!instructions.startsWith('Summarise')) return isSummarised ? last : listCalls('act')
      isSummarised = true
      return { text: 'So far.' }
    },
    ...more,
  })
  const session = await world.open()
  const steer: Summarised['steer'] = async (options) => {
    const turn = session.send('go', { inputId: 'go' })
    turn.answer.catch(() => {})
    await world.time.settle()
    session.send('also', { inputId: 'also', delivery: 'steer', ...options }).answer.catch(() => {})
    await world.time.settle()
    gate.resolve('found')
    for (let turns = 0; turns < 100 && !isSummarised; turns += 1) await world.time.settle()
    return turn
  }
  return { ...world, session, steer }
}

/** Roles and texts of what the model read last; `tool` for results. */
function readTold({ model }: TestWorld): readonly string[] {
  return (model.requests.at(-1)?.messages ?? []).map(({ role, parts }) =>
    role === 'tool' ? role : `${role}: ${parts.map((part) => (part.type === 'text' ? part.text : part.type)).join()}`,
  )
}

const STEP = ['assistant: call', 'tool']

test('the signal of a message that steered before the summary ends its turn', async () => {
  const { session, steer, time, facts } = await openSummarised({ text: 'A long', hangs: 'until-aborted' })
  const abort = new AbortController()
  const turn = await steer({ signal: abort.signal })
  await time.settle()
  expect(await facts('summary-finished')).toHaveLength(1)
  abort.abort()
  expect((await time.until(turn.answer)).outcome).toBe('interrupted')
  await session.close()
})

test('a message that was summarised, taken back late, ends no other turn than its own', async () => {
  const { session, steer, time } = await openSummarised({ text: 'Done.', pieceMs: 100 })
  await time.until((await steer()).answer)
  const next = session.send('next')
  await time.settle()
  await frontOf(session).takeBack('also')
  expect((await time.until(next.answer)).outcome).toBe('answered')
})

const FIRST: readonly (readonly [string, boolean])[] = [
  ['of the first turn', false],
  ['of a later turn', true],
]

test.each(FIRST)('a message that steered before the summary is asked again, %s', async (_, isLater) => {
  const world = await openSummarised({ text: 'Done.' })
  const { session, time } = world
  if (isLater) await time.until(session.send('hello').answer)
  const turn = await world.steer()
  await time.until(turn.answer)
  expect(await world.facts('summary-finished')).toHaveLength(1)
  expect(await time.until(session.rewind({ message: 'also', again: true }))).toMatchObject({ turn: 'also' })
  expect((await time.until(session.turn('also').answer)).text).toBe('Done.')
  const before = isLater ? ['user: hello', 'assistant: Hello!'] : []
  expect(readTold(world)).toEqual([...before, 'user: go', ...STEP, 'user: also'])
})

test.each(FIRST)('the model keeps what it did before a message that is replaced, %s', async (_, isLater) => {
  const world = await openSummarised({ text: 'Done.' })
  const { session, time } = world
  if (isLater) await time.until(session.send('hello').answer)
  await time.until((await world.steer()).answer)
  await time.until(session.rewind({ message: 'also', replace: 'instead', inputId: 'instead' }))
  expect((await time.until(session.turn('instead').answer)).text).toBe('Done.')
  const before = isLater ? ['user: hello', 'assistant: Hello!'] : []
  expect(readTold(world)).toEqual([...before, 'user: go', ...STEP, 'user: instead'])
})

test.each(FIRST)(
  'the first message of a summarised turn is asked again with those that steered, %s',
  async (_, isLater) => {
    const world = await openSummarised({ text: 'Done.' })
    const { session, time } = world
    if (isLater) await time.until(session.send('hello').answer)
    await time.until((await world.steer()).answer)
    await time.until(session.rewind({ message: 'go', again: true }))
    await time.until(session.turn('go').answer)
    const before = isLater ? ['user: hello', 'assistant: Hello!'] : []
    expect(readTold(world)).toEqual([...before, 'user: go', 'user: also'])
  },
)

test('an answer that was cut to nothing is not told after a rewind', async () => {
  const world = await openSummarised({ text: 'Done.' })
  const { session, time } = world
  await time.until((await world.steer()).answer)
  await time.until(session.interrupt({ heard: { type: 'none' } }))
  await time.until(session.send('next', { inputId: 'next' }).answer)
  expect(readTold(world)).not.toContain('assistant: Done.')
  await time.until(session.rewind({ message: 'next', replace: 'other', inputId: 'other' }))
  await time.until(session.turn('other').answer)
  expect(readTold(world)).not.toContain('assistant: Done.')
})
