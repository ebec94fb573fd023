// Models that apps run, against the real front over real sockets: the answer streams, calls run on the server, and an
// app that disconnects within an answer loses nothing.
import type { ClientModel, Model, SessionEvent } from '@baton/core/internal'
import { defineAgent, tool } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { clientModel } from '@baton/models/client'
import { expect, onTestFinished, test } from 'vitest'
import { createCuttableWorld, environment, noteEvents, open, serveAgent, until } from './session.test-kit.ts'

const ID = 'device/tiny'
const { timers } = environment

async function serve(given: { readonly others?: readonly Model[]; readonly waitMs?: number } = {}) {
  const model = clientModel({ id: ID, contextTokens: 4096, waitMs: given.waitMs ?? 20_000 })
  const look = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, execute: () => 'It is blue.' })
  const agent = defineAgent({ name: 'a', model: [model, ...(given.others ?? [])], tools: [look] })
  const store = createMemoryStore()
  const server = await serveAgent({ agent, store, front: { clientModels: [model] } })
  onTestFinished(() => server.stop())
  return { ...server, model }
}

function textOf(events: readonly SessionEvent[]): string {
  return events.map((event) => (event.type === 'text' ? event.text : '')).join('')
}

test('the model of the app answers: its text streams, and its calls run on the server', async () => {
  const { url } = await serve()
  const model = createScriptedModel({
    timers,
    steps: [
      { text: 'I look.', calls: [{ name: 'look', arguments: {} }] },
      { pieces: ['Blue', ' it', ' is.'], pieceMs: 60 },
    ],
  })
  const client = open({ url, models: { [ID]: model } })
  const events = noteEvents(client)
  expect(await client.send('Sky?').answer).toMatchObject({ text: 'I look.\n\nBlue it is.' })
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('It is blue.')
  expect(model.requests[0]?.tools.map(({ name }) => name)).toEqual(['look'])
  // Separate pieces are shown separately.
  expect(events.filter(({ type }) => type === 'text').length).toBeGreaterThanOrEqual(3)
  expect(textOf(events)).toBe('I look.Blue it is.')
})

test('an app that breaks off in the middle of an answer is asked again when it is back, and no text is told twice', async () => {
  const { url } = await serve()
  const net = createCuttableWorld()
  let asked = 0
  const model = createScriptedModel({
    timers,
    steps: () => ((asked += 1) === 1 ? { pieces: ['It ', 'is '], hangs: 'until-aborted' } : { text: 'It is blue.' }),
  })
  const client = open({ url, world: net.world, models: { [ID]: model } })
  const { answer } = client.send('Sky?')
  await until(client, ({ messages }) => JSON.stringify(messages).includes('It is '))
  net.cut()
  expect(await answer).toMatchObject({ text: 'It is blue.' })
  expect(asked).toBe(2)
  const shown = client.getSnapshot().messages.at(-1)
  expect(shown).toMatchObject({ role: 'assistant', steps: [{ text: 'It is blue.' }] })
})

test('another app of the session goes on where the first one has left', async () => {
  const { url } = await serve()
  const away = createScriptedModel({ steps: [{ pieces: ['It '], hangs: 'until-aborted' }] })
  const first = open({ url, session: 'shared', models: { [ID]: away } })
  const watching = open({ url, session: 'shared' })
  const { answer } = watching.send('Sky?')
  await until(watching, ({ messages }) => JSON.stringify(messages).includes('It '))
  first.close()
  open({ url, session: 'shared', models: { [ID]: createScriptedModel({ steps: [{ text: 'Blue.' }] }) } })
  expect(await answer).toMatchObject({ text: 'Blue.' })
})

test('without an app that runs it, the next model of the agent answers', async () => {
  const { url } = await serve({
    waitMs: 0,
    others: [createScriptedModel({ id: 'cloud', steps: [{ text: 'Cloudy.' }] })],
  })
  open({ url, session: 'another', models: { [ID]: createScriptedModel({ steps: [{ text: 'Not asked.' }] }) } })
  const client = open({ url, session: 'mine' })
  expect(await client.send('Sky?').answer).toMatchObject({ text: 'Cloudy.' })
})

test('an interrupt stops the model of the app', async () => {
  const { url } = await serve()
  const model = createScriptedModel({ steps: [{ pieces: ['It '], hangs: 'until-aborted' }] })
  let signal: { readonly aborted: boolean } | undefined
  const watched = {
    run: (...given: Parameters<Model['run']>) => {
      signal = given[2]
      return model.run(...given)
    },
  }
  const client = open({ url, models: { [ID]: watched } })
  const { answer } = client.send('Sky?')
  await until(client, ({ messages }) => JSON.stringify(messages).includes('It '))
  await client.interrupt()
  expect(await answer).toMatchObject({ stop: 'cancelled' })
  await expect.poll(() => signal?.aborted).toBe(true)
})

test('what an app throws fails the attempt with its code, and what is no answer is refused', async () => {
  const spare = createScriptedModel({ id: 'spare', steps: () => ({ text: 'spare' }) })
  const { url } = await serve({ others: [spare] })
  const broken = [
    () => Promise.reject(Object.assign(new Error('out of memory'), { code: 'model_overloaded' })),
    () => Promise.resolve({ parts: 'none' } as never),
    () => Promise.resolve({ parts: [{ type: 'text', text: 'x'.repeat(3_000_000) }] } as never),
  ]
  for (const run of broken) {
    const client = open({ url, models: { [ID]: { run } } })
    expect(await client.send('Sky?').answer).toMatchObject({ text: 'spare' })
    client.close()
  }
})

test.each([
  ['answers nothing', () => Promise.resolve(undefined as never)],
  ['answers what is not JSON', () => Promise.resolve({ parts: [], usage: { inputTokens: 5n } } as never)],
  [
    'writes a piece that is not JSON',
    async (_: unknown, sink: (piece: never) => void) => {
      sink({ type: 'text-delta', text: 5n } as never)
      return await new Promise<never>(() => {})
    },
  ],
  ['throws what has no words', () => Promise.reject({ message: 5n, toString: 5 } as never)],
])('the next model is asked where that of the app %s', async (_, run) => {
  const { url } = await serve({ others: [createScriptedModel({ id: 'spare', steps: [{ text: 'spare' }] })] })
  const client = open({ url, models: { [ID]: { run } } })
  expect(await client.send('Sky?').answer).toMatchObject({ text: 'spare' })
})

test('a model that the server does not leave to apps is refused when the session is opened', async () => {
  const { url } = await serve()
  const client = open({ url, models: { gpt: createScriptedModel({ steps: [] }) } })
  const { error } = await until(client, ({ status }) => status === 'closed')
  expect(error).toMatchObject({
    code: 'invalid_option',
    message: 'this server has no model "gpt" that apps may run',
    hint: 'Apps may run device/tiny.',
  })
})

/** The type that servers accept is assignable to the type that agents accept. */
export const typed: (model: ClientModel) => Model = (model) => model
