// Sessions without an open handle: how long they stay in memory, and how other hosts take them meanwhile.
import type { AgentOptions, Session, Store, Tool, ToolSource } from '@baton/core/internal'
import { defineAgent } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import type { TestWorld, TestWorldOptions } from './test-world.test-kit.ts'
import {
  act,
  createManualTime,
  createProcess,
  createSharedStore,
  createTestWorld,
  listSessions,
  noUnhandledRejections,
  ownStore,
  resultsTold,
  SESSION,
  textsTold,
} from './test-world.test-kit.ts'

noUnhandledRejections()

/** Milliseconds that a session lingers by default. */
const LINGER_MS = 60_000
const HANGS = { hangs: 'for-ever' } as const
const answer: TestWorldOptions['steps'] = () => ({ text: 'answer' })

/** A store that notes what a host does with logs. */
function watchStore(store: Store) {
  const acts: string[] = []
  const noting =
    <Given extends readonly unknown[], Value>(name: string, act: (...given: Given) => Value) =>
    (...given: Given): Value => {
      acts.push(name)
      return act(...given)
    }
  const watched: Store = {
    ...store,
    acquire: noting('acquire', store.acquire),
    append: noting('append', store.append),
    release: noting('release', store.release),
    read: noting('read', store.read),
    snapshots: { ...store.snapshots, latest: noting('snapshot', store.snapshots.latest) },
  }
  return { acts, store: watched, take: () => acts.splice(0) }
}

/** Sends one message as a chat does: the session is opened for it, and let go after the answer. */
async function say(world: Pick<TestWorld, 'host' | 'time'>, text: string, name = SESSION): Promise<string> {
  const session = await world.time.until(world.host.session(name))
  const { text: said } = await world.time.until(session.send(text).answer)
  await session.close()
  await world.time.settle()
  return said
}

test('a chat of 60 messages reads its log once, and writes what a session held open writes', async () => {
  const { store, take } = watchStore(ownStore())
  const chat = createTestWorld({ store, steps: answer })
  await say(chat, 'message 0')
  expect(take().filter((act) => act !== 'append')).toEqual(['acquire', 'snapshot', 'read'])
  for (let n = 1; n < 60; n++) await say(chat, `message ${n}`)
  const held = watchStore(ownStore())
  const other = createTestWorld({ store: held.store, steps: answer })
  const session = await other.open()
  await other.time.until(session.send('message 0').answer)
  held.take()
  for (let n = 1; n < 60; n++) await other.time.until(session.send(`message ${n}`).answer)
  expect(take()).toEqual(held.take())
  const inputs = async ({ records }: TestWorld) => (await records()).map(({ input, epoch }) => [input.type, epoch])
  expect(await inputs(chat)).toEqual(await inputs(other))
  expect(chat.model.requests.at(-1)?.messages).toEqual(other.model.requests.at(-1)?.messages)
})

test('a session is released a minute after its last message, and the next message opens it from its log', async () => {
  const { store, take } = watchStore(ownStore())
  const world = createTestWorld({ store, steps: answer })
  await say(world, 'one')
  await world.time.pass(LINGER_MS - 1)
  await say(world, 'two')
  take()
  await world.time.pass(LINGER_MS - 1)
  expect(take()).toEqual([])
  await world.time.pass(1)
  expect(take()).toEqual(['release'])
  expect(world.time.pending()).toBe(0)
  await say(world, 'three')
  expect(take().slice(0, 3)).toEqual(['acquire', 'snapshot', 'read'])
  expect(textsTold(world.model, 'user')).toEqual(['one', 'two', 'three'])
})

test('lingerMs sets the time, and 0 closes a session as soon as it rests', async () => {
  const { store, take } = watchStore(ownStore())
  const short = createTestWorld({ store, steps: answer, host: { lingerMs: 5 } })
  await say(short, 'one')
  take()
  await short.time.pass(5)
  expect(take()).toEqual(['release'])
  const none = createTestWorld({ store, steps: answer, host: { lingerMs: 0 } })
  await say(none, 'two')
  expect(take().at(-1)).toBe('release')
  expect(none.time.pending()).toBe(0)
})

test.each([-1, Number.NaN, 3_600_001, '60000', null])('lingerMs of %s is refused', (lingerMs) => {
  expect(() => createTestWorld({ steps: answer, host: { lingerMs: lingerMs as number } })).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining('from 0 to 3600000') }),
  )
})

test('a thousand sessions linger, and beyond that the oldest leave', async () => {
  const released: string[] = []
  const disk = ownStore()
  const release: Store['release'] = (session, ...given) => {
    released.push(session)
    return disk.release(session, ...given)
  }
  const world = createTestWorld({ store: { ...disk, release }, steps: answer })
  const letGo = async (name: string): Promise<void> => {
    await (await world.host.session(name)).close()
  }
  for (let n = 0; n < 1000; n++) await letGo(`s${n}`)
  await letGo('s0') // now the newest
  expect(released).toEqual([])
  await letGo('s1000')
  await letGo('s1001')
  await world.time.settle()
  expect(released).toEqual(['s1', 's2'])
  expect(world.time.pending()).toBe(1)
})

test('sessions of 64 MiB linger, and beyond that the oldest leave', async () => {
  const released: string[] = []
  const disk = ownStore()
  const release: Store['release'] = (session, ...given) => {
    released.push(session)
    return disk.release(session, ...given)
  }
  const long = 'x'.repeat(10_000_000) // 20 MB as UTF-16
  const world = createTestWorld({
    store: { ...disk, release },
    steps: answer,
    limits: { inputChars: 20_000_000, queueChars: 20_000_000 },
    window: { contextTokens: 50_000_000 },
  })
  for (const name of ['a', 'b', 'c']) await say(world, long, name)
  expect(released).toEqual([])
  await say(world, long, 'd')
  expect(released).toEqual(['a'])
})

test('a session that is woken again and again counts once', async () => {
  const released: string[] = []
  const disk = ownStore()
  const release: Store['release'] = (session, ...given) => {
    released.push(session)
    return disk.release(session, ...given)
  }
  const world = createTestWorld({
    store: { ...disk, release },
    steps: answer,
    limits: { inputChars: 20_000_000, queueChars: 20_000_000 },
    window: { contextTokens: 50_000_000 },
  })
  await say(world, 'x'.repeat(10_000_000)) // 20 MB as UTF-16
  for (let n = 0; n < 5; n += 1) await say(world, `message ${n}`)
  expect(released).toEqual([])
})

test('another host continues a lingering chat at once, and the first one reads what was said there', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: answer })
  const two = createProcess(time, store, { steps: () => ({ text: 'from two' }) })
  await say(one, 'first')
  const startMs = time.nowMs()
  const session = await two.host.session(SESSION) // without any wait
  expect((await session.send('second').answer).text).toBe('from two')
  expect(time.nowMs()).toBe(startMs)
  await expect(one.host.session(SESSION)).rejects.toMatchObject({ code: 'session_held' })
  await session.close()
  await time.settle()
  expect(await say(one, 'third')).toBe('answer')
  const texts = one.model.requests.at(-1)?.messages.map(({ parts }) => JSON.stringify(parts)) ?? []
  expect(texts.map((text) => /first|answer|second|from two|third/.exec(text)?.[0])).toEqual([
    'first',
    'answer',
    'second',
    'from two',
    'third',
  ])
  expect((await one.records()).map(({ pos }) => pos)).toEqual((await one.records()).map((_, index) => index))
})

test('a chat that moves between two hosts with every message loses nothing and is never refused', async () => {
  const { time, store } = createSharedStore()
  const hosts = [0, 1].map(() => createProcess(time, store, { steps: answer }))
  for (let n = 0; n < 10; n++) expect(await say(hosts[n % 2]!, `message ${n}`)).toBe('answer')
  const last = hosts[1]?.model.requests.at(-1)?.messages.filter(({ role }) => role === 'user') ?? []
  expect(last.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')).join(''))).toEqual(
    Array.from({ length: 10 }, (_, n) => expect.stringContaining(`message ${n}`)),
  )
  expect((await hosts[0]!.facts('turn-finished')).length).toBe(10)
})

test('a host that lingers on a session cannot release it from under its next owner', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: answer })
  const two = createProcess(time, store, { steps: () => ({ text: 'slow', pieceMs: 100_000 }) })
  await say(one, 'first')
  const session = await time.until(two.host.session(SESSION))
  const { answer: slow } = session.send('second')
  await time.pass(LINGER_MS)
  const [{ holder, isOwned } = {}] = await listSessions(store)
  expect([holder !== undefined, isOwned]).toEqual([true, true])
  expect((await time.until(slow)).text).toBe('slow')
})

test('a lingering session has no holder, and no sweep takes it for work', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: answer })
  const two = createProcess(time, store, { steps: answer })
  await say(one, 'first')
  expect(await listSessions(store)).toMatchObject([{ session: SESSION, isOwned: false }])
  expect((await listSessions(store))[0]).not.toHaveProperty('holder')
  expect(await time.until(two.host.recover())).toEqual({ recovered: 0, failed: 0 })
  expect(await time.until(one.host.recover())).toEqual({ recovered: 0, failed: 0 })
  await say(one, 'second')
  expect(new Set((await one.records()).map(({ epoch }) => epoch)).size).toBe(1)
})

test('a turn that began on a lingering session is recovered when its host dies', async () => {
  const { time, store } = createSharedStore()
  const dead = createProcess(time, store, { steps: (_, call) => (call === 0 ? { text: 'one' } : HANGS) })
  await say(dead, 'first')
  const session = await time.until(dead.host.session(SESSION))
  session.send('second').answer.catch(() => {})
  await time.settle()
  dead.die()
  await time.pass(20_000)
  const next = createProcess(time, store, { steps: answer })
  expect(await time.until(next.host.recover())).toEqual({ recovered: 1, failed: 0 })
  await time.pass(1000)
  expect((await next.facts('turn-finished')).map(({ outcome }) => outcome)).toEqual(['answered', 'answered'])
})

test.each(['the same host', 'another host'])(
  'a lingering session is removed by %s, and the next message begins anew',
  async (who) => {
    const { time, store } = createSharedStore()
    const one = createProcess(time, store, { steps: answer })
    const two = createProcess(time, store, { steps: answer })
    await say(one, 'first')
    await time.until((who === 'the same host' ? one : two).host.remove(SESSION))
    expect(await listSessions(store)).toEqual([])
    expect(time.pending()).toBe(who === 'the same host' ? 0 : 1) // the other one learns it when it asks
    await say(one, 'second')
    expect(textsTold(one.model, 'user')).toEqual(['second'])
    await time.pass(LINGER_MS)
    expect((await one.records()).filter(({ input }) => input.type === 'user-input')).toHaveLength(1)
  },
)

test('retention removes a session that only lingers', async () => {
  const store = ownStore()
  const world = createTestWorld({ store, steps: answer, host: { retentionMs: 1000, lingerMs: 3_600_000 } })
  await world.time.pass(10_000)
  await say(world, 'first')
  await world.time.pass(3_590_000) // the hourly look; it lingers for another 10 s
  expect(await listSessions(store)).toEqual([])
  await say(world, 'second')
  expect(textsTold(world.model, 'user')).toEqual(['second'])
})

test('a host that stops releases what lingers at once, with its snapshot, and leaves no timer', async () => {
  const time = createManualTime()
  const store = createMemoryStore({ clock: time.environment.clock })
  const world = createTestWorld({ time, store, steps: answer, host: { snapshotRecords: 8 } })
  await say(world, 'first')
  const startMs = time.nowMs()
  await world.host.stop()
  expect([time.nowMs() - startMs, time.pending()]).toEqual([0, 0])
  expect((await listSessions(store)).map(({ isOwned }) => isOwned)).toEqual([false])
  expect((await store.snapshots.latest(SESSION))?.state.pos).toBe((await world.records()).length - 1)
})

test.each(['continued', 'removed'])(
  'a session that another host has %s gets no snapshot of the host where it lingered',
  async (how) => {
    const { time, store } = createSharedStore()
    const puts: number[] = []
    const put: Store['snapshots']['put'] = (session, snapshot) => {
      puts.push(snapshot.state.pos)
      return store.snapshots.put(session, snapshot)
    }
    const noted = { ...store, snapshots: { ...store.snapshots, put } }
    const one = createProcess(time, noted, { steps: answer, host: { snapshotRecords: 8 } })
    const two = createProcess(time, store, { steps: answer, host: { snapshotRecords: 8 } })
    await say(one, 'first')
    if (how === 'continued') await say(two, 'second')
    else await time.until(two.host.remove(SESSION))
    await time.pass(LINGER_MS)
    expect(puts).toEqual([])
    await say(one, 'third')
    await time.pass(LINGER_MS)
    expect(puts).toEqual([(await one.records()).length - 1])
  },
)

test('each session lingers for its own minute', async () => {
  const { store, take } = watchStore(ownStore())
  const world = createTestWorld({ store, steps: answer })
  await say(world, 'one', 'a')
  await world.time.pass(40_000)
  await say(world, 'one', 'b')
  await say(world, 'two', 'a')
  await world.time.pass(40_000)
  await say(world, 'two', 'b')
  take()
  await world.time.pass(20_000)
  expect(take()).toEqual(['release'])
  await world.time.pass(39_999)
  expect(take()).toEqual([])
  await world.time.pass(1)
  expect(take()).toEqual(['release'])
})

test('timers of lingering sessions keep no process alive', async () => {
  const time = createManualTime()
  const started: boolean[] = []
  const start: typeof time.environment.timers.start = (delayMs, callback, options) => {
    if (delayMs === LINGER_MS) started.push(options?.isBackground === true)
    return time.environment.timers.start(delayMs, callback, options)
  }
  const environment = { ...time.environment, timers: { start } }
  const world = createTestWorld({ time, steps: answer, host: { environment } })
  await say(world, 'first')
  expect(started).toEqual([true])
})

const named = (name: string, more: Partial<AgentOptions> = {}) =>
  defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: name }) }), ...more })

test('agentOf is asked for every message, also on a lingering session', async () => {
  let chosen = named('one')
  const asked: string[] = []
  const agentOf = ({ id }: { readonly id: string }) => {
    asked.push(id)
    return chosen
  }
  const { store, take } = watchStore(ownStore())
  const world = createTestWorld({ store, steps: answer, host: { agentOf } })
  expect(await say(world, 'first')).toBe('one')
  take()
  chosen = named('two', { instructions: 'Be brief.' })
  expect(await say(world, 'second')).toBe('two')
  expect(asked).toEqual([SESSION, SESSION])
  expect(take()).not.toContain('read')
  const failing = { code: 'invalid_agent' }
  chosen = {} as typeof chosen
  await expect(world.time.until(world.host.session(SESSION))).rejects.toMatchObject(failing)
  chosen = named('three')
  expect(await say(world, 'third')).toBe('three')
})

test('an agent that was passed for one message is not that of the next one', async () => {
  const world = createTestWorld({ steps: answer })
  const session = await world.host.session(SESSION, { agent: named('passed') })
  expect((await world.time.until(session.send('first').answer)).text).toBe('passed')
  await session.close()
  expect(await say(world, 'second')).toBe('answer')
})

test('who does not own a lingering session cannot give it another agent', async () => {
  const world = createTestWorld({ steps: answer })
  const session = await world.host.session(SESSION, { principal: { id: 'ann' } })
  await world.time.until(session.send('first').answer)
  await session.close()
  await world.time.settle()
  const asked = world.host.session(SESSION, { principal: { id: 'ben' }, agent: named('another') })
  await expect(world.time.until(asked)).rejects.toMatchObject({ code: 'unauthorized' })
  const again = await world.time.until(world.host.session(SESSION, { principal: { id: 'ann' } }))
  expect((await world.time.until(again.send('second').answer)).text).toBe('answer')
  expect(await world.facts('agent-changed')).toEqual([])
})

test('a tool that a woken session calls returns', async () => {
  const steps: TestWorldOptions['steps'] = [
    { text: 'one' },
    { calls: [{ name: 'act', arguments: {} }] },
    { text: 'two' },
  ]
  const world = createTestWorld({ tools: [act(() => 'here')], steps })
  expect(await say(world, 'first')).toBe('one')
  expect(await say(world, 'second')).toBe('two')
  expect(resultsTold(world.model)).toEqual([{ isError: false, text: 'here' }])
})

test('what agentOf made for a session is freed as soon as the session rests', async () => {
  let disposed = 0
  const agent = named('one')
  const agentOf = () => ({ agent, dispose: () => void (disposed += 1) })
  const world = createTestWorld({ steps: answer, host: { agentOf } })
  await say(world, 'first')
  expect([disposed, world.time.pending()]).toEqual([1, 0])
})

test('tools that change while a session lingers close it at once, and its next message has them', async () => {
  let tools: readonly Tool[] = []
  let tell = (): void => {}
  const source: ToolSource = {
    name: 'shelf',
    list: () => Promise.resolve(tools),
    onChange: (listener) => {
      tell = listener
      return () => {}
    },
  }
  const { store, take } = watchStore(ownStore())
  const world = createTestWorld({ store, steps: answer, sources: [source] })
  await say(world, 'first')
  expect(take()).not.toContain('release')
  tools = [act(() => 'found', { name: 'look' })]
  tell()
  await world.time.settle()
  expect([take(), world.time.pending()]).toEqual([['release'], 0])
  await say(world, 'second')
  expect(world.model.requests.map((request) => request.tools.map(({ name }) => name))).toEqual([
    [],
    expect.arrayContaining(['look']),
  ])
})

test('a list shows what another host did to a lingering session', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: answer })
  const two = createProcess(time, store, { steps: answer })
  await say(one, 'first')
  const session: Session = await time.until(two.host.session(SESSION))
  await session.describe({ title: 'renamed' })
  expect((await one.host.sessions()).sessions.map(({ title }) => title)).toEqual(['renamed'])
})

test('a store that cannot let sessions rest has them closed at once', async () => {
  const { rest, resume, ...disk } = ownStore()
  expect([typeof rest, typeof resume]).toEqual(['function', 'function'])
  const { store, take } = watchStore(disk)
  const world = createTestWorld({ store, steps: answer })
  await say(world, 'first')
  expect(take().at(-1)).toBe('release')
  expect(world.time.pending()).toBe(0)
  await say(world, 'second')
  expect(textsTold(world.model, 'user')).toEqual(['first', 'second'])
})

test.each(['rest', 'resume'] as const)('a store that fails at %s costs no message', async (act) => {
  const disk = ownStore()
  let isAway = true
  const failing: Store = {
    ...disk,
    rest: (...given) => (isAway && act === 'rest' ? Promise.reject(new Error('away')) : disk.rest!(...given)),
    resume: (...given) => (isAway && act === 'resume' ? Promise.reject(new Error('away')) : disk.resume!(...given)),
  }
  const world = createTestWorld({ store: failing, steps: answer })
  await say(world, 'first')
  const outcome = await say(world, 'second').catch((cause: unknown) => (cause as { readonly code?: string }).code)
  expect(outcome).toBe(act === 'rest' ? 'answer' : 'store_failed')
  isAway = false
  await say(world, 'third')
  expect(textsTold(world.model, 'user').filter((text) => text !== 'second')).toEqual(['first', 'third'])
})

test('two messages at once wake a lingering session once', async () => {
  const disk = ownStore()
  let resumed = 0
  const resume: Store['resume'] = (...given) => {
    resumed += 1
    return disk.resume!(...given)
  }
  const world = createTestWorld({ store: { ...disk, resume }, steps: answer })
  await say(world, 'first')
  const [one, two] = await Promise.all([world.host.session(SESSION), world.host.session(SESSION)])
  await world.time.until(Promise.all([one.send('second').answer, two.send('third').answer]))
  expect(resumed).toBe(1)
  await one.close()
  expect((await world.time.until(two.send('fourth').answer)).text).toBe('answer')
})
