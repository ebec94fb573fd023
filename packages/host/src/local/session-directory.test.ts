// Lists of sessions: filtered, paged, by principal; and the events for their watchers.
import type { JsonObject, Logger, ModelRequest, SessionChange, SessionQuery } from '@baton/core/internal'
import { BatonError, defineAgent, tool } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { MemoryStore } from '../stores/memory-store.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { createHost } from './create-host.ts'
import { createManualTime, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

function createDirectory(store = createMemoryStore(), log?: Logger) {
  const time = createManualTime()
  const agents = ['shop', 'desk'].map((name) =>
    defineAgent({ name, model: createScriptedModel({ steps: () => ({ text: 'hello' }) }) }),
  )
  const host = createHost({ environment: time.environment, store, agents, snapshotRecords: 4, ...(log && { log }) })
  const open = async (id: string, principal: string, more: { agent?: number; title?: string; meta?: object } = {}) => {
    const { agent = 0, ...description } = more
    const init = { agent: agents[agent]!, principal: { id: principal }, description: description as object }
    return await time.until(host.session(id, init))
  }
  return { host, open, time, store }
}

test('sessions are listed with what is known of them, whether they are open or not', async () => {
  const { host, open, time, store } = createDirectory()
  const trip = await open('trip', 'ann', { title: 'A trip', meta: { place: 'Oslo' } })
  await time.until(trip.send('hi').answer)
  await time.until(trip.send('again').answer)
  await open('work', 'bob', { agent: 1 })
  const listed = await host.sessions()
  expect(listed).toMatchObject({
    sessions: [
      { id: 'work', agent: 'desk', principal: { id: 'bob' }, meta: {}, activity: 'idle' },
      {
        id: 'trip',
        agent: 'shop',
        principal: { id: 'ann' },
        title: 'A trip',
        meta: { place: 'Oslo' },
        activity: 'idle',
      },
    ],
  })
  await time.until(host.stop())
  const after = createDirectory(store)
  expect((await after.host.sessions()).sessions).toEqual(listed.sessions)
})

test('a session says in lists that its newest turn failed, until the next one', async () => {
  const store = createMemoryStore()
  const refused = new BatonError({ code: 'model_auth_failed', message: 'the key is wrong' })
  const start = (steps: readonly object[]) => {
    const time = createManualTime()
    const agent = defineAgent({ name: 'shop', model: createScriptedModel({ steps }) })
    const host = createHost({ environment: time.environment, store, agent, snapshotRecords: 1 })
    const say = async () => {
      const session = await time.until(host.session('trip', { principal: { id: 'ann' } }))
      const outcome = await time.until(session.send('hi').answer.catch(({ code }: BatonError) => code))
      await time.until(session.close())
      return outcome
    }
    return { say, stop: () => time.until(host.stop()), list: async () => (await host.sessions()).sessions }
  }
  const first = start([{ error: refused }])
  expect(await first.say()).toBe('model_auth_failed')
  const failed = [expect.objectContaining({ activity: 'idle', error: { code: 'model_auth_failed' } })]
  expect(await first.list()).toEqual(failed)
  await first.stop()
  const next = start([{ text: 'hello' }])
  expect(await next.list()).toEqual(failed)
  await next.say()
  expect((await next.list())[0]).not.toHaveProperty('error')
  await next.stop()
})

test.each([
  [{ principal: { id: 'ann' } }, ['c', 'a']],
  [{ principal: { id: 'ann' }, order: 'oldest' as const }, ['a', 'c']],
  [{ activity: 'idle' as const }, ['c', 'b', 'a']],
  [{ activity: 'running' as const }, []],
  [{ principal: { id: 'ann' }, activity: 'idle' as const, agent: 'shop' }, ['c', 'a']],
  [{ since: 5_000_000, order: 'oldest' as const }, ['b', 'c']],
  [{ agent: 'desk' }, ['b']],
  [{ meta: { place: 'Oslo' } }, ['c']],
  [{ meta: { place: 'Oslo', tags: ['x'] } }, ['c']],
  [{ meta: { place: 'Rome' } }, []],
  [{ meta: JSON.parse('{"__proto__":{}}') as JsonObject }, []],
  [{ principal: { id: 'ann' }, agent: 'desk' }, []],
])('sessions that match %o are %o', async (query, ids) => {
  const { host, open, time } = createDirectory()
  await open('a', 'ann')
  await time.pass(5_000_000 - time.environment.clock.nowMs())
  await open('b', 'bob', { agent: 1 })
  await time.pass(1)
  await open('c', 'ann', { meta: { place: 'Oslo', tags: ['x'] } })
  expect((await host.sessions(query)).sessions.map(({ id }) => id)).toEqual(ids)
})

test('a list over SQLite comes in pages, each session once, whatever letters their names are of', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-list-'))
  const store = await openSqliteStore(join(folder, 'store.sqlite'))
  const model = createScriptedModel({ steps: () => ({ text: 'hello' }) })
  const host = createHost({ store, agent: defineAgent({ name: 'one', model }) })
  // By code units the smile sorts before the fullwidth tilde, by bytes after it.
  const names = ['a', '\uff5e', '\u{1f600}', '\ue000', '\u{10000}', 'z', 'é']
  for (const name of names) await (await host.session(name)).close()
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await host.sessions({ limit: 1, ...(cursor !== undefined && { cursor }) })
    seen.push(...page.sessions.map(({ id }) => id))
    cursor = page.cursor
  } while (cursor !== undefined && seen.length <= names.length)
  await host.stop()
  await store.close()
  rmSync(folder, { recursive: true })
  expect(seen).toHaveLength(names.length)
  expect(new Set(seen)).toEqual(new Set(names))
})

test('a list reads no log: the store has what it shows', async () => {
  const disk = createMemoryStore()
  const read: string[] = []
  const store: typeof disk = {
    ...disk,
    read: (session, fromPos) => {
      read.push(session)
      return disk.read(session, fromPos)
    },
  }
  const { host, open, time } = createDirectory(store)
  for (const name of ['a', 'b', 'c', 'd']) await (await open(name, 'ann')).close()
  await time.pass(1)
  const again = await time.until(host.session('c', { principal: { id: 'ann' } }))
  await time.until(again.describe({ title: 'new' }))
  await again.close()
  await time.until(host.stop())
  read.length = 0
  const next = createDirectory(store)
  expect(await next.host.sessions()).toMatchObject({
    sessions: [{ title: 'new' }, { id: 'd' }, { id: 'b' }, { id: 'a' }],
  })
  expect(read).toEqual([])
})

test('a turn that ends within a minute leaves its session where it was in the list, and since looks at its end', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const waits = [promise]
  const ends = [resolve]
  const wait = tool({
    name: 'wait',
    description: 'waits',
    input: { type: 'object' },
    timeoutMs: 600_000,
    execute: async () => {
      const next = Promise.withResolvers<void>()
      waits.push(next.promise)
      ends.push(next.resolve)
      await waits.shift()
      return 'done'
    },
  })
  const time = createManualTime()
  const store = createMemoryStore()
  const steps = ({ messages }: ModelRequest) =>
    messages.at(-1)?.role === 'tool' ? { text: 'done' } : { calls: [{ name: 'wait', arguments: {} }] }
  const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [wait] })
  const host = createHost({ environment: time.environment, store, agent })
  const list = async (query: SessionQuery): Promise<readonly string[]> =>
    (await host.sessions(query)).sessions.map(({ id }) => id)
  const readPlace = async (): Promise<number | undefined> =>
    (await store.entries.find({ list: '["sessions",null,null,null]', order: 'newest', limit: 9 }))[0]?.atMs

  const session = await time.until(host.session('s', { principal: { id: 'ann' } }))
  const beganMs = time.nowMs()
  const short = session.send('hi').answer
  await time.pass(59_000)
  ends.shift()?.()
  await time.until(short)
  expect((await host.sessions()).sessions).toMatchObject([{ activity: 'idle', lastMs: beganMs + 59_000 }])
  expect(await readPlace()).toBe(beganMs)
  expect(await list({ since: beganMs + 59_000 })).toEqual(['s'])
  expect(await list({ since: beganMs + 59_001 })).toEqual([])

  const long = session.send('again').answer
  await time.pass(61_000)
  expect(await list({ activity: 'running', principal: { id: 'ann' } })).toEqual(['s'])
  expect(await list({ activity: 'running', principal: { id: 'bob' } })).toEqual([])
  expect(await list({ activity: 'idle' })).toEqual([])
  ends.shift()?.()
  await time.until(long)
  expect(await list({ activity: 'running' })).toEqual([])
  expect(await readPlace()).toBe(beganMs + 59_000 + 61_000)
})

test('a session that is used while a list is read comes once more at its new place, and none is missed', async () => {
  const { host, open, time } = createDirectory()
  const names = ['s0', 's1', 's2', 's3', 's4']
  for (const name of names) {
    await open(name, 'ann')
    await time.pass(10)
  }
  const ids: string[] = []
  for (let cursor: string | undefined; ;) {
    const page = await host.sessions({ order: 'oldest', limit: 2, ...(cursor !== undefined && { cursor }) })
    ids.push(...page.sessions.map(({ id }) => id))
    cursor = page.cursor
    if (cursor === undefined) break
    if (ids.length > 2) continue
    const used = await time.until(host.session('s0', { principal: { id: 'ann' } }))
    await time.until(used.describe({ title: 'used' }))
    await time.until(host.remove('s1'))
  }
  expect(ids).toEqual(['s0', 's1', 's2', 's3', 's4', 's0'])
})

test.each([
  ['another order', 'oldest 5.0.a'],
  ['no page', 'a'],
])('a cursor of %s is refused', async (_, cursor) => {
  const { host } = createDirectory()
  await expect(host.sessions({ cursor })).rejects.toMatchObject({ code: 'invalid_option' })
})

test('a long list comes in pages, and each session once', async () => {
  const { host, open } = createDirectory()
  for (let index = 0; index < 7; index++) await open(`s${index}`, index === 3 ? 'bob' : 'ann')
  const ids: string[] = []
  for (let cursor: string | undefined; ;) {
    const page = await host.sessions({ principal: { id: 'ann' }, limit: 2, ...(cursor !== undefined && { cursor }) })
    ids.push(...page.sessions.map(({ id }) => id))
    cursor = page.cursor
    if (cursor === undefined) break
  }
  expect(ids).toEqual(['s6', 's5', 's4', 's2', 's1', 's0'])
  await expect(host.sessions({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_option' })
})

test('watchers learn which sessions of their principal begin, end, are described and removed', async () => {
  const { host, open, time } = createDirectory()
  const told: SessionChange[] = []
  const watching = (async () => {
    for await (const change of host.watch({ principal: { id: 'ann' } })) told.push(change)
  })()
  const session = await open('trip', 'ann')
  await open('other', 'bob')
  await time.until(session.send('hi').answer)
  await session.describe({ title: 'A trip' })
  await time.settle()
  await session.close()
  await time.until(host.remove('trip', { id: 'ann' }))
  await time.settle()
  expect(told.at(-1)).toEqual({ type: 'removed', id: 'trip', principal: { id: 'ann' } })
  expect(told).toContainEqual({ type: 'changed', session: expect.objectContaining({ title: 'A trip' }) })
  expect(told.filter((change) => change.type === 'changed').every(({ session: info }) => info.id === 'trip')).toBe(true)
  await time.until(host.stop())
  await watching
})

test('a session is not removed for another principal', async () => {
  const { host, open } = createDirectory()
  await open('trip', 'ann')
  await expect(host.remove('trip', { id: 'bob' })).rejects.toMatchObject({ code: 'unauthorized' })
  expect((await host.sessions()).sessions).toHaveLength(1)
})

test('a new session with a description that is too long is refused by name, and an old one keeps its own', async () => {
  const { open } = createDirectory()
  await expect(open('long', 'ann', { title: 'x'.repeat(201) })).rejects.toMatchObject({ code: 'invalid_event' })
  await open('kept', 'ann', { title: 'first' })
  const { host, open: openAgain } = createDirectory()
  await openAgain('kept', 'ann', { title: 'first' })
  await openAgain('kept', 'ann', { title: 'second' })
  expect((await host.sessions()).sessions[0]?.title).toBe('first')
})

test('a damaged session is left out of lists, reported once, and read again only after its log has changed', async () => {
  const disk = createMemoryStore()
  const reads: string[] = []
  const warnings: string[] = []
  const store: MemoryStore = {
    ...disk,
    async *read(session, fromPos) {
      reads.push(session)
      for await (const record of disk.read(session, fromPos))
        yield session === 'broken' ? { ...record, pos: record.pos + 3 } : record
    },
  }
  const { host, open } = createDirectory(store, { info: () => {}, warn: (message) => void warnings.push(message) })
  await open('whole', 'ann')
  const broken = { version: 1, pos: 0, nowMs: 1, epoch: 1, input: { type: 'user-input' }, facts: [] } as const
  await disk.restore('broken', [broken])
  for (let looks = 0; looks < 10; looks++)
    expect((await host.sessions()).sessions.map(({ id }) => id)).toEqual(['whole'])
  expect(warnings).toEqual(['a session is omitted from lists: its log cannot be read'])
  expect(reads.filter((session) => session === 'broken').length).toBeLessThan(3)
  const before = reads.length
  await disk.remove('broken')
  await disk.restore('broken', [{ ...broken, nowMs: 2 }])
  for (let looks = 0; looks < 10; looks++) await host.sessions()
  expect(reads.slice(before)).toContain('broken')
  expect(warnings).toHaveLength(1)
})

test.each([
  ['a filter that does not exist', { user: 'ann' }, 'has no field "user"'],
  ['a principal that is undefined', { principal: undefined }, 'principal must be an object with an id, not undefined'],
  ['an id in place of the principal', { principal: 'ann' }, 'principal must be an object with an id, not "ann"'],
  [
    'a role in place of roles',
    { principal: { id: 'ann', roles: 'desk' } },
    'principal.roles must be an array of names',
  ],
  ['the principal under another name', { owner: { id: 'ann' } }, 'it is called "principal" here'],
])('a list with %s is refused: it would show other sessions', async (_, query, message) => {
  const { host, time } = createDirectory()
  const refusal = { code: 'invalid_option', message: expect.stringContaining(message) }
  await expect(host.sessions(query as never)).rejects.toMatchObject(refusal)
  expect(() => host.watch(query as never)).toThrow(expect.objectContaining(refusal))
  await time.until(host.stop())
})

test('a session whose log could not be read once is listed again as soon as it can', async () => {
  const { host, open, store } = createDirectory(createMemoryStore(), { info: () => {}, warn: () => {} })
  const trip = await open('trip', 'ann')
  await trip.close()
  const records = []
  for await (const record of store.read('trip', 0)) records.push(record)
  await store.remove('trip')
  await store.restore('trip', records)
  const { read } = store
  const list = async () => (await host.sessions()).sessions.map(({ id }) => id)
  const fail = (): never => {
    throw new Error('the disk is away')
  }
  Object.assign(store, { read: fail })
  expect(await list()).toEqual([])
  Object.assign(store, { read })
  expect(await list()).toEqual(['trip'])
})

test('a session recreated under an old name is listed as the new one', async () => {
  const { host, open, time } = createDirectory()
  const list = async () => (await host.sessions()).sessions
  await (await open('trip', 'ann', { meta: { place: 'Oslo' } })).close()
  const [before] = await list()
  await time.until(host.remove('trip'))
  const again = await open('trip', 'ann', { meta: { place: 'Rome' } })
  await again.close()
  expect(await list()).toMatchObject([{ id: 'trip', meta: { place: 'Rome' } }]) // in the same millisecond
  await time.until(host.remove('trip'))
  await time.pass(5000)
  await open('trip', 'ann')
  const [after] = await list()
  expect([after?.meta, (after?.createdMs ?? 0) - (before?.createdMs ?? 0)]).toEqual([{}, 5000])
})

test('whoever stops watching hears nothing more, also of what had happened by then', async () => {
  const { host, open } = createDirectory()
  const changes = host.watch({ principal: { id: 'ann' } })[Symbol.asyncIterator]()
  await open('trip', 'ann', { title: 'A trip' })
  await new Promise((resolve) => setImmediate(resolve))
  await changes.return?.()
  expect(await changes.next()).toEqual({ done: true, value: undefined })
})

test('a session that another host recreated under an old name is listed as the new one', async () => {
  const { host, open, store } = createDirectory()
  const other = createDirectory(store)
  for (const id of ['x', 'y', 'z']) await other.open(id, 'bob') // whose ids differ
  await (await open('trip', 'ann')).close()
  const list = async () => (await host.sessions({ principal: { id: 'ann' } })).sessions
  const [before] = await list()
  await other.time.until(other.host.remove('trip'))
  await other.time.pass(5000)
  await (await other.open('trip', 'ann')).close()
  await open('trip', 'ann')
  const [after] = await list()
  expect((after?.createdMs ?? 0) - (before?.createdMs ?? 0)).toBe(5000)
})
