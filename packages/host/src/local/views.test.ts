// Views of sessions that run elsewhere: they share what they have read, and end with the session.
import type { Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { exportSession, importSession } from '../stores/transfer.ts'
import { createHost } from './create-host.ts'
import { createStoreReader } from './store-reader.ts'

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.stop()
})

/** A host that writes, and a reader of the same store that counts the records it reads. */
function start() {
  const store = createMemoryStore()
  const read = { records: 0 }
  const counted: Store = {
    ...store,
    read: async function* (session, fromPos) {
      for await (const record of store.read(session, fromPos)) {
        read.records += 1
        yield record
      }
    },
  }
  const model = createScriptedModel({ steps: ({ messages }) => ({ text: `answer ${messages.length}` }) })
  const agent = defineAgent({ name: 'a', model })
  const host = createHost({ store, agent })
  const reader = createStoreReader(counted)
  running.push(host, reader)
  const say = async (id: string, texts: readonly string[]): Promise<void> => {
    const session = await host.session(id, { principal: { id: 'ann' } })
    for (const text of texts) await session.send(text).answer
    await session.close()
  }
  return { host, reader, say, read, store, agent }
}

test('a session that has not changed is not read again, and a change is seen at once', async () => {
  const { reader, say, read } = start()
  await say('trip', ['one', 'two', 'three'])
  const look = async (): Promise<readonly [number, string]> => {
    const before = read.records
    const view = await reader.views.open('trip')
    const count = read.records - before
    const { messages } = await view.messages()
    await view.close()
    return [count, JSON.stringify(messages.at(-1))]
  }
  const [first] = await look()
  expect(first).toBeGreaterThan(5)
  const [again, text] = await look()
  expect(again).toBe(1)
  await say('trip', ['four'])
  const [, changed] = await look()
  expect([text, changed]).toEqual([expect.stringContaining('answer 5'), expect.stringContaining('answer 7')])
})

test('a look at a long conversation stores nothing, and warns of nothing', async () => {
  const { say, store, agent } = start()
  await say(
    'trip',
    Array.from({ length: 300 }, (_, at) => `question ${at}`),
  )
  const names = await store.blobs.names('trip')
  const warned: string[] = []
  const other = createHost({ store, agent, log: { info: () => {}, warn: (message) => void warned.push(message) } })
  running.push(other)
  const view = await other.views.open('trip')
  const { messages } = await view.messages({ limit: 200 })
  await view.close()
  expect([messages.length, await store.blobs.names('trip'), warned]).toEqual([200, names, []])
})

test('many views of a session read its log once', async () => {
  const { reader, say, read } = start()
  await say(
    'trip',
    Array.from({ length: 20 }, (_, at) => `question ${at}`),
  )
  const before = read.records
  const views = await Promise.all(Array.from({ length: 50 }, () => reader.views.open('trip')))
  expect(await Promise.all(views.map(async (view) => (await view.info()).agent))).toEqual(views.map(() => 'a'))
  let length = 0
  for await (const { pos } of reader.views.log('trip')) length = pos + 1
  expect(read.records - before).toBeLessThan(length * 2 + 150)
  await Promise.all(views.map((view) => view.close()))
})

test('a view ends when its session is removed, and never shows the next session of that name as the same', async () => {
  const { host, reader, say } = start()
  await say('trip', ['old'])
  const view = await reader.views.open('trip')
  const events = view.events({ from: 'start' })
  await host.remove('trip')
  await say('trip', ['new', 'newer', 'newest'])
  const heard: string[] = []
  for await (const event of events) heard.push(JSON.stringify(event)) // ends
  expect(heard.join()).not.toContain('newe')
  const next = await reader.views.open('trip')
  const { messages } = await next.messages()
  expect(JSON.stringify(messages)).toContain('newest')
  expect(JSON.stringify(messages)).not.toContain('old')
  await Promise.all([view.close(), next.close()])
})

test('a reader lists an imported session without a look at its log, and derives one from before lists once', async () => {
  const { say, store, reader, read, host } = start()
  await say('trip', ['one'])
  const lines: string[] = []
  for await (const line of exportSession(store, 'trip')) lines.push(line)
  const listed = (await reader.sessions()).sessions
  await host.remove('trip')
  await importSession(store, lines)
  const older: SessionRecord[] = []
  for await (const record of store.read('trip', 0)) older.push(record)
  expect((await reader.sessions()).sessions).toEqual(listed)
  read.records = 0
  expect((await reader.sessions()).sessions).toEqual(listed)
  expect(read.records).toBe(0)
  // As of a version without lists.
  const opening = JSON.stringify(older).replaceAll('"trip"', '"older"')
  await store.restore('older', JSON.parse(opening) as SessionRecord[])
  const derived = (await reader.sessions()).sessions
  expect(derived.map(({ id }) => id).toSorted()).toEqual(['older', 'trip'])
  read.records = 0
  expect((await reader.sessions()).sessions).toEqual(derived)
  expect(read.records).toBe(0)
  // Their times may be equal.
  expect(new Set((await host.sessions()).sessions)).toEqual(new Set(derived))
})
