// The client of version 2 at its limits, and with unexpected frames.
import { defineAgent, tool } from '@baton/core'
import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createContent, createMemoryOutbox, openSession } from '../index.ts'
import { createCuttableWorld, open, serve, until } from './session.test-kit.ts'

const NO_INPUT = { type: 'object', properties: {} } as const

test('more than 100 inputs without a server are refused, and an error says so', () => {
  const wires = createCuttableWorld()
  wires.setOffline(true)
  const client = open({ url: 'ws://127.0.0.1:9/ws', world: wires.world })
  for (let index = 0; index < 100; index++) client.send(`${index}`)
  expect(() => client.send('one more')).toThrow('100 inputs are already waiting')
  expect(client.getSnapshot().messages).toHaveLength(100)
})

test('what waits is left in the outbox when a client is closed, and is said by the next one', async () => {
  const { url } = await serve(() => ({ text: 'Yes.' }))
  const outbox = createMemoryOutbox()
  const wires = createCuttableWorld()
  wires.setOffline(true)
  const first = open({ url, session: 's', world: wires.world, outbox })
  const { accepted } = first.send('hello', { id: 'm1' })
  first.close()
  await expect(accepted).rejects.toMatchObject({ code: 'session_closed' })
  const second = open({ url, session: 's', outbox })
  await until(second, ({ messages }) => messages.length === 2 && messages[1]?.role === 'assistant')
  expect(second.getSnapshot().messages[0]).toMatchObject({ id: 'm1', parts: [{ text: 'hello' }] })
})

test('a result that was not sent is brought by the next copy of the app, in the name of the first', async () => {
  const look = tool({ name: 'look', description: 'looks', input: NO_INPUT, effect: 'once' })
  const { url } = await serve([{ calls: [{ name: 'look', arguments: {} }] }, { text: 'Blue.' }], [look])
  const outbox = createMemoryOutbox()
  const wires = createCuttableWorld()
  const gate = Promise.withResolvers<void>()
  const tools = {
    look: async () => {
      await gate.promise
      return 'blue'
    },
  }
  const first = open({ url, session: 's', world: wires.world, outbox, tools })
  first.send('Sky?').answer.catch(() => {})
  await until(first, ({ calls }) => calls[0]?.call.status === 'running')
  wires.setOffline(true)
  wires.cut()
  const done = new Promise((resolve) => void first.on('outcome', resolve))
  gate.resolve()
  expect(await done).toMatchObject({ outcome: { output: 'blue' } })
  first.close()
  let runs = 0
  const second = open({ url, session: 's', outbox, tools: { look: () => (runs += 1) } })
  const { messages } = await until(second, ({ messages: shown }) => {
    const answer = shown.at(-1)
    return answer?.role === 'assistant' && answer.stop !== undefined
  })
  expect(JSON.stringify(messages)).toContain('blue')
  expect(runs).toBe(0)
})

test('content that is none does not leave the call open: the model reads why', async () => {
  const look = tool({ name: 'look', description: 'looks', input: NO_INPUT, effect: 'once' })
  const { url } = await serve([{ calls: [{ name: 'look', arguments: {} }] }, { text: 'I saw nothing.' }], [look])
  const picture = { type: 'picture', data: 'AAAA' } as never // of an app without types
  const client = open({ url, session: 's', tools: { look: () => createContent([picture]) } })
  expect(await client.send('Sky?').answer).toMatchObject({ text: 'I saw nothing.' })
  const { messages } = client.getSnapshot()
  expect(JSON.stringify(messages)).toContain('picture')
})

test('a device whose name is taken goes on under another one, and its call counts', async () => {
  const look = tool({ name: 'look', description: 'looks', input: NO_INPUT, effect: 'once' })
  const { url } = await serve([{ calls: [{ name: 'look', arguments: {} }] }, { text: 'Blue.' }], [look])
  const wires = createCuttableWorld()
  const gate = Promise.withResolvers<void>()
  let runs = 0
  const client = open({
    url,
    world: wires.world,
    tools: {
      look: async () => {
        runs += 1
        await gate.promise
        return 'blue'
      },
    },
  })
  const { answer } = client.send('Sky?')
  const before = await until(client, ({ calls }) => calls[0]?.call.status === 'running')
  wires.cut(4409)
  await until(client, ({ status }) => status !== 'open')
  await until(client, ({ status }) => status === 'open')
  gate.resolve()
  expect(await answer).toMatchObject({ text: 'Blue.' })
  expect(runs).toBe(1)
  expect(before.calls[0]?.call.holder).toMatch(/./)
})

test('a pure call of a client that is closed is run by another one at once', async () => {
  const look = tool({ name: 'look', description: 'looks', input: NO_INPUT, effect: 'pure' })
  const { url } = await serve([{ calls: [{ name: 'look', arguments: {} }] }, { text: 'Blue.' }], [look])
  const runs: string[] = []
  const aborted = Promise.withResolvers<void>()
  const first = open({
    url,
    session: 's',
    tools: {
      look: (_: unknown, { signal }) => {
        runs.push('first')
        signal.addEventListener('abort', () => aborted.resolve())
        return new Promise(() => {})
      },
    },
  })
  first.send('Sky?')
  await until(first, ({ calls }) => calls[0]?.call.status === 'running')
  const second = open({ url, session: 's', tools: { look: () => runs.push('second') } })
  await until(second, ({ calls }) => calls[0]?.call.status === 'running')
  first.close()
  await aborted.promise
  await until(second, ({ messages }) => {
    const answer = messages.at(-1)
    return answer?.role === 'assistant' && answer.stop === 'end'
  })
  expect(runs).toEqual(['first', 'second'])
})

test('a session that is deleted closes the client for good, and is not made again', async () => {
  const { url, host } = await serve(() => ({ text: 'Yes.' }))
  const client = open({ url, session: 's' })
  await client.send('one').answer
  await host.remove('s')
  const { error } = await until(client, ({ status }) => status === 'closed')
  expect(error).toMatchObject({ code: 'unknown_session' })
  expect(client.getSnapshot().messages).toHaveLength(2)
  expect(await host.has('s')).toBe(false)
})

test('another log under the same session is read anew', async () => {
  const first = await serve(() => ({ text: 'Yes.' }))
  const client = open({ url: first.url, session: 's' })
  for (const text of ['one', 'two', 'three']) await client.send(text).answer
  await first.stop()
  await serve(() => ({ text: 'No.' }), [], first.port)
  await until(client, ({ messages, status }) => status === 'open' && messages.length === 0)
  expect(await client.send('four').answer).toMatchObject({ text: 'No.' })
  expect(client.getSnapshot().messages).toHaveLength(2)
})

test('tools that the app brings, tools of any name, and results as parts', async () => {
  const look = tool({ name: 'look', description: 'looks', input: NO_INPUT })
  const { url, model } = await serve(
    [
      {
        calls: [
          { name: 'look', arguments: {} },
          { name: 'own', arguments: { at: 1 } },
        ],
      },
      { text: 'Done.' },
    ],
    [look],
  )
  const client = open({
    url,
    otherTool: (_: unknown, { name }) => createContent([{ type: 'text', text: `other ${name}` }]),
    ownTools: {
      own: {
        description: 'The app’s own',
        inputSchema: { type: 'object' },
        run: () => {
          throw new Error('it failed')
        },
      },
    },
  })
  await until(client, ({ status }) => status === 'open')
  expect(await client.send('go').answer).toMatchObject({ text: 'Done.' })
  const results = JSON.stringify(model.requests[1]?.messages.at(-1))
  expect(results).toContain('other look')
  expect(results).toContain('it failed')
})

test('what a speaker said, and what happened beside the conversation', async () => {
  const { url, host } = await serve(() => ({ text: 'Noted.' }))
  const client = open({ url, session: 's' })
  await client.hear('Ann', 'We meet on Monday').accepted
  const { answer } = client.notify({ name: 'door', message: 'The door bell rings' })
  expect(await answer).toMatchObject({ stop: 'end' })
  const { messages } = await (await host.session('s')).messages()
  expect(messages.map((one) => (one.role === 'user' ? one.from : one.role))).toContain('event')
})

test('a listener that throws keeps nothing from its turn', async () => {
  const { url } = await serve(() => ({ text: 'Yes.' }))
  const thrown: (() => void)[] = []
  const { world } = createCuttableWorld()
  const client = open({
    url,
    world: {
      ...world,
      start: (delayMs, callback) => {
        if (delayMs > 0) return world.start(delayMs, callback)
        thrown.push(callback)
        return () => {}
      },
    },
  })
  client.subscribe(() => {
    throw new Error('of the page')
  })
  expect(await client.send('hello').answer).toMatchObject({ text: 'Yes.' })
  expect(() => thrown[0]?.()).toThrow('of the page')
})

test('with the type of its agent an app knows its tools and the calls in messages and events', () => {
  const agent = defineAgent({
    name: 'phone',
    tools: [
      tool({ name: 'look', description: 'Looks', input: z.object({ at: z.string() }) }),
      tool({ name: 'clock', description: 'Tells the time', input: z.object({}), execute: () => 'noon' }),
    ],
  })
  const wires = createCuttableWorld()
  wires.setOffline(true)
  const place = { url: 'ws://127.0.0.1:9/ws', world: wires.world }
  const client = openSession<typeof agent>({
    ...place,
    tools: { look: ({ at }) => expectTypeOf(at).toEqualTypeOf<string>() },
  })
  client.on('event', (event) => {
    if (event.type === 'call' && event.call.name === 'look')
      expectTypeOf(event.call.input).toMatchTypeOf<{ at: string }>()
  })
  client.close()
  // @ts-expect-error there is no such tool
  openSession<typeof agent>({ ...place, tools: { lok: () => 1 } }).close()
  // @ts-expect-error the server runs it
  openSession<typeof agent>({ ...place, tools: { clock: () => 1 } }).close()
  // @ts-expect-error tols
  expect(() => openSession({ ...place, tols: {} })).toThrow('no option "tols"')
  expect(client.getSnapshot().status).toBe('closed')
})
