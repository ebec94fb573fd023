// A reader that starts in the middle sees the same later events as a reader from the beginning.
import { frontOf } from '@baton/core/internal'
import type { Session, SessionEvent } from '@baton/core'
import { tool } from '@baton/core'
import { expect, test } from 'vitest'
import type { TestWorld, TestWorldOptions } from './test-world.test-kit.ts'
import {
  act,
  createProcess,
  createSharedStore,
  createTestWorld,
  LEASE_MS,
  listCalls,
  noUnhandledRejections,
  connectApp,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const look = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, effect: 'pure', timeoutMs: 60_000 })
const done = { type: 'ok', content: [{ type: 'text', text: 'seen' }] } as const

interface Moment {
  /** The model writes, which the death of a process does not stop here. */
  readonly isWriting?: true
  readonly init: Partial<TestWorldOptions>
  /** Runs before the second reader starts. */
  readonly before: (session: Session, world: TestWorld) => Promise<unknown>
  /** Runs from there to the end. */
  readonly after: (session: Session, world: TestWorld) => Promise<unknown>
}

async function firstCall(world: TestWorld): Promise<string> {
  return (await world.facts('step-finished')).at(-1)?.calls[0]?.callId ?? ''
}

/** A tool that runs until the test opens its gate. */
function createGated(more: Parameters<typeof act>[1] = {}) {
  const gate = Promise.withResolvers<string>()
  return { tool: act(() => gate.promise, more), open: () => gate.resolve('found') }
}

function connect(session: Session) {
  return connectApp(session, { connection: 'app', claims: true, asks: true })
}

const MOMENTS: Readonly<Record<string, () => Moment>> = {
  'a call whose arguments a person changed runs': () => {
    const { tool, open } = createGated({ approval: true })
    return {
      init: { tools: [tool], steps: [listCalls('act'), { text: 'done' }] },
      before: async (session) => {
        const [request] = await session.approvals()
        await session.decide({ approvalId: request?.approvalId ?? '', decision: 'edit', input: { b: 2 } })
      },
      after: async () => open(),
    }
  },
  'a call waits for a person': () => ({
    init: { tools: [act(() => 'ok', { approval: true })], steps: [listCalls('act'), { text: 'done' }] },
    before: async () => {},
    after: async (session) => {
      const [request] = await session.approvals()
      await session.decide({ approvalId: request?.approvalId ?? '', decision: 'deny' })
    },
  }),
  'an answer waits for people who were named': () => ({
    init: { steps: [{ text: 'All is well.' }], checkAnswer: () => ({ ask: 'Is it?', by: [{ id: 'mod' }] }) },
    before: async () => {},
    after: (session, { time }) => time.until(session.interrupt()),
  }),
  'an app was asked to run a call': () => ({
    init: { tools: [look], steps: [listCalls('look'), { text: 'done' }] },
    before: (session) => connect(session).attach(),
    after: async (session, world) => await connect(session).result(await firstCall(world), done),
  }),
  'a call waits for an app to come': () => ({
    init: { tools: [look], steps: [listCalls('look'), { text: 'done' }] },
    before: async () => {},
    after: async (session, world) => {
      await connect(session).attach()
      await connect(session).result(await firstCall(world), done)
    },
  }),
  'an app has claimed a call and left': () => ({
    init: { tools: [look], steps: [listCalls('look'), { text: 'done' }] },
    before: async (session, { time }) => {
      const phone = await time.until(frontOf(session).client({ client: 'phone', leaseMs: 1000 }))
      await time.settle()
      await phone.claim(phone.calls()[0]?.callId ?? '')
      await time.pass(1001)
    },
    after: async (session, world) => {
      await connect(session).attach()
      await connect(session).result(await firstCall(world), done)
    },
  }),
  'a tool waits for an answer': () => {
    const ask = act(async (_, context) => await context.ask({ message: 'Which?', schema: { type: 'object' } }))
    return {
      init: { tools: [ask], steps: [listCalls('act'), { text: 'done' }] },
      before: async () => {},
      after: async (session) => {
        const [question] = await session.questions()
        await session.answer({ questionId: question?.questionId ?? '', value: { this: 'one' } })
      },
    }
  },
  'a tool of an interrupted turn still runs': () => {
    const { tool, open } = createGated({ onInterrupt: 'finish' })
    return {
      init: { tools: [tool], steps: [listCalls('act'), { text: 'done' }] },
      before: (session, { time }) => time.until(session.interrupt()),
      after: async (session) => {
        open()
        await session.send('and?').answer
      },
    }
  },
  'an answer is being written': () => ({
    isWriting: true,
    init: { steps: [{ text: 'All is well.', pieceMs: 1000 }] },
    before: (_, { time }) => time.pass(1500),
    after: async () => {},
  }),
  'a session is paused': () => ({
    init: { steps: () => ({ text: 'All is well.', pieceMs: 1000 }) },
    before: (session) => frontOf(session).control('pause'),
    after: async (session) => {
      await session.describe({ title: 'Paused' })
      await frontOf(session).control('continue')
    },
  }),
  'an answer has been given, and its voice still speaks': () => ({
    init: { tools: [act(() => 'ok')], steps: [{ text: 'One moment.', ...listCalls('act') }, { text: 'All is well.' }] },
    before: async () => {},
    after: (session) => session.interrupt({ heard: { type: 'chars', chars: 3 } }),
  }),
  'most of a limit is used, and that was told': () => {
    const { tool, open } = createGated()
    return {
      init: { limits: { callsPerTurn: 1 }, tools: [tool], steps: [listCalls('act'), { text: 'done' }] },
      before: async () => {},
      after: async () => open(),
    }
  },
  'a second answer is written behind a call': () => ({
    isWriting: true,
    init: {
      tools: [act(() => 'ok')],
      steps: [
        { text: 'One moment.', ...listCalls('act') },
        { text: 'All is well.', pieceMs: 1000 },
      ],
    },
    before: (_, { time }) => time.pass(1500),
    after: (session, { time }) => time.until(session.interrupt()),
  }),
}

test.each(Object.entries(MOMENTS))('%s', async (_, make) => {
  const { init, before, after } = make()
  const world = createTestWorld({ steps: [], ...init })
  await compareReaders(await begin(world, init, before), { world, after })
})

// There the projection of the session begins in the middle too.
test.each(Object.entries(MOMENTS).filter(([, make]) => !make().isWriting))(
  '%s, and its process dies',
  async (_, make) => {
    const { init, before, after } = make()
    const { time, store } = createSharedStore()
    const dead = createProcess(time, store, { steps: [], ...init })
    await begin(dead, init, before)
    dead.die()
    await time.pass(2 * LEASE_MS)
    const { steps = [] } = init
    const finished = (await dead.facts('step-finished')).length
    const left = typeof steps === 'function' ? steps : steps.slice(finished)
    const world = createProcess(time, store, { ...init, steps: left })
    await compareReaders(await world.open(), { world, after })
  },
)

async function begin(world: TestWorld, init: Partial<TestWorldOptions>, before: Moment['before']): Promise<Session> {
  const session = await world.open()
  await connect(session).attach() // makes a client known that can be asked
  await connect(session).detach()
  if (init.tools?.some((one) => (one as { name: string }).name === 'act')) await connect(session).attach()
  await world.time.until(connect(session).say('go', [{ type: 'text', text: 'go' }]))
  await world.time.settle()
  await before(session, world)
  await world.time.settle()
  return session
}

async function compareReaders(
  session: Session,
  { world, after }: { readonly world: TestWorld } & Pick<Moment, 'after'>,
): Promise<void> {
  const fromNow = collectEvents(session, 'now')
  const head = (await session.info()).head
  await after(session, world)
  await world.time.until(session.turn('go').answer.catch(() => {}))
  await world.time.pass(10_000)
  const all = collectEvents(session, 'start')
  await world.time.settle()
  await session.close()
  const told = await fromNow
  const later = (events: readonly SessionEvent[]) =>
    events
      .filter(({ cursor: { pos, read } }) => pos > head.pos || (pos === head.pos && read !== undefined))
      .flatMap(readBody)
  expect(later(told).length).toBeGreaterThan(0)
  expect(later(told)).toEqual(later(await all))
}

/** Leaves out what depends on where a reading began: how text is split, and `live`. */
function readBody(event: SessionEvent): readonly object[] {
  return event.type === 'text' || event.type === 'live' ? [] : [{ ...event, cursor: undefined }]
}

async function collectEvents(session: Session, from: 'now' | 'start'): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = []
  for await (const event of session.events({ from })) events.push(event)
  return events
}
