// The sessions of several gateways over one service: listed, watched and removed from any of them.
import type { SessionChange } from '@baton/core/internal'
import { WorkflowNotFoundError } from '@temporalio/client'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import type { TemporalHost } from '../index.ts'
import { createMemoryBus, createTemporalHost } from '../index.ts'
import type { TemporalWorld } from '../temporal-world.test-kit.ts'
import { playInWorld, until } from '../temporal-world.test-kit.ts'

const program = findTemporal('lists of sessions over Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

interface Parts extends TemporalWorld {
  readonly one: TemporalHost
  readonly other: TemporalHost
  /** Gets no news from the others. */
  readonly deaf: TemporalHost
}

/** Three gateways, and one worker. */
async function play(situation: (parts: Parts) => Promise<void>): Promise<void> {
  const bus = createMemoryBus()
  const steps = (_: unknown, call: number): { readonly text: string } => ({ text: `answer ${call}` })
  await playInWorld(server, { steps, host: { redis: bus }, worker: { redis: bus } }, async (world) => {
    if (!server) throw new Error('there is no service')
    const { agent, store: logStore, taskQueue } = world
    const place = { address: server.address, agent, logStore, taskQueue }
    const hosts = [bus, bus, createMemoryBus()].map((redis) => createTemporalHost({ ...place, redis }))
    const [one, other, deaf] = await Promise.all(hosts)
    if (!one || !other || !deaf) throw new Error('there are three')
    try {
      await situation({ ...world, one, other, deaf })
    } finally {
      for (const host of [one, other, deaf]) await host.stop()
    }
  })
}

const ann = { id: 'ann' }
const bob = { id: 'bob' }

describe.skipIf(!server)('the sessions of a Temporal service', () => {
  test('are listed at every gateway, by principal, agent and meta, a page at a time', async () => {
    await play(async ({ one, other, agent }) => {
      for (const [name, principal] of [
        ['a', ann],
        ['b', bob],
        ['c', ann],
        ['d', ann],
      ] as const)
        await one.session(name, { principal, description: { title: `trip ${name}`, meta: { place: name } } })
      const session = await one.session('c', { principal: ann })
      await session.send('hello').answer
      const page = await other.sessions({ principal: { id: 'ann' }, agent: agent.name, limit: 2 })
      expect(page.sessions).toMatchObject([
        { id: 'c', agent: 'tested', principal: { id: 'ann' }, title: 'trip c', meta: { place: 'c' }, activity: 'idle' },
        { id: 'd', title: 'trip d' },
      ])
      const { sessions, cursor } = await other.sessions({ principal: { id: 'ann' }, cursor: page.cursor ?? '' })
      expect([sessions.map(({ id }) => id), cursor]).toEqual([['a'], undefined])
      expect((await other.sessions({ meta: { place: 'b' } })).sessions.map(({ id }) => id)).toEqual(['b'])
      expect((await other.sessions({ agent: 'nobody' })).sessions).toEqual([])
      await expect(other.sessions({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_option' })
    })
  })

  test('are watched from a gateway at which they are not open, by their principal alone', async () => {
    await play(async ({ one, other }) => {
      const told: SessionChange[] = []
      const watching = (async () => {
        for await (const change of other.watch({ principal: { id: 'ann' } })) told.push(change)
      })()
      const session = await one.session('watched', { principal: ann })
      await one.session('hidden', { principal: bob })
      await session.send('hello').answer
      await session.describe({ title: 'A trip' })
      const isTold = (fields: object): boolean =>
        told.some((change) => change.type === 'changed' && hasFields(change.session, fields))
      await until(() => isTold({ title: 'A trip', activity: 'idle' }))
      await one.remove('watched', ann)
      await until(() => told.some(({ type }) => type === 'removed'))
      expect(told.at(-1)).toEqual({ type: 'removed', id: 'watched', principal: { id: 'ann' } })
      expect(JSON.stringify(told)).not.toContain('hidden')
      await other.stop()
      await watching
    })
  })

  test('are removed with their workflow, its history and their records, and their holders are notified', async () => {
    await play(async ({ one, other, handle, records, client }) => {
      const id = randomUUID()
      const session = await one.session(id, { principal: ann })
      await session.send('first').answer
      const elsewhere = await other.session(id, { principal: ann })
      await expect(one.remove(id, bob)).rejects.toMatchObject({ code: 'unauthorized' })
      expect((await session.send('second').answer).outcome).toBe('answered')
      await one.remove(id, ann)
      for (const gone of [session, elsewhere])
        await expect(gone.send('third').answer).rejects.toMatchObject({ code: 'session_closed' })
      expect(await records(id)).toEqual([])
      await until(() =>
        handle(id)
          .describe()
          .then(
            () => false,
            (cause: unknown) => cause instanceof WorkflowNotFoundError,
          ),
      )
      const runs: unknown[] = []
      for await (const run of client.workflow.list({ query: `WorkflowId = "${id}"` })) runs.push(run)
      expect(runs).toEqual([])
      const next = await one.session(id, { principal: bob })
      expect((await next.messages()).messages).toEqual([])
      expect((await next.send('hello').answer).outcome).toBe('answered')
      await one.remove(randomUUID())
    })
  })

  test('that were removed take nothing from a gateway that does not know yet, whoever has the name now', async () => {
    await play(async ({ one, deaf, records }) => {
      const [taken, free] = [randomUUID(), randomUUID()]
      const stale = [await deaf.session(taken, { principal: ann }), await deaf.session(free, { principal: ann })]
      for (const id of [taken, free]) await one.remove(id, ann)
      const next = await one.session(taken, { principal: bob })
      await next.send('hello').answer
      for (const session of stale)
        await expect(session.send('a secret').answer).rejects.toMatchObject({ code: 'session_closed' })
      expect(JSON.stringify(await records(taken))).not.toContain('a secret')
      expect(await records(free)).toEqual([])
      expect((await next.send('and on').answer).outcome).toBe('answered')
      const opened = await deaf.session(taken, { principal: bob })
      expect((await opened.messages()).messages).toHaveLength(4)
      expect((await opened.send('and here').answer).outcome).toBe('answered')
    })
  })
})

function hasFields(whole: object, fields: object): boolean {
  return Object.entries(fields).every(([name, value]) => (whole as Record<string, unknown>)[name] === value)
}
