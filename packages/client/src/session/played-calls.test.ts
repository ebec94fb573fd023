// The calls of an app while its connection breaks, its server postpones requests, and other copies of the app run: each
// starts once, and its result arrives. The test plays the server.
import type { CallView } from '@baton/core'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import type { ClientError, OpenSessionOptions } from '../index.ts'
import type { OutboxEntry } from '../outbox/outbox.ts'
import { openSession } from '../index.ts'
import type { PlayedServer, SentFrame } from '../played-server.test-kit.ts'
import { createPlayedServer, openPlayed, settle, waitingCall } from '../played-server.test-kit.ts'

const url = 'ws://127.0.0.1:9/ws'

// A client loads this module when it has tools; preloading makes that immediate.
beforeAll(() => import('./client-calls.ts'))

const UNKNOWN = { type: 'unknown', code: 'tool_result_unknown', message: 'it may have run' } as const

interface Begun {
  readonly callId: string
  readonly signal: { readonly aborted: boolean }
  readonly resolve: (value: unknown) => void
}

/** The device that a session was opened with. */
function nameOf(request: SentFrame | undefined): string {
  const device = request?.['device'] as { readonly name: string } | undefined // it has a tool
  return device?.name ?? ''
}

/** An app whose tool `look` ends on demand. */
async function open(
  options: Partial<OpenSessionOptions> = {},
  left: readonly OutboxEntry[] = [],
  calls: readonly CallView[] = [],
) {
  const server = createPlayedServer()
  const begun: Begun[] = []
  const kept = new Map<string, OutboxEntry>()
  const look = (_: unknown, { callId, signal }: Pick<Begun, 'callId' | 'signal'>): Promise<unknown> =>
    new Promise((resolve) => void begun.push({ callId, signal, resolve }))
  const client = openSession({
    url,
    session: 's',
    world: server.world,
    tools: { look },
    outbox: {
      join: ({ onLeft }) => {
        if (left.length > 0) void Promise.resolve().then(() => onLeft(left))
        return {
          save: (entry) => void kept.set(`${entry.kind} ${entry.id}`, entry),
          remove: (kind, id) => void kept.delete(`${kind} ${id}`),
          leave: () => Promise.resolve(),
        }
      },
    },
    ...options,
  })
  onTestFinished(() => client.close())
  const errors: ClientError[] = []
  client.on('error', (error) => void errors.push(error))
  await settle()
  await settle()
  const opened = openPlayed(server, { calls })
  return { server, client, begun, kept, device: nameOf(opened), errors }
}

const offer = (server: PlayedServer, callId: string, device: string, more: object = {}): void =>
  server.tell({ type: 'call', call: waitingCall(callId, device, more) })

const grant = (server: PlayedServer, callId: string, index = -1): void =>
  server.accept(server.asked('call.claim').at(index), { call: { callId, name: 'look', input: {} } })

/** Opens the next connection, with the calls that are still open. */
function reconnect(server: PlayedServer, calls: readonly CallView[] = [], code = 1006): string {
  server.breakWith(code)
  server.advance(10_000)
  const request = openPlayed(server, { calls })
  return nameOf(request)
}

test('a call is claimed once, however often it is told, and only by the device that it is offered to', async () => {
  const { server, device, begun } = await open()
  offer(server, 'c1', device)
  offer(server, 'c1', device)
  offer(server, 'other', 'another device')
  offer(server, 'mine-elsewhere', device, { status: 'running' })
  server.tell({ type: 'call', call: { ...waitingCall('server', device), runs: 'server' } })
  expect(server.asked('call.claim').map(({ callId }) => callId)).toEqual(['c1'])
  grant(server, 'c1')
  offer(server, 'c1', device, { status: 'running' })
  await settle()
  expect([server.asked('call.claim').length, begun.length]).toEqual([1, 1])
})

test.each(['waiting', 'running'] as const)(
  'a claim whose answer was lost is asked again, and the call is begun once (it is %s then)',
  async (status) => {
    const { server, device, begun } = await open()
    offer(server, 'c1', device)
    const old = server.newest()
    reconnect(server, [waitingCall('c1', device, { status })])
    expect(server.asked('call.claim')).toHaveLength(1)
    grant(server, 'c1')
    server.say({ type: 'ok', re: old.sent.at(-1)?.id, call: { callId: 'c1', name: 'look', input: {} } }, old)
    await settle()
    expect(begun).toHaveLength(1)
  },
)

test.each(['runs', 'has ended'])(
  'a call that is offered again after a restart, while its handler %s, is not begun twice',
  async (phase) => {
    const { server, device, begun, kept } = await open()
    offer(server, 'c1', device)
    grant(server, 'c1')
    await settle()
    if (phase === 'has ended') begun[0]?.resolve('done')
    await settle()
    reconnect(server, [waitingCall('c1', device)])
    grant(server, 'c1')
    await settle()
    if (phase === 'runs') begun[0]?.resolve('done')
    await settle()
    expect([begun.length, begun[0]?.signal.aborted]).toEqual([1, false])
    expect(server.asked('call.result')).toMatchObject([{ callId: 'c1', outcome: { output: 'done' } }])
    server.accept(server.asked('call.result')[0])
    expect(kept.size).toBe(0)
  },
)

test('a call that was settled while nobody was connected is aborted, and its result is sent once', async () => {
  const { server, device, begun, kept, errors } = await open()
  for (const callId of ['c1', 'c2', 'c3']) offer(server, callId, device)
  for (const index of [0, 1]) grant(server, `c${index + 1}`, index)
  await settle()
  begun[1]?.resolve('done')
  await settle()
  expect(kept.has('result c2')).toBe(true)
  const ends = ['c1', 'c2', 'c3'].map((callId) => waitingCall(callId, device, { status: 'settled', result: UNKNOWN }))
  reconnect(server, ends)
  expect(server.asked('call.result')).toMatchObject([{ callId: 'c2', outcome: { output: 'done' }, device }])
  expect(begun.map(({ signal }) => signal.aborted)).toEqual([true, true])
  begun[0]?.resolve('late')
  await settle()
  expect([...kept.keys()]).toEqual(['result c2', 'result c1'])
  server.accept(server.asked('call.result')[0], { ignored: 'late' })
  server.refuse(server.asked('call.result')[1], 'illegal_input')
  expect([[...kept.keys()], errors]).toEqual([[], []])
  reconnect(server)
  expect([server.asked('call.result'), server.asked('call.claim'), begun.length]).toEqual([[], [], 2])
})

test('a call that is settled while it runs here is aborted, and what it brings is sent once', async () => {
  const { server, device, begun, kept } = await open()
  offer(server, 'c1', device)
  grant(server, 'c1')
  await settle()
  server.tell({ type: 'call', call: waitingCall('c1', device, { status: 'settled', result: UNKNOWN }) })
  expect(begun[0]?.signal.aborted).toBe(true)
  begun[0]?.resolve('late')
  await settle()
  expect(server.asked('call.result')).toMatchObject([{ callId: 'c1', outcome: { output: 'late' }, device }])
  server.accept(server.asked('call.result')[0], { ignored: 'late' })
  expect(kept.size).toBe(0)
})

test('a result of a former copy whose call has settled is sent in its name, once', async () => {
  const left: OutboxEntry = { kind: 'result', id: 'c1', atMs: 1, outcome: { output: 'seen' }, device: 'former' }
  const { server, begun, kept } = await open({}, [left])
  kept.set('result c1', left) // as the outbox has it
  await expect.poll(() => server.asked('call.result').length).toBe(1)
  expect(server.asked('call.result')).toMatchObject([{ callId: 'c1', device: 'former', outcome: { output: 'seen' } }])
  server.accept(server.asked('call.result')[0], { ignored: 'late' })
  reconnect(server)
  expect([server.asked('call.result'), begun, kept.size]).toEqual([[], [], 0])
})

test('a result is sent once for each connection, in the name under which its call was claimed, until the server has it', async () => {
  const { server, device, begun, kept } = await open()
  offer(server, 'c1', device)
  grant(server, 'c1')
  await settle()
  begun[0]?.resolve('seen')
  await settle()
  expect(server.asked('call.result')).toMatchObject([{ callId: 'c1', outcome: { output: 'seen' }, device }])
  // Another connection has taken the name.
  const renamed = reconnect(server, [waitingCall('c1', device, { status: 'running' })], 4409)
  expect(renamed).not.toBe(device)
  expect(server.asked('call.result')).toMatchObject([{ callId: 'c1', device }])
  offer(server, 'c1', device, { status: 'running' })
  expect(server.asked('call.result')).toHaveLength(1)
  expect(kept.has('result c1')).toBe(true)
  server.accept(server.asked('call.result')[0])
  expect(kept.has('result c1')).toBe(false)
})

test('a result has its own tries, whatever its claim took, and is told when they are used up', async () => {
  const { server, device, begun, kept, errors } = await open()
  offer(server, 'c1', device)
  const putOff = (type: string): void => {
    server.refuse(server.asked(type).at(-1), 'quota_exceeded', { retryable: true, retryAfterMs: 10 })
    server.advance(10)
  }
  for (const _ of Array.from({ length: 8 })) putOff('call.claim')
  grant(server, 'c1')
  await settle()
  begun[0]?.resolve('seen')
  await settle()
  for (const _ of Array.from({ length: 8 })) putOff('call.result')
  expect(server.asked('call.result')).toHaveLength(9)
  expect(new Set(server.asked('call.result').map(({ outcome }) => JSON.stringify(outcome))).size).toBe(1)
  expect([kept.size, errors.length]).toEqual([1, 0])
  putOff('call.result')
  expect([kept.size, errors.map(({ code }) => code)]).toEqual([0, ['quota_exceeded']])
})

test.each([
  ['for good', 'call_over', {}, 0],
  ['for a moment', 'quota_exceeded', { retryable: true, retryAfterMs: 10 }, 1],
])('a claim that is refused %s begins nothing until it is granted', async (_, code, more, again) => {
  const { server, device, begun, errors } = await open()
  offer(server, 'c1', device)
  server.refuse(server.asked('call.claim')[0], code, more)
  expect(begun).toEqual([])
  server.advance(10)
  expect(server.asked('call.claim')).toHaveLength(1 + again)
  if (again === 0) offer(server, 'c1', device)
  grant(server, 'c1')
  await settle()
  expect([begun.length, errors]).toEqual([1, []])
})

test('a call that is over no longer asks for anything, also when its claim was put off', async () => {
  const { server, device, begun } = await open()
  offer(server, 'c1', device)
  server.refuse(server.asked('call.claim')[0], 'quota_exceeded', { retryable: true, retryAfterMs: 10 })
  server.tell({ type: 'call', call: waitingCall('c1', device, { status: 'settled' }) })
  const waiting = server.waiting()
  server.advance(10)
  expect([server.asked('call.claim').length, begun.length]).toEqual([1, 0])
  expect(waiting).toBe(1)
})

test('a result that does not fit is told as one, and a call that has had its end is no error', async () => {
  const { server, device, begun, errors, kept } = await open()
  offer(server, 'c1', device)
  grant(server, 'c1')
  await settle()
  begun[0]?.resolve('x'.repeat(200_000))
  await settle()
  expect(server.asked('call.result')).toMatchObject([{ outcome: { error: expect.stringContaining('a frame of') } }])
  server.refuse(server.asked('call.result')[0], 'illegal_input')
  expect([errors, kept.size]).toEqual([[], 0])
})

test('a call that was begun and is offered anew is claimed and not begun again: its result is all that is missing', async () => {
  const { server, device, begun } = await open()
  offer(server, 'c1', device)
  grant(server, 'c1')
  await settle()
  // As after a restart of the server.
  const renamed = reconnect(server, [waitingCall('c1', device)], 4409)
  expect(server.asked('call.claim')).toEqual([])
  offer(server, 'c1', renamed)
  expect(server.asked('call.claim')).toHaveLength(1)
  grant(server, 'c1')
  await settle()
  begun[0]?.resolve('seen')
  await settle()
  expect(server.asked('call.result')).toMatchObject([{ outcome: { output: 'seen' }, device: renamed }])
  expect(begun).toHaveLength(1)
})

test('results of a former copy are sent in its name, and no call is begun for them', async () => {
  const left: OutboxEntry = { kind: 'result', id: 'c1', atMs: 1, outcome: { output: 'seen' }, device: 'former' }
  const { server, begun } = await open({}, [left], [waitingCall('c1', 'former', { status: 'running' })])
  await expect.poll(() => server.asked('call.result').length).toBe(1)
  expect(server.asked('call.result')).toMatchObject([{ callId: 'c1', device: 'former', outcome: { output: 'seen' } }])
  expect(begun).toEqual([])
})

test('calls of the past are not begun, and a hundred at most at once', async () => {
  const { server, device, errors } = await open()
  server.breakWith(1006)
  server.advance(10_000)
  server.begin()
  server.accept(server.asked('session.open')[0], { session: 's', info: {}, next: { pos: 0 } })
  offer(server, 'past', device)
  server.tell({ type: 'call', call: waitingCall('past', device, { status: 'settled' }) }, { type: 'live' })
  expect(server.asked('call.claim')).toEqual([])
  for (let index = 0; index < 101; index++) offer(server, `c${index}`, device)
  expect(server.asked('call.claim')).toHaveLength(100)
  expect(errors).toMatchObject([{ code: 'queue_full', message: '100 calls are already waiting' }])
})

test('a client that is closed aborts what it runs, releases its device, and leaves nothing that waits', async () => {
  const { server, client, device, begun, kept } = await open()
  offer(server, 'c1', device)
  offer(server, 'c2', device)
  grant(server, 'c1', 0)
  await settle()
  server.refuse(server.asked('call.claim')[1], 'quota_exceeded', { retryable: true, retryAfterMs: 10 })
  const asked = client.info().catch(({ code }: ClientError) => code)
  const statuses: string[] = []
  client.on('status', (status) => void statuses.push(status))
  client.close()
  client.close()
  expect(server.newest().sent.at(-1)).toMatchObject({ type: 'device.release' })
  expect([begun[0]?.signal.aborted, server.newest().isClosed, server.waiting()]).toEqual([true, true, 0])
  expect([await asked, statuses, kept.size]).toEqual(['session_closed', ['closed'], 0])
  expect(() => client.send('more')).toThrow('this client is closed')
  await expect(client.info()).rejects.toMatchObject({ code: 'session_closed' })
})

test('a tool that the app brings itself is run by it, also where another one runs all the others', async () => {
  const ran: string[] = []
  const ownTools = { look: { description: 'looks', inputSchema: {}, run: () => void ran.push('own') } }
  const { server, device } = await open({ tools: {}, ownTools, otherTool: () => void ran.push('other') })
  for (const name of ['look', 'else', 'toString']) {
    offer(server, name, device, { name })
    server.accept(server.asked('call.claim').at(-1), { call: { callId: name, name, input: {} } })
  }
  await settle()
  expect(ran).toEqual(['own', 'other', 'other'])
})

test.each(['invalid_event', 'not_permitted'])(
  'a result that the server refuses with %s is told to the model as an error, once, so that the call ends',
  async (code) => {
    const { server, device, begun, kept, errors } = await open()
    offer(server, 'c1', device)
    grant(server, 'c1')
    await settle()
    begun[0]?.resolve({ seen: 1 })
    await settle()
    server.refuse(server.asked('call.result')[0], code)
    expect(server.asked('call.result')).toMatchObject([
      { callId: 'c1', outcome: { output: { seen: 1 } } },
      { callId: 'c1', outcome: { error: `refused: ${code}` } },
    ])
    // The error in its place is not replaced again.
    server.refuse(server.asked('call.result')[1], code)
    expect(server.asked('call.result')).toHaveLength(2)
    expect([errors.map((error) => error.code), [...kept.keys()]]).toEqual([[code], []])
  },
)

test('the result of another page for a call that runs here does not take its place', async () => {
  let bring: ((entries: readonly OutboxEntry[]) => void) | undefined
  const outbox: OpenSessionOptions['outbox'] = {
    join: ({ onLeft }) => {
      bring = onLeft
      return { save: () => {}, remove: () => {}, leave: () => Promise.resolve() }
    },
  }
  const { server, device, begun } = await open({ outbox })
  // It was offered to this copy when the lease of the other page had ended.
  offer(server, 'c1', device)
  grant(server, 'c1')
  await settle()
  bring?.([{ kind: 'result', id: 'c1', atMs: 1, outcome: { output: 'of the other' }, device: 'another page' }])
  await settle()
  for (const request of server.asked('call.result')) server.accept(request, { ignored: 'foreign' })
  begun[0]?.resolve('mine')
  await settle()
  expect(server.asked('call.result').at(-1)).toMatchObject({ callId: 'c1', device, outcome: { output: 'mine' } })
})
