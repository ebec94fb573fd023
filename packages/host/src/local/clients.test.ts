// Clients of a local session: reattached after a store failure, and not retained once detached.
import { frontOf } from '@baton/core/internal'
import type { JsonObject, Tool, ToolSource } from '@baton/core'
import { tool } from '@baton/core'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import type { TestWorldOptions } from './test-world.test-kit.ts'
import {
  act,
  connectApp,
  listCalls,
  createTestWorld,
  noUnhandledRejections,
  ownStore,
  resultsTold,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const clientTool = (name: string) => tool({ name, description: name, input: { type: 'object' }, effect: 'pure' })

const world = (more: Partial<TestWorldOptions> = {}) =>
  createTestWorld({ tools: [clientTool('look')], steps: [listCalls('look'), { text: 'done' }], ...more })

test('a client stays attached when its session is opened again after a store failure', async () => {
  const run = world({
    tools: [clientTool('look'), act(() => 'server')],
    steps: [listCalls('look'), { text: 'one' }, listCalls('look'), { text: 'two' }],
  })
  const session = await run.open()
  await session.attach({ look: () => 'here' })
  await run.time.until(session.send('go').answer)
  const { append } = run.store
  Object.assign(run.store, { append: () => Promise.reject(new Error('disk full')) })
  await expect(run.time.until(session.send('lost').answer)).rejects.toMatchObject({ code: 'store_failed' })
  Object.assign(run.store, { append })
  expect((await run.time.until(session.send('again').answer)).text).toBe('two')
  expect(resultsTold(run.model)[0]?.text).toBe('here')
})

test.each([
  ['is no longer attached', false],
  ['is being attached again', true],
])('a result that comes while its session is opened again counts, although its client %s', async (_, comesBack) => {
  const run = world({ tools: [{ ...clientTool('look'), effect: 'once' }] })
  const session = await run.open()
  const leased = await run.time.until(frontOf(session).client({ client: 'tablet' }))
  if (comesBack) frontOf(session).onClientsGone(() => void leased.renew())
  const turn = session.send('go')
  await run.time.settle()
  const callId = leased.calls()[0]?.callId ?? ''
  await run.time.until(leased.claim(callId))
  const { append } = run.store
  Object.assign(run.store, { append: () => Promise.reject(new Error('disk full')) })
  await expect(run.time.until(session.describe({ title: 'lost' }))).rejects.toMatchObject({ code: 'store_failed' })
  Object.assign(run.store, { append })
  const brought = leased.result(callId, { type: 'ok', content: [{ type: 'text', text: 'here' }] })
  expect(await run.time.until(brought)).not.toHaveProperty('ignored')
  expect((await run.time.until(turn.answer)).text).toBe('done')
  expect(resultsTold(run.model)[0]?.text).toBe('here')
})

test('a result with an invalid call id is refused, and the session and its running call survive', async () => {
  const { time, open, records } = world()
  const session = await open()
  const attached = await session.attach({})
  const leased = await time.until(frontOf(session).client({ client: 'tablet', runs: ['look'] }))
  const turn = session.send('go')
  await time.settle()
  const outcome = { type: 'ok', content: [{ type: 'text', text: 'here' }] } as const
  const before = (await records()).length
  for (const callId of [null, 5, undefined, '', 'a\nb', 'x'.repeat(100_000)] as readonly string[])
    for (const bring of [leased.result.bind(leased), attached.result])
      await expect(time.until(bring(callId, outcome))).rejects.toMatchObject({
        code: 'invalid_event',
        message: expect.stringMatching(/^callId must/),
      })
  expect(await records()).toHaveLength(before)
  const [call] = leased.calls()
  await time.until(leased.claim(call?.callId ?? ''))
  expect(await time.until(leased.result(call?.callId ?? '', outcome))).not.toHaveProperty('ignored')
  expect((await time.until(turn.answer)).text).toBe('done')
})

test('a client that is being attached while its handle closes is not left behind in the session', async () => {
  const run = world()
  const session = await run.open()
  const other = await run.open() // keeps the session open
  const attaching = session.attach({ look: () => 'here' })
  const [refused] = await Promise.allSettled([attaching, run.time.until(session.close())])
  expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'session_closed' } })
  const turn = other.send('go')
  await run.time.settle()
  expect(await run.facts('call-offered')).toEqual([]) // no client is attached to run it
  turn.answer.catch(() => {})
})

test('an app that leaves two results has delivered both, although the first was checked long before the second', async () => {
  const checks: (() => void)[] = []
  const output = {
    '~standard': {
      version: 1,
      vendor: 'slow',
      validate: (value: unknown) =>
        new Promise<{ readonly value: unknown }>((resolve) => void checks.push(() => resolve({ value }))),
      jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
    },
  } as const
  const slow = (name: string) => ({ ...clientTool(name), output })
  const run = world({ tools: [slow('one'), slow('two')], steps: [listCalls('one', 'two'), { text: 'done' }] })
  const session = await run.open()
  const app = connectApp(session, { connection: 'app' })
  await app.attach()
  const turn = session.send('go')
  await run.time.settle()
  const calls = (await run.facts('call-offered')).map(({ callId }) => callId)
  const results = calls.map((callId) => app.result(callId, { type: 'ok', content: [{ type: 'text', text: '{}' }] }))
  await run.time.settle()
  checks.shift()?.()
  await run.time.settle()
  const left = app.detach()
  await run.time.settle()
  checks.shift()?.()
  expect(await run.time.until(Promise.all([...results, left]))).toMatchObject(Array(3).fill({ type: 'accepted' }))
  expect((await run.time.until(turn.answer)).text).toBe('done')
  expect(resultsTold(run.model).map(({ text }) => text)).toEqual(['{}', '{}'])
})

test('a client that lets go takes its tools with it', async () => {
  const run = world({ steps: () => ({ text: 'done' }) })
  const session = await run.open()
  const brought = { name: 'scan', description: 'Scans', inputSchema: { type: 'object' } } as const
  const client = await run.time.until(frontOf(session).client({ client: 'phone', tools: [brought] }))
  await run.time.until(session.send('one').answer)
  await run.time.until(client.detach())
  await run.time.until(session.send('two').answer)
  const offered = run.model.requests.map(({ tools }) => tools.map(({ name }) => name))
  expect(offered).toEqual([['look', 'scan'], ['look']])
})

const listScans = (length: number) =>
  Array.from({ length }, (_, index) => {
    const name = `scan${index}`
    return { name, description: name, inputSchema: { type: 'object' } } as const
  })

test('a client whose tools are refused is not attached: calls go to the one that is there', async () => {
  const run = world()
  const session = await run.open()
  const there = await run.time.until(frontOf(session).client({ client: 'tablet' }))
  const refused = frontOf(session).client({ client: 'phone', tools: listScans(129) })
  await expect(run.time.until(refused)).rejects.toMatchObject({ name: 'BatonError' })
  session.send('go').answer.catch(() => {})
  await run.time.settle()
  expect(there.calls().map(({ name }) => name)).toEqual(['look'])
})

test('an app whose new copy brings tools that are refused keeps its call', async () => {
  const run = world()
  const session = await run.open()
  const phone = await run.time.until(frontOf(session).client({ client: 'phone' }))
  const turn = session.send('go')
  await run.time.settle()
  const [call] = phone.calls()
  await phone.claim(call?.callId ?? '')
  const refused = frontOf(session).client({ client: 'phone', tools: listScans(129) })
  await expect(run.time.until(refused)).rejects.toMatchObject({ name: 'BatonError' })
  expect(await run.facts('client-detached')).toEqual([])
  const result = phone.result(call?.callId ?? '', { type: 'ok', content: [{ type: 'text', text: 'a garden' }] })
  expect(await run.time.until(result)).not.toHaveProperty('ignored')
  expect((await run.time.until(turn.answer)).text).toBe('done')
  expect(resultsTold(run.model).map(({ text }) => text)).toEqual(['a garden'])
})

test('an app that leaves after the result of a call with a picture has given it, however slow the store is', async () => {
  const disk = ownStore()
  const kept = Promise.withResolvers<void>()
  const put: typeof disk.blobs.put = async (...given) => {
    await kept.promise
    await disk.blobs.put(...given)
  }
  const store = { ...disk, blobs: { ...disk.blobs, put } }
  const run = world({ store, tools: [{ ...clientTool('look'), effect: 'once' }] })
  const session = await run.open()
  const app = connectApp(session, { connection: 'app' })
  await run.time.until(app.attach())
  const turn = session.send('go')
  await run.time.settle()
  const [call] = await run.facts('call-offered')
  const picture = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AAAA' } } as const
  const given = [app.result(call?.callId ?? '', { type: 'ok', content: [picture] }), app.detach()]
  await run.time.settle()
  kept.resolve()
  await run.time.until(Promise.all(given))
  await run.time.until(turn.answer)
  expect(await run.facts('call-settled')).toMatchObject([{ settlement: { type: 'ok' } }])
})

test('a client with an expired lease does not return by sending the result of another client’s call', async () => {
  const run = world()
  const session = await run.open()
  const late = await run.time.until(frontOf(session).client({ client: 'tablet', leaseMs: 1000 }))
  await run.time.pass(1001)
  const phone = await run.time.until(frontOf(session).client({ client: 'phone', leaseMs: 60_000 }))
  const turn = session.send('go')
  await run.time.settle()
  const [call] = phone.calls()
  await run.time.until(phone.claim(call?.callId ?? ''))
  const outcome = { type: 'ok', content: [{ type: 'text', text: 'forged' }] } as const
  expect(await run.time.until(late.result(call?.callId ?? '', outcome))).toMatchObject({ ignored: 'foreign' })
  expect((await run.facts('client-attached')).map(({ connection }) => connection)).toEqual(['tablet', 'phone'])
  await run.time.until(phone.result(call?.callId ?? '', { type: 'ok', content: [{ type: 'text', text: 'seen' }] }))
  await run.time.until(turn.answer)
  expect(resultsTold(run.model)).toEqual([{ isError: false, text: 'seen' }])
})

test('a client without a lease is removed after 30 seconds, and its call goes to another client', async () => {
  const run = world({ tools: [{ ...clientTool('look'), timeoutMs: 600_000 }] })
  const session = await run.open()
  const phone = await run.time.until(frontOf(session).client({ client: 'phone' }))
  const turn = session.send('go')
  await run.time.pass(29_999)
  expect(phone.calls()).toHaveLength(1)
  const other = await run.time.until(frontOf(session).client({ client: 'other', leaseMs: 60_000 }))
  await run.time.pass(2)
  expect(phone.calls()).toEqual([])
  expect(other.calls()).toHaveLength(1)
  turn.answer.catch(() => {})
})

test('a client that runs one tool is asked for that one only, even after renewing its lease', async () => {
  const run = world({ tools: [clientTool('look'), clientTool('scan')], steps: () => listCalls('look', 'scan') })
  const session = await run.open()
  const phone = await run.time.until(frontOf(session).client({ client: 'phone', runs: ['look'] }))
  await run.time.until(phone.renew())
  session.send('go').answer.catch(() => {})
  await run.time.settle()
  expect(phone.calls().map(({ name }) => name)).toEqual(['look'])
  expect(await run.facts('call-offered')).toHaveLength(1)
})

test('a program runs the calls of one answer in parallel', async () => {
  const gate = Promise.withResolvers<string>()
  const run = world({
    tools: [clientTool('look'), clientTool('scan')],
    steps: [listCalls('look', 'scan'), { text: 'done' }],
  })
  const session = await run.open()
  await session.attach({
    look: () => gate.promise,
    scan: () => {
      gate.resolve('seen beside it')
      return 'scanned'
    },
  })
  expect((await run.time.until(session.send('go').answer)).text).toBe('done')
  expect(resultsTold(run.model).map(({ text }) => text)).toEqual(['seen beside it', 'scanned'])
})

test('a program without a handler claims nothing, and answers by hand', async () => {
  const run = world()
  const session = await run.open()
  const client = await session.attach()
  const turn = session.send('go')
  await run.time.settle()
  const [offered] = await run.facts('call-offered')
  expect(await run.facts('call-claimed')).toEqual([])
  await client.result(offered?.callId ?? '', { type: 'ok', content: [{ type: 'text', text: 'by hand' }] })
  await run.time.until(turn.answer)
  expect(resultsTold(run.model)).toEqual([{ isError: false, text: 'by hand' }])
})

test('a client that was detached while its handler ran does not return with its result', async () => {
  const gate = Promise.withResolvers<string>()
  const run = world()
  const session = await run.open()
  const client = await session.attach({ look: () => gate.promise })
  session.send('go').answer.catch(() => {})
  await run.time.settle()
  await run.time.until(client.detach())
  gate.resolve('late')
  await run.time.settle()
  expect(await run.facts('client-attached')).toHaveLength(1)
  expect((await run.facts('result-ignored')).map(({ reason }) => reason)).toEqual(['foreign'])
})

test('a program that was too slow for the pieces of an answer still runs the call at its end', async () => {
  const run = world({
    models: {
      id: 'hasty',
      provider: 'hasty',
      capabilities: { tools: 'native', images: true },
      run: ({ messages }, sink) => {
        const isLast = messages.at(-1)?.role === 'tool'
        for (let piece = 0; piece < 20_000 && !isLast; piece += 1)
          sink({ type: piece % 2 ? 'text-delta' : 'reasoning-delta', text: 'x' })
        const call = { type: 'call', name: 'look', arguments: '{}' } as const
        const parts = [isLast ? ({ type: 'text', text: 'done' } as const) : call]
        return Promise.resolve({ parts, finish: isLast ? 'end' : 'tool-calls', usage: {}, model: 'hasty' })
      },
    },
  })
  const session = await run.open()
  await session.attach({ look: () => 'here' })
  expect((await run.time.until(session.send('go').answer)).text).toBe('done')
  expect((await run.facts('call-settled')).map(({ settlement }) => settlement.type)).toEqual(['ok'])
})

test('no other handle reports the outcome of an offer to an app', async () => {
  const run = world()
  const session = await run.open()
  const app = connectApp(session, { connection: 'app', sequential: true, claims: true })
  await app.attach()
  session.send('go').answer.catch(() => {})
  await run.time.settle()
  const { callId, offer } = (await run.facts('call-offered'))[0]!
  const other = await run.open()
  for (const type of ['call-reached', 'offer-failed'] as const)
    expect(await frontOf(other).submit({ type, callId, offer })).toMatchObject({
      type: 'refused',
      code: 'unauthorized',
    })
  expect(await app.reached(callId, offer)).toMatchObject({ type: 'accepted' })
})

test('an input arrives with all its other fields', async () => {
  const run = world({ steps: () => ({ text: 'done' }) })
  const session = await run.open()
  const app = connectApp(session, { connection: 'app', asks: true })
  await app.attach()
  const settings = { temperature: 0.5 }
  await run.time.until(app.say('said', [{ type: 'text', text: 'go' }], { settings, delivery: 'steer', asks: false }))
  await run.time.settle()
  expect(await run.facts('input-accepted')).toMatchObject([{ settings, delivery: 'steer', asks: false }])
  expect(run.model.requests[0]?.settings).toEqual(settings)
})

test('arguments changed by a person are checked against the tool from the client', async () => {
  const inputSchema = { type: 'object', properties: { room: { type: 'string' } }, required: ['room'] } as const
  const call = { name: 'scan', arguments: { room: 'hall' } }
  const run = world({ tools: [], approvalPolicy: () => 'ask', steps: [{ calls: [call] }, { text: 'done' }] })
  const session = await run.open()
  await connectApp(session, { connection: 'app', asks: true, claims: true }).attach()
  const brought = { name: 'scan', description: 'Scans', inputSchema } as const
  const phone = await run.time.until(frontOf(session).client({ client: 'phone', tools: [brought] }))
  session.send('go').answer.catch(() => {})
  await run.time.settle()
  const [request] = await session.approvals()
  const decide = (input: JsonObject) =>
    run.time.until(session.decide({ approvalId: request?.approvalId ?? '', decision: 'edit', input }))
  await expect(decide({ floor: 2 })).rejects.toMatchObject({ code: 'invalid_arguments' })
  await decide({ room: 'attic' })
  expect(phone.calls()).toMatchObject([{ arguments: '{"room":"attic"}' }])
})

test('a new copy of an app without tools removes those of its earlier copy', async () => {
  const run = world({ steps: () => ({ text: 'done' }) })
  const session = await run.open()
  const brought = { name: 'scan', description: 'Scans', inputSchema: { type: 'object' } } as const
  await run.time.until(frontOf(session).client({ client: 'phone', tools: [brought] }))
  await run.time.until(session.send('one').answer)
  await run.time.until(frontOf(session).client({ client: 'phone' }))
  await run.time.until(session.send('two').answer)
  const offered = run.model.requests.map(({ tools }) => tools.map(({ name }) => name))
  expect(offered).toEqual([['look', 'scan'], ['look']])
})

test('a program that waits for a tool of a source runs it once the source has it', async () => {
  const listeners: (() => void)[] = []
  let tools: readonly Tool[] = [clientTool('look')]
  const source: ToolSource = {
    name: 'editor',
    list: () => Promise.resolve(tools),
    onChange: (listener) => {
      listeners.push(listener)
      return () => {}
    },
  }
  const run = world({ tools: [], sources: [source], steps: [listCalls('later'), { text: 'done' }] })
  const session = await run.open()
  await session.attach({ later: () => 'here' })
  tools = [clientTool('look'), clientTool('later')]
  for (const tell of listeners) tell()
  await run.time.settle()
  expect((await run.time.until(session.send('go').answer)).text).toBe('done')
  expect(resultsTold(run.model)).toEqual([{ isError: false, text: 'here' }])
})

test('clients that were detached and readings that ended are not kept', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void // what the flag exposes
  const session = await world().open()
  const gone: WeakRef<object>[] = []
  for (let index = 0; index < 10; index++) {
    const client = await session.attach({})
    const events = session.events({ from: 'start' })
    gone.push(new WeakRef(client), new WeakRef(events))
    await client.detach()
    for await (const event of events) if (event.type === 'session') break
  }
  const countKept = (): number => {
    collectGarbage()
    return gone.slice(0, -2).filter((each) => each.deref() !== undefined).length
  }
  await expect.poll(countKept).toBe(0)
})
