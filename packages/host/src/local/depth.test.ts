// Values nested deeper than JSON.stringify can write: they are refused on input, and an old log that contains some can
// be read.
import { frontOf } from '@baton/core/internal'
import { tool } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import type { TestWorld } from './test-world.test-kit.ts'
import { act, createTestWorld, listCalls, noUnhandledRejections, SESSION } from './test-world.test-kit.ts'

noUnhandledRejections()

const TOO_DEEP = 'the arguments are deeper than 100 levels; nothing was executed'

/** Returns JSON for an object with this many levels. */
function writeDeep(levels: number): string {
  return `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
}

async function readEvents(world: TestWorld): Promise<string> {
  const session = await world.open()
  const events: unknown[] = []
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'live') break
    events.push(event)
  }
  return JSON.stringify([events, (await session.messages()).messages])
}

async function listSettlements(world: TestWorld) {
  return (await world.facts('call-settled')).map(({ settlement }) => settlement)
}

test.each([
  [100, { type: 'ok' }],
  [101, { type: 'error', code: 'invalid_arguments', message: TOO_DEEP }],
  [20_000, { type: 'error', code: 'invalid_arguments', message: TOO_DEEP }],
])('arguments that nest %d levels', async (levels, settlement) => {
  const call = { name: 'act', arguments: writeDeep(levels) }
  const world = createTestWorld({ tools: [act(() => 'ok')], steps: [{ calls: [call] }, { text: 'done' }] })
  const session = await world.open()
  expect((await world.time.until(session.send('go').answer)).text).toBe('done')
  expect(await listSettlements(world)).toMatchObject([settlement])
  expect(await readEvents(world)).toContain('done')
})

test.each([
  [100, { type: 'ok' }],
  [101, { type: 'error', code: 'result_invalid' }],
  [20_000, { type: 'error', code: 'result_invalid' }],
])('results of a tool and of a client that nest %d levels', async (levels, settlement) => {
  const deep = (): unknown => JSON.parse(writeDeep(levels))
  const remote = tool({ name: 'remote', description: 'Acts there', input: { type: 'object' } })
  const steps = [listCalls('act', 'remote'), { text: 'done' }]
  const world = createTestWorld({ tools: [act(deep), remote], steps })
  const session = await world.open()
  await session.attach({ remote: deep })
  expect((await world.time.until(session.send('go').answer)).text).toBe('done')
  expect(await listSettlements(world)).toMatchObject([settlement, settlement])
  expect(await readEvents(world)).toContain('done')
})

test.each([
  [100, { accepted: true }],
  [101, { code: 'result_invalid' }],
])('a result that a program brings by hand and that nests %d levels', async (levels, answer) => {
  const remote = tool({ name: 'remote', description: 'Acts there', input: { type: 'object' } })
  const world = createTestWorld({ tools: [remote], steps: [listCalls('remote'), { text: 'done' }] })
  const session = await world.open()
  const client = await frontOf(session).client({ client: 'app', leaseMs: 60_000 })
  const turn = session.send('go')
  await world.time.settle()
  const [call] = client.calls()
  const value = JSON.parse(writeDeep(levels)) as never
  const content = [{ type: 'text', text: '…' }] as const
  const brought = await client.result(call?.callId ?? '', { type: 'ok', content, value }).then(
    () => ({ accepted: true }),
    ({ code }: { code: string }) => ({ code }),
  )
  expect(brought).toEqual(answer)
  await client.result(call?.callId ?? '', { type: 'ok', content })
  expect((await world.time.until(turn.answer)).text).toBe('done')
})

test('an old log with such arguments and results is read, shown and continued', async () => {
  const first = createTestWorld({ tools: [act(() => ({ a: 1 }))], steps: [listCalls('act'), { text: 'done' }] })
  const session = await first.open()
  await first.time.until(session.send('go').answer)
  const records = await first.records()
  await first.host.stop()
  const store = createMemoryStore()
  await store.restore(SESSION, records.map(deepen))
  const world = createTestWorld({ tools: [act(() => 'ok')], steps: [{ text: 'again' }], store })
  expect(await readEvents(world)).toContain('done')
  const again = await world.open()
  expect((await world.time.until(again.send('go on').answer)).text).toBe('again')
})

/** The record as written by a version without the limit. */
function deepen(record: SessionRecord): SessionRecord {
  const text = JSON.stringify(record)
    .replace('"arguments":"{}"', `"arguments":${JSON.stringify(writeDeep(20_000))}`)
    .replace('"value":{"a":1}', `"value":${writeDeep(3000)}`)
  return JSON.parse(text) as SessionRecord // it was a record before
}
