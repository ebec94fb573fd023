// How a host keeps sessions: recovery at startup, snapshots, retention, removal, export and import.
import { frontOf } from '@baton/core/internal'
import type { Store } from '@baton/core'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { exportSession, importSession } from '../stores/transfer.ts'
import {
  act,
  listCalls,
  createManualTime,
  createProcess,
  createTestWorld,
  never,
  noUnhandledRejections,
  ownStore,
  SESSION,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const DAY_MS = 86_400_000

async function owned(store: Store): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { session, isOwned } of store.list()) if (isOwned) names.push(session)
  return names
}

async function listLines(store: Store, session = SESSION): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of exportSession(store, session)) lines.push(line)
  return lines
}

test('a turn that a dead host left goes on as soon as another one starts, without its user', async () => {
  const time = createManualTime()
  const store = ownStore()
  const dead = createTestWorld({ time, store, tools: [act(never)], steps: [listCalls('act')] })
  const session = await dead.open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  store.expireLeases()
  const next = createTestWorld({ time, store, tools: [act(() => 'fine')], steps: [{ text: 'done' }] })
  expect(await time.until(next.host.recover())).toEqual({ recovered: 1, failed: 0 })
  await time.pass(1000)
  expect(await next.facts('turn-finished')).toMatchObject([{ outcome: 'answered' }])
  expect(await owned(store)).toEqual([SESSION])
  await time.pass(60_000)
  expect(await owned(store)).toEqual([])
  await time.pass(60_000)
  expect(time.pending()).toBe(0)
})

test('a recovery under way when its host begins to stop opens nothing more', async () => {
  const time = createManualTime()
  const disk = ownStore()
  const dead = createTestWorld({ time, store: disk, tools: [act(never)], steps: [listCalls('act')] })
  const session = await dead.open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  disk.expireLeases()
  const gate = Promise.withResolvers<void>()
  const get: Store['entries']['get'] = async (name) => {
    if (name === SESSION) await gate.promise
    return await disk.entries.get(name)
  }
  const store = { ...disk, entries: { ...disk.entries, get } }
  const next = createTestWorld({ time, store, steps: () => ({ text: 'slow', pieceMs: 60_000 }) })
  const running = (await time.until(next.host.session('running'))).send('go')
  const recovered = next.host.recover()
  await time.settle()
  const stopped = next.host.stop({ drainMs: 3_600_000 })
  gate.resolve()
  expect(await time.until(recovered)).toEqual({ recovered: 0, failed: 1 })
  expect((await time.until(running.answer)).text).toBe('slow')
  await time.until(stopped)
  expect(next.model.requests).toHaveLength(1)
})

test('an idle session is not opened by recovery; one with an unreadable log is reported and skipped', async () => {
  const store = createMemoryStore()
  const world = createTestWorld({ store, steps: () => ({ text: 'answer' }) })
  const session = await world.open()
  await world.time.until(session.send('go').answer)
  await session.close()
  const next = createTestWorld({ store, time: world.time, steps: [] })
  await store.restore('broken', [{ ...(await world.records())[0]!, facts: [] }])
  expect(await world.time.until(next.host.recover())).toEqual({ recovered: 0, failed: 1 })
  expect(next.warnings).toEqual(['a session could not be recovered'])
})

test('a recovery leaves the sessions of another agent as they are, and keeps each principal', async () => {
  const store = ownStore()
  const time = createManualTime()
  const dead = createTestWorld({ time, store, name: 'first', steps: () => ({ text: 'late', pieceMs: 5000 }) })
  const session = await time.until(dead.host.session(SESSION, { principal: { id: 'ann' } }))
  session.send('go').answer.catch(() => {})
  await time.settle()
  store.expireLeases()
  const other = createTestWorld({ time, store, name: 'second', steps: [] })
  expect(await time.until(other.host.recover())).toEqual({ recovered: 0, failed: 0 })
  const same = createTestWorld({ time, store, name: 'first', steps: () => ({ text: 'late' }) })
  expect(await time.until(same.host.recover())).toEqual({ recovered: 1, failed: 0 })
  await expect(same.host.session(SESSION, { principal: { id: 'bob' } })).rejects.toMatchObject({ code: 'unauthorized' })
})

test('tools of a reopened session run for its owner, whoever opens it', async () => {
  const store = ownStore()
  const time = createManualTime()
  const principals: string[] = []
  const dead = createTestWorld({ time, store, tools: [act(never)], steps: [listCalls('act')] })
  const session = await time.until(dead.host.session(SESSION, { principal: { id: 'ann' } }))
  session.send('go').answer.catch(() => {})
  await time.settle()
  store.expireLeases()
  const note = act((_, { principal }) => void principals.push(principal.id))
  const next = createTestWorld({ time, store, tools: [note], steps: [{ text: 'done' }] })
  const intruder = next.host.session(SESSION, { principal: { id: 'bob' } })
  await expect(time.until(intruder)).rejects.toMatchObject({ code: 'unauthorized' })
  await time.pass(1000)
  expect(principals).toEqual(['ann'])
})

test('a host that stops while a turn runs leaves it to the next one; sessions at rest are released', async () => {
  const world = createTestWorld({ steps: [{ text: 'one' }, { text: 'two', pieceMs: 10_000 }] })
  const session = await world.open()
  await world.time.until(session.send('go').answer)
  const rests = await world.time.until(world.host.session('resting'))
  expect(frontOf(rests).phase).toBe('idle')
  session.send('again').answer.catch(() => {})
  await world.time.settle()
  await session.close()
  await world.time.until(world.host.stop())
  expect(await owned(world.store)).toEqual([SESSION])
})

test('a stopped host does not keep its process alive, even with released sessions that still work', async () => {
  const world = createTestWorld({ tools: [act(never)], steps: [listCalls('act')] })
  const session = await world.open()
  session.send('go').answer.catch(() => {})
  await world.time.settle()
  await session.close()
  await world.time.until(world.host.stop())
  expect(world.time.pending()).toBe(0)
})

test('an input whose store hangs keeps its session open until it is decided', async () => {
  const disk = createMemoryStore()
  const gate = Promise.withResolvers<void>()
  let hangs = false
  const store: Store = {
    ...disk,
    append: async (...request) => {
      if (hangs) await gate.promise
      return await disk.append(...request)
    },
  }
  const world = createTestWorld({ store, steps: () => ({ text: 'answer' }) })
  const session = await world.open()
  hangs = true
  session.send('go').answer.catch(() => {})
  await session.close()
  gate.resolve()
  await world.time.pass(1000)
  expect(await world.facts('turn-finished')).toMatchObject([{ outcome: 'answered' }])
})

test('a session is opened from its snapshot: the records before it are not read, and nothing is forgotten', async () => {
  const disk = createMemoryStore()
  const readFrom: number[] = []
  const store: Store = {
    ...disk,
    read: (session, fromPos) => {
      readFrom.push(fromPos)
      return disk.read(session, fromPos)
    },
  }
  const options = { host: { snapshotRecords: 10 }, steps: () => ({ text: 'answer' }) }
  const world = createTestWorld({ store, ...options })
  const session = await world.open()
  for (const said of ['one', 'two', 'three']) await world.time.until(session.send(said).answer)
  await world.time.until(world.host.stop())
  readFrom.length = 0
  const next = createTestWorld({ store, time: world.time, ...options })
  const again = await next.open()
  expect(readFrom).toEqual([expect.any(Number)])
  expect(readFrom[0]).toBeGreaterThan(5)
  await next.time.until(again.send('four').answer)
  const told = next.model.requests[0]?.messages.filter(({ role }) => role === 'user')
  expect(JSON.stringify(told)).toMatch(/one.*two.*three.*four/)
  const events = again.events({ from: 'start', delivery: true })[Symbol.asyncIterator]()
  expect((await events.next()).value).toMatchObject({ type: 'session', activity: 'idle', at: { pos: 0, fact: 0 } })
})

test('a snapshot of another format, or ahead of its log, is passed over', async () => {
  const options = { host: { snapshotRecords: 2 }, steps: () => ({ text: 'answer' }) }
  for (const spoil of [{ version: 99 }, { state: { pos: 10_000 } }]) {
    const store = createMemoryStore()
    const world = createTestWorld({ store, ...options })
    const session = await world.open()
    await world.time.until(session.send('one').answer)
    await world.time.until(world.host.stop())
    const snapshot = await store.snapshots.latest(SESSION)
    await store.snapshots.put(SESSION, { ...snapshot!, ...(spoil as object) })
    const next = createTestWorld({ store, time: world.time, ...options })
    const again = await next.open()
    await next.time.until(again.send('two').answer)
    expect(next.model.requests[0]?.messages).toHaveLength(3)
  }
})

test('sessions are removed when nobody has used them for as long as they are kept, those in use never', async () => {
  const world = createTestWorld({ host: { retentionMs: 7 * DAY_MS }, steps: () => ({ text: 'answer' }) })
  const session = await world.open()
  const left = await world.time.until(world.host.session('left'))
  await left.close()
  const listed = async (): Promise<readonly string[]> => {
    const names: string[] = []
    for await (const { session: name } of world.store.list()) names.push(name)
    return names
  }
  await world.time.pass(6 * DAY_MS)
  expect(await listed()).toEqual(['left', SESSION])
  await world.time.pass(DAY_MS + 3_600_000)
  expect(await listed()).toEqual([SESSION])
  await session.close()
  await world.time.pass(3_600_000)
  expect(await listed()).toEqual([])
  await world.host.stop()
  expect(world.time.pending()).toBe(0)
})

test('a session that is removed while it works ends, and who asks for it again gets a new one', async () => {
  const world = createTestWorld({ steps: () => ({ text: 'answer', pieceMs: 1000 }) })
  const session = await world.open()
  const turn = session.send('my secret')
  await world.time.settle()
  const removed = world.host.remove(SESSION)
  const again = world.host.session(SESSION)
  await expect(world.time.until(turn.answer)).rejects.toMatchObject({ code: 'session_closed' })
  await world.time.until(removed)
  expect((await world.time.until((await world.time.until(again)).send('who am I?').answer)).text).toBe('answer')
  expect(JSON.stringify(await world.records())).not.toContain('my secret')
})

test('an exported session continues in another store, with its large results', async () => {
  const large = act(() => 'x'.repeat(20_000))
  const steps = [listCalls('act'), { text: 'first' }]
  const world = createTestWorld({ tools: [large], steps })
  const session = await world.open()
  await world.time.until(session.send('one').answer)
  await world.time.until(world.host.stop())
  const lines = await listLines(world.store)
  expect(JSON.parse(lines[0] ?? '')).toEqual({ type: 'baton-session', version: 1, session: SESSION })
  const store = createMemoryStore()
  expect(await importSession(store, lines)).toBe(SESSION)
  expect(await listLines(store)).toEqual(lines)
  const next = createTestWorld({ store, time: world.time, tools: [large], steps: [{ text: 'second' }] })
  const again = await next.open()
  expect((await next.time.until(again.send('two').answer)).text).toBe('second')
  expect(next.model.requests[0]?.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
    'user',
  ])
})

test('pictures are exported with their session, and removed with it', async () => {
  const data = Buffer.alloc(100_000, 7).toString('base64')
  const picture = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data } } as const
  const world = createTestWorld({
    tools: [act(() => ({ content: [{ ...picture, source: { ...picture.source, data: 'AAAA' } }] }))],
    steps: [listCalls('act'), { text: 'seen' }],
  })
  const session = await world.open()
  await world.time.until(session.send([picture]).answer)
  await world.time.until(world.host.stop())
  expect(await world.store.blobs.names(SESSION)).toHaveLength(2)
  const store = createMemoryStore()
  await importSession(store, await listLines(world.store))
  const next = createTestWorld({ store, time: world.time, steps: [{ text: 'still' }] })
  await next.time.until((await next.open()).send('two').answer)
  const [asked, , shown] = next.model.requests[0]?.messages ?? []
  expect(asked?.parts).toEqual([picture])
  expect(shown?.parts).toMatchObject([{ content: [{ source: { data: 'AAAA' } }] }])
  await next.time.until(next.host.remove(SESSION))
  expect(await store.blobs.names(SESSION)).toEqual([])
})

test('an invalid export is refused with its line, and nothing of it is stored', async () => {
  const world = createTestWorld({ steps: () => ({ text: 'answer' }) })
  const session = await world.open()
  await world.time.until(session.send('one').answer)
  const lines = await listLines(world.store)
  const store = createMemoryStore()
  const refused = async (given: readonly string[]): Promise<unknown> =>
    await importSession(store, given).catch((cause: unknown) => cause)
  expect(await refused([])).toMatchObject({ code: 'log_damaged', message: 'line 0: there is no session in the file' })
  expect(await refused(['{"a":1}'])).toMatchObject({ message: 'line 1: it is neither a session, a record nor a blob' })
  expect(await refused([...lines.slice(0, 2), '{"type":'])).toMatchObject({ message: 'line 3: it is not JSON' })
  expect(await refused(lines.slice(1))).toMatchObject({ message: 'line 1: it is not an exported session' })
  expect(await refused([...lines.slice(0, 2), ...lines.slice(3)])).toMatchObject({ code: 'log_damaged' })
  expect(await refused([lines[0]?.replace(SESSION, 'other') ?? '', ...lines.slice(1)])).toMatchObject({
    message: 'line 2: its first record does not open session other',
  })
  expect(await owned(store)).toEqual([])
  await importSession(store, lines)
  expect(await refused(lines)).toMatchObject({ code: 'session_exists' })
})

test('a repeated finding is reported once, and read again only after its log has changed', async () => {
  const disk = ownStore()
  const time = createManualTime()
  const dead = createProcess(time, disk, { name: 'other', steps: () => ({ text: 'late', pieceMs: 600_000 }) })
  const session = await dead.open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  dead.die()
  const [first] = await dead.records()
  const broken = { ...first!, facts: [] }
  await disk.restore('broken', [broken])
  disk.expireLeases()
  const reads: string[] = []
  const get: Store['entries']['get'] = (name) => {
    reads.push(name)
    return disk.entries.get(name)
  }
  const store: Store = { ...disk, entries: { ...disk.entries, get } }
  const told: string[] = []
  const tell = (message: string, data?: object): void => void told.push(`${message} ${JSON.stringify(data)}`)
  const next = createTestWorld({ time, store, steps: [], host: { log: { info: tell, warn: tell } } })
  expect(await time.until(next.host.recover({ everyMs: 5000 }))).toEqual({ recovered: 0, failed: 1 })
  await time.pass(60_000)
  expect(reads.toSorted()).toEqual(['broken', SESSION])
  expect(told.map((line) => line.replace(/ \{.*/, '')).toSorted()).toEqual([
    'a session could not be recovered',
    'a session of another agent was not recovered',
  ])
  // It is restored from elsewhere, equally damaged.
  await disk.remove('broken')
  await disk.restore('broken', [{ ...broken, nowMs: broken.nowMs + 1 }])
  disk.expireLeases()
  await time.pass(60_000)
  expect(reads.filter((name) => name === 'broken')).toHaveLength(2)
  expect(told).toHaveLength(2)
  await next.host.stop()
})

test('a session that cannot be recovered for now is tried at every look, and reported once per reason', async () => {
  const disk = ownStore()
  const time = createManualTime()
  const dead = createProcess(time, disk, { tools: [act(never)], steps: [listCalls('act')] })
  const session = await dead.open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  dead.die()
  disk.expireLeases()
  let fails = true
  const store: Store = {
    ...disk,
    read: async function* (name, fromPos) {
      if (fails) throw new Error('the disk is away')
      yield* disk.read(name, fromPos)
    },
  }
  const next = createTestWorld({ time, store, tools: [act(() => 'fine')], steps: [{ text: 'done' }] })
  expect(await time.until(next.host.recover({ everyMs: 5000 }))).toEqual({ recovered: 0, failed: 1 })
  await time.pass(60_000)
  expect(next.warnings).toEqual(['a session could not be recovered'])
  fails = false
  await time.pass(60_000)
  expect(await next.facts('turn-finished')).toMatchObject([{ outcome: 'answered' }])
  await next.host.stop()
})
