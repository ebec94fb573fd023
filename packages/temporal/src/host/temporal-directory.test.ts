// Lists and changes of sessions, from a log written by others and a bus that may be unavailable.
import type { SessionChange, SessionInfo } from '@baton/core/internal'
import { defineAgent } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { expect, test } from 'vitest'
import type { LiveBus } from '../live/live-bus.ts'
import { createMemoryBus, EVERY_SESSION } from '../live/live-bus.ts'
import { TemporalDirectory } from './temporal-directory.ts'

/** Sessions are written by a local host over the same store. */
function createWorld() {
  const disk = createMemoryStore()
  const read: number[] = []
  const held: { until?: Promise<void> } = {}
  const store: typeof disk = {
    ...disk,
    read: async function* (session, fromPos) {
      const nth = read.push(fromPos)
      const records = []
      for await (const record of disk.read(session, fromPos)) records.push(record)
      if (nth > 1) await held.until // the first one only finds who has the session
      yield* records
    },
  }
  const memory = createMemoryBus()
  const gaps: (() => void)[] = []
  const bus: LiveBus = {
    ...memory,
    subscribe: (session, onMessage, onGap) => {
      gaps.push(onGap)
      return memory.subscribe(session, onMessage, onGap)
    },
  }
  const warnings: string[] = []
  const log = { info: () => {}, warn: (message: string) => void warnings.push(message) }
  const directory = new TemporalDirectory({ store, bus, log })
  const model = createScriptedModel({ steps: () => ({ text: 'hello' }) })
  const host = createHost({ store: disk, agent: defineAgent({ name: 'one', model }) })
  const write = async (id: string, title: string): Promise<void> => {
    const session = await host.session(id, { principal: { id: 'ann' } })
    await session.describe({ title })
    await session.close()
  }
  const tell = (session: string): void => bus.publish(EVERY_SESSION, { type: 'listed', session })
  return { directory, disk, bus, gaps, read, held, warnings, write, tell }
}

async function readNext(changes: AsyncIterator<SessionChange>): Promise<SessionInfo | undefined> {
  const { value } = (await changes.next()) as IteratorYieldResult<SessionChange>
  return value.type === 'changed' ? value.session : undefined
}

test('a change that the bus tells is folded from where the session was left', async () => {
  const { directory, read, write, tell } = createWorld()
  const changes = directory.watch({ principal: { id: 'ann' } })[Symbol.asyncIterator]()
  await write('trip', 'first')
  tell('trip')
  expect(await readNext(changes)).toMatchObject({ id: 'trip', title: 'first' })
  await write('trip', 'second')
  read.length = 0
  tell('trip')
  expect(await readNext(changes)).toMatchObject({ id: 'trip', title: 'second' })
  expect(read.toSorted((one, other) => one - other)).toEqual([0, 2])
  directory.close()
  expect(await changes.next()).toMatchObject({ done: true })
})

test('a change that the bus tells while the one before is being read is reported too', async () => {
  const { directory, held, read, write, tell } = createWorld()
  const changes = directory.watch({ principal: { id: 'ann' } })[Symbol.asyncIterator]()
  await write('trip', 'first')
  const gate = Promise.withResolvers<void>()
  held.until = gate.promise
  tell('trip')
  await expect.poll(() => read.length).toBe(2)
  await write('trip', 'second')
  tell('trip')
  await new Promise((resolve) => setImmediate(resolve)) // the bus delivers later
  gate.resolve()
  expect(await readNext(changes)).toMatchObject({ title: 'first' })
  expect(await readNext(changes)).toMatchObject({ title: 'second' })
  directory.close()
})

test('a session started again under its name is folded from its beginning', async () => {
  const { directory, disk, write } = createWorld()
  await write('trip', 'first')
  await write('trip', 'and on')
  expect((await directory.sessions()).sessions).toMatchObject([{ title: 'and on' }])
  await disk.remove('trip')
  await write('trip', 'anew')
  expect((await directory.sessions()).sessions).toMatchObject([{ title: 'anew' }])
})

test('changes written while the bus was down are reported when it is back', async () => {
  const { directory, gaps, write } = createWorld()
  const changes = directory.watch()[Symbol.asyncIterator]()
  await write('trip', 'unheard')
  for (const onGap of gaps) onGap()
  expect(await readNext(changes)).toMatchObject({ id: 'trip', title: 'unheard' })
})

test('a removal is reported to the owners of the session', async () => {
  const { directory, bus } = createWorld()
  const [own, others] = ['ann', 'bob'].map((principal) =>
    directory.watch({ principal: { id: principal } })[Symbol.asyncIterator](),
  )
  bus.publish(EVERY_SESSION, { type: 'removed', session: 'nobody knows whose' })
  bus.publish(EVERY_SESSION, { type: 'removed', session: 'trip', principal: 'ann' })
  expect((await own?.next())?.value).toEqual({ type: 'removed', id: 'trip', principal: { id: 'ann' } })
  directory.close()
  expect(await others?.next()).toMatchObject({ done: true })
})

test('a bus that cannot be listened to is logged, and lists still work', async () => {
  const { directory, bus, warnings, write } = createWorld()
  bus.subscribe = () => Promise.reject(new Error('no bus'))
  directory.watch()
  await write('trip', 'first')
  expect((await directory.sessions()).sessions).toMatchObject([{ id: 'trip', title: 'first' }])
  expect(warnings).toEqual(['changes of sessions cannot be watched'])
  directory.close()
})
