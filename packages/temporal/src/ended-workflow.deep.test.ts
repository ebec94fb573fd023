// Sessions whose workflow was terminated from outside: they continue from their log, and leftovers of the terminated
// run change nothing.
import type { Store } from '@baton/core'
import { tool } from '@baton/core'
import { createMemoryStore } from '@baton/host'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import type { TemporalWorld, TemporalWorldOptions } from './temporal-world.test-kit.ts'
import { playInWorld, settlements, until } from './temporal-world.test-kit.ts'

const program = findTemporal('sessions whose workflow was terminated', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

const withWorld = (init: TemporalWorldOptions, play: (world: TemporalWorld) => Promise<void>): Promise<void> =>
  playInWorld(server, init, play)

const callOnce = { calls: [{ name: 'pay', arguments: '{}' }] }

describe.skipIf(!server)('a session whose workflow was terminated', () => {
  test('settles the call that ran, and ends its turn, as soon as it is opened again', async () => {
    let paid = 0
    const mayEnd = Promise.withResolvers<void>()
    const pay = tool({
      name: 'pay',
      description: 'pays',
      input: { type: 'object' },
      execute: async () => {
        paid += 1
        await mayEnd.promise
        return 'paid'
      },
    })
    await withWorld({ steps: [callOnce, { text: 'it is not known' }], tools: [pay] }, async (world) => {
      const id = randomUUID()
      const first = await world.host.session(id)
      first.send('pay', { inputId: 'one' }).answer.catch(() => {})
      await until(() => paid === 1)
      await world.handle(id).terminate('an operator')
      await first.close()
      const again = await world.host.session(id)
      expect((await again.turn('one').answer).text).toBe('it is not known')
      mayEnd.resolve()
      expect((await again.messages()).messages).toHaveLength(2)
      expect((await settlements(world, id)).map(({ type }) => type)).toEqual(['unknown'])
      expect(paid).toBe(1)
    })
  })

  test.each([
    ['before the next run does', true],
    ['after the next run did', false],
  ])('takes no harm from an activity of the ended run that writes %s', async (_, isEarlier) => {
    const store = createMemoryStore()
    const held: (() => void)[] = []
    let isHolding = false
    const slow: Store = {
      ...store,
      put: async (session, records) => {
        if (isHolding) await new Promise<void>((resolve) => held.push(resolve))
        await store.put(session, records)
      },
    }
    await withWorld({ steps: (__, call) => ({ text: `answer ${call}` }), store: slow }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      await session.send('first', { inputId: 'a' }).answer
      isHolding = true
      const second = session.send('second', { inputId: 'b' })
      await until(() => held.length === 1)
      await world.handle(id).terminate()
      const next = session.send('third', { inputId: 'c' })
      next.answer.catch(() => {})
      if (isEarlier) await until(() => held.length === 2)
      else isHolding = false
      if (!isEarlier) await until(async () => (await world.records(id)).some(({ epoch }) => epoch === 2))
      isHolding = false
      // The terminated run writes first, or last.
      for (const write of held) write()
      await until(async () => (await world.records(id)).some(({ epoch }) => epoch === 2))
      expect((await session.send('last', { inputId: 'd' }).answer).outcome).toBe('answered')
      const records = await world.records(id)
      expect(records.map(({ pos }) => pos)).toEqual(records.map((__, index) => index))
      const epochs = records.map(({ epoch }) => epoch)
      expect(epochs).toEqual(epochs.toSorted((one, other) => one - other))
      const facts = records.flatMap((record) => record.facts)
      const accepted = facts.flatMap((fact) => (fact.type === 'input-accepted' ? [fact.inputId] : []))
      expect(new Set(accepted).size).toBe(accepted.length)
      // The gateway had an answer for it, and submits it again if it was lost.
      expect((await second.answer).outcome).toBe('answered')
      expect(accepted.includes('b')).toBe(true)
    })
  })

  test('takes an input again that the ended run had taken and never wrote, even without other inputs', async () => {
    const store = createMemoryStore()
    let isLost = false
    const lost: (() => void)[] = []
    const leaky: Store = {
      ...store,
      put: async (session, records) => {
        if (!isLost) return await store.put(session, records)
        return await new Promise((_, reject) => lost.push(() => reject(new Error('it was lost'))))
      },
    }
    await withWorld({ steps: (_, call) => ({ text: `answer ${call}` }), store: leaky }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      await session.send('first', { inputId: 'a' }).answer
      isLost = true
      const second = session.send('second', { inputId: 'b' })
      await until(() => lost.length > 0)
      await world.handle(id).terminate()
      isLost = false
      expect((await second.answer).outcome).toBe('answered')
      const facts = (await world.records(id)).flatMap((record) => record.facts)
      const accepted = facts.flatMap((fact) => (fact.type === 'input-accepted' ? [fact.inputId] : []))
      expect(accepted).toEqual(['a', 'b'])
      for (const end of lost) end()
    })
  })
})
