// Copies of sessions, and conversations that were rewound behind their window before a host restart.
import type { Store } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { frontOf } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createHost } from './create-host.ts'

const PIXEL = Buffer.from('not really a picture').toString('base64')

const KINDS: readonly (readonly [string, () => Promise<Store>])[] = [
  ['memory', () => Promise.resolve(createMemoryStore())],
  ['SQLite', () => openSqliteStore(join(mkdtempSync(join(tmpdir(), 'baton-')), 's.db'))],
]

test.each(KINDS)('a copy in %s has the conversation and its images, and runs nothing again', async (_, open) => {
  let ran = 0
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object' },
    execute: async () => {
      ran += 1
      return await new Promise(() => {})
    },
  })
  const model = createScriptedModel({
    steps: ({ messages }, call) => {
      const last = messages.findLast(({ role }) => role === 'user')?.parts[0]
      if (last?.type === 'text' && last.text === 'pay') return { calls: [{ name: 'pay', arguments: {} }] }
      return { text: `answer ${call}` }
    },
  })
  const store = await open()
  const host = createHost({ store, agent: defineAgent({ name: 'a', model, tools: [pay] }) })
  const session = await host.session('s', { principal: { id: 'ann' } })
  const image = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: PIXEL } } as const
  await session.send([{ type: 'text', text: 'one' }, image], { inputId: 'one' }).answer
  await session.send('two', { inputId: 'two' }).answer
  const events = session.events({ from: 'now' })[Symbol.asyncIterator]()
  session.send('pay').answer.catch(() => {})
  for (let next = await events.next(); next.value?.type !== 'call' || next.value.call.status !== 'running';)
    next = await events.next()

  const whole = await host.session(await session.fork(), { principal: { id: 'ann' } })
  expect((await whole.messages()).messages.map(({ id }) => id)).toEqual(['one', 't1', 'two', 't2'])
  expect((await whole.info()).activity).toBe('idle')
  expect(ran).toBe(1)

  const part = await host.session(await session.fork({ before: 'two' }), { principal: { id: 'ann' } })
  expect((await part.send('other').answer).text).toMatch(/^answer/)
  const told = model.requests.at(-1)?.messages ?? []
  expect(told.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(told[0]?.parts[1]).toMatchObject({ type: 'image', source: { type: 'base64', data: PIXEL } })
  expect((await session.info()).activity).toBe('running')
  await expect(session.fork({ before: 'nobody’s' })).rejects.toMatchObject({ code: 'unknown_input' })
  await host.stop()
  await store.close()
})

test('a copy of a paused session has no message that waits: the original will answer it', async () => {
  const model = createScriptedModel({ steps: (_, call) => ({ text: `answer ${call}` }) })
  const host = createHost({ agent: defineAgent({ name: 'a', model }) })
  const session = await host.session('s')
  await session.send('one', { inputId: 'one' }).answer
  await frontOf(session).control('pause')
  const waiting = session.send('two', { inputId: 'two' })
  await expect.poll(async () => (await session.info()).queued.length).toBe(1)
  const copy = await host.session(await session.fork())
  expect((await copy.messages()).messages.map(({ id }) => id)).toEqual(['one', 't1'])
  expect((await copy.info()).queued).toEqual([])
  await frontOf(session).control('continue')
  await waiting.answer
  expect(model.requests).toHaveLength(2)
  await host.stop()
})

test('a copy made during a detached tool is told that the tool continues in the original', async () => {
  let end: (result: string) => void = () => {}
  const book = tool({
    name: 'book',
    description: 'Books',
    input: { type: 'object' },
    onInterrupt: 'detach',
    execute: () => new Promise<string>((resolve) => (end = resolve)),
  })
  const model = createScriptedModel({
    steps: (_, call) => (call === 0 ? { calls: [{ name: 'book', arguments: {} }] } : { text: `answer ${call}` }),
  })
  const told = () =>
    (model.requests.at(-1)?.messages.at(-1)?.parts ?? []).map((part) => (part.type === 'text' ? part.text : part.type))
  const host = createHost({ agent: defineAgent({ name: 'a', model, tools: [book] }) })
  const session = await host.session('s')
  const running = session.send('book')
  for await (const event of session.events({ from: 'start' }))
    if (event.type === 'call' && event.call.status === 'running') break
  await session.interrupt()
  await running.answer
  await session.send('meanwhile').answer
  const copy = await host.session(await session.fork())
  await copy.send('in the copy').answer
  expect(told()).toEqual([
    expect.stringMatching(
      /^The tool "book" \(call_.*\) continues in the original conversation, which will report its outcome$/,
    ),
    'in the copy',
  ])
  end('room 12')
  for await (const event of session.events({ from: 'start', delivery: true }))
    if (event.type === 'result-ignored') break
  await session.send('in the original').answer
  expect(told()).toEqual([expect.stringMatching(/^The tool "book" .* has ended: "room 12"$/), 'in the original'])
  await host.stop()
})

test('a message rewound behind the window is also reported to the model after a restart', async () => {
  const store = createMemoryStore()
  const model = createScriptedModel({ steps: (_, call) => ({ text: `answer ${call}` }) })
  const agent = defineAgent({ name: 'a', model, window: { exchanges: 2 } })
  const first = createHost({ agent, store })
  const session = await first.session('s')
  for (const text of ['zero', 'one', 'two', 'three', 'four']) await session.send(text, { inputId: text }).answer
  expect(await session.rewind({ message: 'one' })).toMatchObject({ type: 'accepted' })
  await first.stop()
  const second = createHost({ agent, store })
  await (await second.session('s')).send('again').answer
  const told = model.requests.at(-1)?.messages ?? []
  expect(told.map(({ parts }) => parts[0])).toMatchObject([{ text: 'zero' }, { text: 'answer 0' }, { text: 'again' }])
  await second.stop()
})
