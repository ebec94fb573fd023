// A store that is open for reading alone, some of whose sessions no server has listed: lists have them all the same.
import type { Principal } from '@baton/core'
import type { LogStore } from '@baton/core/internal'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import type { LocalHost } from './create-host.ts'
import { createHost } from './create-host.ts'
import type { StoreReader } from './store-reader.ts'
import { createStoreReader } from './store-reader.ts'

const running: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of running.splice(0).toReversed()) await stop()
})

const ANN = { id: 'ann' }
const MIA = { id: 'mia', roles: ['manager'] }
const pay = tool({
  name: 'pay',
  description: 'pays',
  input: { type: 'object', properties: { amount: { type: 'number' } } },
  approval: true,
  deciders: { roles: ['manager'] },
  execute: () => 'paid',
})
const model = createScriptedModel({
  steps: ({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { text: 'Fine.' } : { calls: [{ name: 'pay', arguments: { amount: 90 } }] },
})
const shop = defineAgent({ name: 'shop', model, tools: [pay], limits: { approvalMs: 86_400_000 } })
const talk = defineAgent({ name: 'talk', model: createScriptedModel({ steps: () => ({ text: 'hi' }) }) })

/** A payment waits in each of these sessions. */
async function ask(host: LocalHost, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const session = await host.session(name, { agent: shop, principal: ANN })
    session.send('Pay.').answer.catch(() => {})
    await expect.poll(async () => (await session.approvals()).length).toBe(1)
  }
}

async function copyLogs(from: LogStore, to: LogStore, names: readonly string[]): Promise<void> {
  for (const name of names) for await (const record of from.read(name, 0)) await to.put(name, [record])
}

/** `known` are listed by their host, `unknown` are only stored, as workers do. */
async function start(known: readonly string[], unknown: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-derived-'))
  const path = join(folder, 'store.db')
  running.push(() => rmSync(folder, { recursive: true }))
  const elsewhere = createMemoryStore()
  const other = createHost({ store: elsewhere, agents: [shop, talk] })
  running.push(() => other.stop())
  const store = await openSqliteStore(path)
  running.push(() => store.close())
  const host = createHost({ store, agents: [shop, talk] })
  running.push(() => host.stop())
  // In turn, so that pages mix both.
  for (let at = 0; at < Math.max(known.length, unknown.length); at++) {
    await ask(host, known.slice(at, at + 1))
    await ask(other, unknown.slice(at, at + 1))
    await copyLogs(elsewhere, store, unknown.slice(at, at + 1))
  }
  const opened = await openSqliteStore(path, { readOnly: true })
  running.push(() => opened.close())
  const read = { folds: 0 }
  const counted: LogStore = {
    ...opened,
    read: (session, fromPos) => {
      if (fromPos === 0) read.folds += 1
      return opened.read(session, fromPos)
    },
  }
  const reader = createStoreReader(counted)
  running.push(() => reader.stop())
  return { host, reader, store, elsewhere, other, read }
}

type Lists = Pick<StoreReader, 'sessions' | 'approvals'>

/** All pages of each list, two entries a page. */
async function readLists(lists: Lists): Promise<readonly unknown[]> {
  const all: unknown[] = []
  for (const order of ['newest', 'oldest'] as const) {
    for (const query of [{}, { principal: ANN, activity: 'waiting' as const }, { agent: 'shop' }])
      for (let cursor: string | undefined = ''; cursor !== undefined;) {
        const page = await lists.sessions({ ...query, order, limit: 2, ...(cursor !== '' && { cursor }) })
        all.push(page.sessions.map(({ id, activity, waitsFor }) => [order, id, activity, waitsFor]))
        cursor = page.cursor
      }
    for (const decider of [MIA, { id: 'eve' }] satisfies Principal[])
      for (let cursor: string | undefined = ''; cursor !== undefined;) {
        const page = await lists.approvals({ decider, order, limit: 2, ...(cursor !== '' && { cursor }) })
        all.push(page.approvals.map(({ session, input }) => [order, decider.id, session, input]))
        cursor = page.cursor
      }
  }
  return all
}

test('a reader lists what a server lists, in the same pages, and derives each session once', async () => {
  const { host, reader, read } = await start(['k1', 'k2', 'k3', 'k4'], ['u1', 'u2', 'u3', 'u4', 'u5'])
  const lists = await readLists(reader)
  expect(lists[0]).toEqual([
    ['newest', 'u5', 'waiting', ['person']],
    ['newest', 'u4', 'waiting', ['person']],
  ])
  const { folds } = read
  expect(await readLists(reader)).toEqual(lists)
  expect(read.folds).toBe(folds)
  expect(lists).toEqual(await readLists(host))
  // The host has stored their entries, so the reader has its own no longer.
  expect(await readLists(reader)).toEqual(lists)
})

test('a session that goes on is listed as it is, and one that was removed is gone', async () => {
  const { reader, store, elsewhere, other } = await start([], ['u1', 'u2'])
  expect((await reader.approvals({ decider: MIA })).approvals).toHaveLength(2)
  const [asked] = (await other.approvals({ decider: MIA, order: 'oldest' })).approvals
  await other.decide('u1', { approvalId: asked?.approvalId ?? '', decision: 'deny' }, { by: MIA })
  await expect.poll(async () => (await other.approvals({ decider: MIA })).approvals.length).toBe(1)
  let stored = 0
  for await (const _ of store.read('u1', 0)) stored += 1
  for await (const record of elsewhere.read('u1', stored)) await store.put('u1', [record])
  expect((await reader.approvals({ decider: MIA })).approvals).toMatchObject([{ session: 'u2' }])
  await store.remove('u2')
  expect((await reader.sessions()).sessions).toMatchObject([{ id: 'u1' }])
})

test('sessions that went on since a server listed them stand where they are now, and none of the others is missing', async () => {
  const names = ['u1', 'u2', 'u3', 'u4', 'u5']
  const { host, reader, store, elsewhere, other } = await start([], names)
  expect((await host.sessions()).sessions).toHaveLength(5)
  for (const name of names.slice(1)) {
    const [asked] = (await other.approvals({ session: name })).approvals
    await other.decide(name, { approvalId: asked?.approvalId ?? '', decision: 'deny' }, { by: MIA })
    await expect.poll(async () => (await other.sessions({ activity: 'idle' })).sessions[0]?.id).toBe(name)
    let stored = 0
    for await (const _ of store.read(name, 0)) stored += 1
    for await (const record of elsewhere.read(name, stored)) await store.put(name, [record])
  }
  const lists = await readLists(reader)
  expect(lists.slice(0, 3)).toEqual([
    ['u5', 'u4'].map((name) => ['newest', name, 'idle', undefined]),
    ['u3', 'u2'].map((name) => ['newest', name, 'idle', undefined]),
    [['newest', 'u1', 'waiting', ['person']]],
  ])
  expect(lists).toEqual(await readLists(host))
})
