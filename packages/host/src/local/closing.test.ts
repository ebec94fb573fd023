// Closing and opening a session: in which order, and how much of its log is read.
import type { Model, Store, ToolContext } from '@baton/core'
import { tool } from '@baton/core'
import { expect, test } from 'vitest'
import { createManualTime, createTestWorld, noUnhandledRejections, ownStore, SESSION } from './test-world.test-kit.ts'

noUnhandledRejections()

test.each([
  ['host is stopped', 'stop'],
  ['session is removed', 'remove'],
] as const)('a model that is asked is told to end when its %s', async (_, how) => {
  const signals: Parameters<Model['run']>[2][] = []
  const time = createManualTime()
  const world = createTestWorld({ time, steps: () => ({ text: 'a long answer', pieceMs: 60_000 }) })
  const { run } = world.model
  Object.assign(world.model, {
    run: (...asked: Parameters<Model['run']>) => {
      signals.push(asked[2])
      return run(...asked)
    },
  })
  const session = await world.open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  await time.until(how === 'stop' ? world.host.stop() : world.host.remove(SESSION))
  expect(signals.map(({ aborted }) => aborted)).toEqual([true])
})

test('the store learns that a session was released when all its snapshots are stored', async () => {
  const time = createManualTime()
  const disk = ownStore()
  const acts: string[] = []
  const gate = Promise.withResolvers<void>()
  const store: Store = {
    ...disk,
    release: async (...given) => {
      acts.push(`released with ${given[2]} left`)
      await disk.release(...given)
    },
    snapshots: {
      ...disk.snapshots,
      put: async (...given) => {
        await gate.promise
        await disk.snapshots.put(...given)
        acts.push(`snapshot up to ${given[1].state.pos}`)
      },
    },
  }
  const world = createTestWorld({
    time,
    store,
    steps: () => ({ text: 'answer' }),
    host: { snapshotRecords: 4, lingerMs: 0 },
  })
  const session = await world.open()
  await time.until(session.send('go').answer)
  await session.close()
  await time.pass(1000)
  expect(acts).toEqual([])
  gate.resolve()
  await time.settle()
  const { length } = await world.records()
  expect(acts.at(-2)).toBe(`snapshot up to ${length - 1}`)
  expect(acts.at(-1)).toBe('released with nothing left')
})

test('a log that ends before its last record is damaged, and not taken for the whole', async () => {
  const disk = ownStore()
  const first = createTestWorld({ store: disk, steps: () => ({ text: 'answer' }) })
  const session = await first.open()
  await first.time.until(session.send('go').answer)
  await first.time.until(first.host.stop())
  const store: Store = {
    ...disk,
    read: async function* (name, fromPos) {
      for await (const record of disk.read(name, fromPos)) if (record.pos < 2) yield record
    },
  }
  const next = createTestWorld({ store, time: first.time, steps: [] })
  await expect(next.open()).rejects.toMatchObject({ code: 'log_damaged', message: expect.stringContaining('record 1') })
})

test('the streamed part of an answer is in the log, complete and in order, when its process dies', async () => {
  const said = 'one two three 😀 four five six seven eight'
  const world = createTestWorld({ steps: () => ({ text: said, pieceMs: 100 }) })
  const session = await world.open()
  session.send('go').answer.catch(() => {})
  await world.time.pass(3000)
  const pieces = await world.facts('attempt-progressed')
  const kept = pieces.map(({ text }) => text).join('')
  expect(kept.length).toBeGreaterThan(5)
  expect(said.startsWith(kept)).toBe(true)
  expect(pieces.map(({ offset }) => offset)).toEqual(
    pieces.map((_, index) => pieces.slice(0, index).reduce((sum, { text }) => sum + text.length, 0)),
  )
})

test.each(['detach', 'finish'] as const)(
  'a host that stops gives its time to a tool of an interrupted turn (%s)',
  async (onInterrupt) => {
    const time = createManualTime()
    const disk = ownStore()
    const booked = Promise.withResolvers<string>()
    const signals: ToolContext['signal'][] = []
    const book = tool({
      name: 'book',
      description: 'Books',
      input: { type: 'object' },
      onInterrupt,
      execute: (_, { signal }) => {
        signals.push(signal)
        return booked.promise
      },
    })
    const steps = (call: number) => (call === 0 ? { calls: [{ name: 'book', arguments: {} }] } : { text: 'answer' })
    const world = createTestWorld({ time, store: disk, tools: [book], steps: (_, call) => steps(call) })
    const session = await world.open()
    session.send('go').answer.catch(() => {})
    await time.settle()
    await time.until(session.interrupt())
    if (onInterrupt === 'detach') await time.until(session.send('next').answer)
    const stopping = world.host.stop({ drainMs: 5000 })
    await time.pass(1000)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    booked.resolve('table 4')
    await time.until(stopping)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    const again = createTestWorld({ time, store: disk, tools: [book], steps: () => ({ text: 'answer' }) })
    await time.until((await again.open()).send('more').answer)
    expect(JSON.stringify(again.model.requests.at(-1)?.messages)).toContain('table 4')
  },
)

test('a session that was let go before it came to rest, and is held and let go again, leaves no timer behind', async () => {
  const time = createManualTime()
  const input = { type: 'object' } as const
  const pay = tool({ name: 'pay', description: 'Pays', input, approval: true, execute: () => 'paid' })
  const steps = [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'Paid.' }]
  const world = createTestWorld({ time, tools: [pay], steps, host: { lingerMs: 0 } })
  const first = await world.open()
  first.send('go').answer.catch(() => {})
  await time.settle()
  await first.close()
  const again = await world.open()
  const [asked] = await again.approvals()
  await again.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
  await time.settle()
  await again.close()
  await time.settle()
  // Time does not advance, so a timer would still be pending.
  expect(time.pending()).toBe(0)
})
