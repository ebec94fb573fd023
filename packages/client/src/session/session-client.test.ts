// The client of version 2 against the real front over real sockets.
import { BatonError, defineAgent, tool } from '@baton/core'
import { frontOf } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { expect, onTestFinished, test } from 'vitest'
import type { SessionClient } from '../index.ts'
import { createCuttableWorld, environment, noteEvents, open, serve, serveAgent, until } from './session.test-kit.ts'

const NO_INPUT = { type: 'object', properties: {} } as const

function texts(client: SessionClient): readonly string[] {
  return client
    .getSnapshot()
    .messages.map((message) =>
      message.role === 'user'
        ? message.parts.map((part) => (part.type === 'text' ? part.text : part.type)).join()
        : message.steps.map(({ text }) => text).join('\n'),
    )
}

test('what is said is shown at once, accepted, and answered', async () => {
  const { url } = await serve([{ pieces: ['It ', 'is ', 'blue.'], pieceMs: 1 }])
  const client = open({ url, session: 's' })
  const said = client.send('What colour is the sky?')
  expect(client.getSnapshot().messages).toMatchObject([{ id: said.id, delivery: 'pending' }])
  await said.accepted
  expect(await said.answer).toMatchObject({ stop: 'end', text: 'It is blue.' })
  expect(texts(client)).toEqual(['What colour is the sky?', 'It is blue.'])
  expect(client.getSnapshot().messages[0]).not.toHaveProperty('delivery')
  expect(client.getSnapshot()).toMatchObject({ status: 'open', isLoaded: true, session: 's', agent: 'a' })
  const { messages, calls } = client.getSnapshot()
  await client.describe({ title: 'Sky' })
  await until(client, ({ title }) => title === 'Sky')
  expect(client.getSnapshot().messages).toBe(messages)
  expect(client.getSnapshot().calls).toBe(calls)
})

test('a client tool is claimed, run with its input, and its result is read', async () => {
  const look = tool({ name: 'look', description: 'looks', input: NO_INPUT, effect: 'once' })
  const { url, model } = await serve(
    [{ text: 'Let me look.', calls: [{ name: 'look', arguments: { at: 'sky' } }] }, { text: 'Blue.' }],
    [look],
  )
  const seen: unknown[] = []
  const client = open({
    url,
    tools: {
      look: (input: { readonly at: string }, { callId, name, signal }) => {
        seen.push(input, name, signal.aborted)
        return { callId, colour: 'blue' }
      },
    },
  })
  expect(await client.send('Sky?').answer).toMatchObject({ text: 'Let me look.\n\nBlue.' })
  expect(seen).toEqual([{ at: 'sky' }, 'look', false])
  expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain('blue')
  expect(client.getSnapshot().calls).toEqual([])
})

test('what an app without a person hears and notes has its approvals denied at once', async () => {
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object' },
    approval: true,
    execute: () => 'paid',
  })
  const { url } = await serve([{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'Nobody may.' }], [pay])
  const client = open({ url, asks: false })
  client.hear('Ann', 'Pay, please.')
  const { answer } = client.notify({ name: 'DUE' }) // read at once, with Ann's words
  expect(await answer).toMatchObject({ text: 'Nobody may.' })
})

test('approvals and questions are shown until they are answered', async () => {
  const pay = tool({
    name: 'pay',
    description: 'pays',
    input: NO_INPUT,
    approval: true,
    execute: async (_, { ask }) => JSON.stringify(await ask({ message: 'Which card?', schema: NO_INPUT })),
  })
  const { url } = await serve([{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'Paid.' }], [pay])
  const client = open({ url })
  const { answer } = client.send('Pay')
  const { approvals } = await until(client, (snapshot) => snapshot.approvals.length > 0)
  expect(approvals).toMatchObject([{ name: 'pay', input: {} }])
  await client.decide({ approvalId: approvals[0]?.approvalId ?? '', decision: 'approve' })
  const { questions } = await until(client, (snapshot) => snapshot.questions.length > 0)
  expect(questions).toMatchObject([{ message: 'Which card?' }])
  expect(client.getSnapshot().approvals).toEqual([])
  await client.answer({ questionId: questions[0]?.questionId ?? '', value: {} })
  expect(await answer).toMatchObject({ text: 'Paid.' })
  expect(client.getSnapshot().questions).toEqual([])
  await expect(client.decide({ approvalId: 'x', decision: 'deny' })).rejects.toMatchObject({ code: 'approval_refused' })
})

test('what is said without a connection waits, in its order, and is said once', async () => {
  const { url, host } = await serve(() => ({ text: 'Yes.' }))
  const wires = createCuttableWorld()
  const client = open({ url, session: 's', world: wires.world })
  await until(client, ({ status }) => status === 'open')
  wires.setOffline(true)
  wires.cut()
  await until(client, ({ status }) => status === 'waiting')
  const all = ['one', 'two', 'three'].map((text) => client.send(text))
  expect(client.getSnapshot().messages).toHaveLength(3)
  wires.setOffline(false)
  for (const { accepted } of all) await accepted
  await all[2]?.answer
  const { messages } = await (await host.session('s')).messages()
  expect(messages.flatMap((message) => (message.role === 'user' ? [message.id] : []))).toEqual(all.map(({ id }) => id))
})

test('a message that is refused says why, and can be said again or taken back', async () => {
  const { url } = await serve(() => ({ text: 'Yes.' }))
  const client = open({ url })
  const said = client.send('hello', { model: 'unknown-model' })
  await expect(said.accepted).rejects.toMatchObject({ code: expect.stringMatching(/^[a-z_]+$/) as string })
  await expect(said.answer).rejects.toMatchObject({ name: 'BatonError' })
  expect(client.getSnapshot().messages).toMatchObject([
    { delivery: 'failed', error: { code: expect.any(String) as string } },
  ])
  client.retry(said.id)
  expect(client.getSnapshot().messages).toMatchObject([{ delivery: 'pending' }])
  await until(client, ({ messages }) => messages.some((one) => 'delivery' in one && one.delivery === 'failed'))
  await client.withdraw(said.id)
  expect(client.getSnapshot().messages).toEqual([])
  expect(() => client.retry(said.id)).toThrow('refused')
})

test('an answer that fails rejects with its code, and one that is interrupted says what was said', async () => {
  const error = new BatonError({ code: 'model_auth_failed', message: 'the key is wrong' })
  const pieces = Array.from({ length: 2000 }, () => 'and ')
  const { url } = await serve([{ error }, { pieces, pieceMs: 5 }])
  const client = open({ url })
  await expect(client.send('a').answer).rejects.toMatchObject({ code: expect.stringMatching(/^model_/) as string })
  const { answer } = client.send('b')
  await until(client, () => texts(client).at(-1)?.startsWith('and ') ?? false)
  await client.interrupt({ heard: { type: 'chars', chars: 4 } })
  expect(await answer).toMatchObject({ stop: 'cancelled' })
})

test('a conversation is edited, asked again, forked and read in pages', async () => {
  let turn = 0
  const { url } = await serve(() => ({ text: `answer ${(turn += 1)}` }))
  const client = open({ url, session: 's' })
  const first = client.send('one')
  await first.answer
  expect(await client.regenerate().answer).toMatchObject({ text: 'answer 2' })
  expect(texts(client)).toEqual(['one', 'answer 2'])
  const edited = client.edit(first.id, 'other')
  expect(await edited.answer).toMatchObject({ text: 'answer 3' })
  expect(texts(client)).toEqual(['other', 'answer 3'])
  const fork = await client.fork()
  const copy = open({ url, session: fork, messages: 1 })
  await until(copy, ({ isLoaded }) => isLoaded)
  expect(copy.getSnapshot()).toMatchObject({ more: true })
  expect(await copy.older()).toBe(false)
  expect(texts(copy)).toEqual(['other', 'answer 3'])
  await copy.rewind({ message: copy.getSnapshot().messages[0]?.id ?? '' }).accepted
  await until(copy, ({ messages }) => messages.length === 0)
  expect(texts(client)).toHaveLength(2)
})

test('a broken connection in mid-answer goes on without a gap or a repeat', async () => {
  const pieces = Array.from({ length: 60 }, (_, index) => `${index} `)
  const { url } = await serve([{ pieces, pieceMs: 2 }])
  const wires = createCuttableWorld()
  const client = open({ url, world: wires.world })
  const events = noteEvents(client)
  const { answer } = client.send('count')
  await until(client, () => texts(client).at(-1)?.includes('10 ') ?? false)
  wires.cut()
  await until(client, () => texts(client).at(-1)?.includes('40 ') ?? false)
  wires.cut()
  expect(await answer).toMatchObject({ text: pieces.join('') })
  expect(texts(client).at(-1)).toBe(pieces.join(''))
  const told = events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('')
  expect(told).toBe(pieces.join(''))
  expect(wires.connections()).toBe(3)
})

test('a pure call that runs here while the server is started again runs once, and its result counts', async () => {
  const look = tool({ name: 'look', description: 'looks', input: NO_INPUT, effect: 'pure' })
  const model = createScriptedModel({
    steps: ({ messages }) => (messages.length > 1 ? { text: 'Blue.' } : { calls: [{ name: 'look', arguments: {} }] }),
  })
  const store = createMemoryStore()
  const agent = defineAgent({ name: 'a', model, tools: [look] })
  const first = await serveAgent({ agent, store })
  let runs = 0
  const gate = Promise.withResolvers<void>()
  const client = open({
    url: first.url,
    tools: {
      look: async () => {
        runs += 1
        await gate.promise
        return 'blue'
      },
    },
  })
  const claims: unknown[] = []
  client.on('event', (event) => void (event.type === 'call' && claims.push(event.call.status)))
  const { answer } = client.send('Sky?')
  await until(client, ({ calls }) => calls[0]?.call.status === 'running')
  await first.stop()
  const second = await serveAgent({ agent, store, front: { port: first.port } })
  onTestFinished(() => second.stop())
  await until(client, ({ status }) => status === 'open')
  await until(client, ({ calls }) => calls[0]?.call.status === 'running')
  gate.resolve()
  expect(await answer).toMatchObject({ text: 'Blue.' })
  expect(runs).toBe(1)
  expect(claims).toEqual(['proposed', 'waiting', 'running', 'proposed', 'waiting', 'running', 'settled'])
})

test('a once call that ends while the connection is down still brings its result, as a note with the next turn', async () => {
  const pay = tool({ name: 'pay', description: 'pays', input: NO_INPUT, effect: 'once' })
  const { url, host, model } = await serve(
    [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'It is paid.' }],
    [pay],
  )
  const { world, cut, setOffline } = createCuttableWorld()
  const gate = Promise.withResolvers<void>()
  let runs = 0
  const client = open({
    url,
    world,
    session: 's',
    tools: {
      pay: async () => {
        runs += 1
        await gate.promise
        return 'paid 5'
      },
    },
  })
  client.send('Pay.').answer.catch(() => {}) // its turn is stopped
  await until(client, ({ calls }) => calls[0]?.call.status === 'running')
  setOffline(true)
  cut()
  await until(client, ({ status }) => status === 'waiting')
  const session = frontOf(await host.session('s'))
  await session.control('stop')
  await session.control('start')
  gate.resolve()
  const ignored = session.events({ from: 'now', delivery: true })
  setOffline(false)
  for await (const event of ignored) if (event.type === 'result-ignored') break
  expect(await client.send('Did it work?').answer).toMatchObject({ text: 'It is paid.' })
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('finished after all: \\\"paid 5\\\"')
  expect(runs).toBe(1)
})

test('a wrong token closes the client for good, and says so', async () => {
  const { host } = await serve([])
  const server = await serveAgentWithToken(host)
  const client = open({ url: `${server}?token=wrong` })
  const said = client.send('hello')
  const { error } = await until(client, ({ status }) => status === 'closed')
  expect(error).toMatchObject({ code: 'unauthorized' })
  await expect(said.accepted).rejects.toMatchObject({ code: 'unauthorized' })
  expect(() => client.send('more')).toThrow('closed')
  const right = open({ url: `${server}?token=secret` })
  await until(right, ({ status }) => status === 'open')
})

async function serveAgentWithToken(host: Awaited<ReturnType<typeof serve>>['host']): Promise<string> {
  const front = createWebSocketFront(host, {
    ...environment,
    log: { info: () => {}, warn: () => {} },
    port: 0,
    token: 'secret',
  })
  onTestFinished(() => front.close())
  return (await front.listen()).url
}
