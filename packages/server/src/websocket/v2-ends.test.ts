// A version 2 connection over a session and a peer played by the test: what it holds (leases, names, models, handles,
// lists, links), and what remains when a request fails, a device changes, or the connection ends.
import type { ClientModel, LeaseClientOptions, Session, SessionChange, SessionEvent } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { Outcome } from '@baton/core/machine'
import type { RequestType, Requests, V2ServerFrame } from '@baton/protocol'
import { expect, test } from 'vitest'
import { DEFAULT_CONNECTION_LIMITS } from './limits.ts'
import { createMemorySocket } from './memory-socket.ts'
import { openV2Connection } from './v2-connection.ts'
import { DeviceNames } from './v2-device.ts'
import { waitForRoom } from './v2-follow.ts'
import { listTold } from './v2-spoken-events.ts'
import type { V2ConnectionOptions, V2State } from './v2-state.ts'

/** Time controlled by the test, and everything done to sessions, devices, models, lists and peers, in order. */
function createWorld() {
  let nowMs = 0
  let ids = 0
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>()
  const done: string[] = []
  const warned: string[] = []
  /** Failures for the next call of each name. */
  const failures = new Map<string, BatonError>()
  const pending = new Map<string, Promise<void>>()
  const act = async (what: string): Promise<void> => {
    done.push(what)
    const failure = failures.get(what)
    failures.delete(what)
    await pending.get(what)
    if (failure) throw failure
  }
  const streams = new Set<(event: SessionEvent | undefined) => void>()
  const gone = new Set<() => void>()
  const createEvents = () => {
    const waiting: (SessionEvent | undefined)[] = []
    let wake = (): void => {}
    const push = (event: SessionEvent | undefined): void => {
      waiting.push(event)
      wake()
    }
    streams.add(push)
    return {
      nextBatch: async () => {
        while (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve))
        const event = waiting.shift()
        return event && { events: [event], next: { pos: 1 } }
      },
      leave: () => {
        if (streams.delete(push)) done.push('events left')
        push(undefined)
      },
    }
  }
  const createLease = ({ client }: LeaseClientOptions) => ({
    connection: client,
    renew: () => act(`renew ${client}`),
    detach: () => act(`detach ${client}`),
    result: async (_callId: string, outcome: Outcome) => {
      await act(`result ${client} ${outcome.type === 'error' ? outcome.code : outcome.type}`)
      return {}
    },
  })
  const session = {
    id: 's',
    info: async () => ({ activity: 'idle', head: { pos: 1 } }),
    lastTurn: () => undefined,
    events: createEvents,
    onClientsGone: (callback: () => void) => {
      gone.add(callback)
      return () => void gone.delete(callback)
    },
    close: () => act('close'),
    describe: () => act('describe'),
    client: async (init: LeaseClientOptions) => {
      await act(`attach ${init.client}${init.onlyResults === true ? ' for results' : ''}`)
      return createLease(init)
    },
    submit: () => act('say').then(() => ({ type: 'accepted' })),
  } as unknown as Session // the parts in use
  const createModel = (id: string) =>
    ({
      id,
      attach: () => {
        done.push(`model ${id}`)
        return () => void done.push(`model ${id} left`)
      },
    }) as Partial<ClientModel> as ClientModel // likewise
  const watch = () => ({
    [Symbol.asyncIterator]: () => {
      done.push('watch')
      return {
        next: () => new Promise<IteratorResult<SessionChange>>(() => {}),
        return: () => {
          done.push('watch ended')
          return Promise.resolve({ done: true as const, value: undefined })
        },
      }
    },
  })
  const deviceNames = new DeviceNames()
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => void setImmediate(resolve))
  }
  const connect = (more: Partial<V2ConnectionOptions> = {}, change: Partial<V2ConnectionOptions['socket']> = {}) => {
    const { socket, ...rest } = createMemorySocket()
    const host = { session: () => act('open').then(() => session), has: async () => true, watch, stop: async () => {} }
    openV2Connection({
      socket: { ...socket, ...change },
      host: host as unknown as V2ConnectionOptions['host'], // likewise
      connection: 'c',
      principal: { id: 'ann' },
      clock: { nowMs: () => nowMs },
      timers: {
        start: (delayMs, callback) => {
          const timer = { atMs: nowMs + delayMs, callback }
          timers.add(timer)
          return () => void timers.delete(timer)
        },
      },
      newId: () => `n${(ids += 1)}`,
      log: { info: () => {}, warn: (message) => void warned.push(message) },
      limits: DEFAULT_CONNECTION_LIMITS,
      isDraining: () => false,
      allow: {},
      deviceNames,
      clientModels: [createModel('m/one'), createModel('m/two')],
      ...more,
    })
    /** Returns `ok`, or the code of the refusal. */
    const request = async <Type extends RequestType>(type: Type, given: Requests[Type]['given']): Promise<string> => {
      const id = `r${(ids += 1)}`
      rest.deliver(JSON.stringify({ id, type, ...given }))
      await settle()
      const answer = rest.sent
        .map((text) => JSON.parse(text) as V2ServerFrame)
        .find((frame) => 're' in frame && frame.re === id)
      return answer?.type === 'error' ? answer.code : (answer?.type ?? 'nothing')
    }
    return { ...rest, request }
  }
  return {
    connect,
    done,
    warned,
    failures,
    pending,
    settle,
    timers,
    gone,
    tell: (event: object) => {
      for (const push of streams) push(event as SessionEvent) // the fields in use
    },
    pass: async (ms: number) => {
      nowMs += ms
      for (const timer of timers) {
        if (timer.atMs > nowMs) continue
        timers.delete(timer)
        timer.callback()
      }
      await settle()
    },
  }
}

const OPEN = { session: 's', from: 'now' } as const
const phone = (models: readonly string[] = []) => ({ name: 'phone', leaseMs: 6000, models: [...models] })
const RUNNING = { type: 'session', activity: 'running', cursor: { pos: 1 } }
const RESTING = { type: 'session', activity: 'idle', cursor: { pos: 1 } }
const REFUSED = new BatonError({ code: 'invalid_option', message: 'no' })

test('a lease is renewed while work is in progress, and not at rest; new work renews it at once', async () => {
  const { connect, done, tell, pass, settle } = createWorld()
  const { request } = connect()
  expect(await request('session.open', { ...OPEN, device: phone() })).toBe('ok')
  done.length = 0
  await pass(2000)
  await pass(2000)
  expect(done).toEqual([])
  tell(RUNNING)
  await settle()
  expect(done).toEqual(['renew phone'])
  await pass(2000)
  expect(done).toEqual(['renew phone', 'renew phone'])
  tell(RESTING)
  await settle()
  await pass(60_000)
  expect(done).toHaveLength(2)
  expect(await request('input.send', { input: 'i', content: 'Hi' })).toBe('ok')
  expect(done.slice(2), 'the device is there before the turn begins').toEqual(['renew phone', 'say'])
})

test('a device is attached again at once when its session was restarted, at rest too, and if that fails with the next turn', async () => {
  const { connect, done, failures, gone, settle } = createWorld()
  const { request } = connect()
  await request('session.open', { ...OPEN, device: phone() })
  done.length = 0
  for (const tell of gone) tell()
  expect(done).toEqual(['renew phone'])
  await settle()
  failures.set('renew phone', REFUSED)
  for (const tell of gone) tell()
  await settle()
  await request('input.send', { input: 'i', content: 'Hi' })
  expect(done.slice(1)).toEqual(['renew phone', 'renew phone', 'say'])
  await request('session.close', {})
  expect(gone.size).toBe(0)
})

test.each([
  ['was accepted before the restart', undefined],
  ['the restart has lost', REFUSED],
])('a device whose renewal %s is attached again after it, before the next turn begins', async (_when, failure) => {
  const { connect, done, failures, pending, gone, tell, pass, settle } = createWorld()
  const { request } = connect()
  await request('session.open', { ...OPEN, device: phone() })
  await pass(2000)
  done.length = 0
  const renewals = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const [first, second] = renewals
  if (failure) failures.set('renew phone', failure)
  if (first) pending.set('renew phone', first.promise)
  tell(RUNNING)
  await settle()
  for (const each of gone) each()
  await settle()
  expect(done, 'it is under way').toEqual(['renew phone'])
  if (second) pending.set('renew phone', second.promise)
  first?.resolve()
  await settle()
  expect(done).toEqual(['renew phone', 'renew phone'])
  const said = request('input.send', { input: 'i', content: 'Hi' })
  await settle()
  expect(done).toHaveLength(2)
  second?.resolve()
  await said
  await settle()
  expect(done).toEqual(['renew phone', 'renew phone', 'say'])
})

test('a device that leaves while it is being attached again is not attached once more', async () => {
  const { connect, done, pending, gone, tell, pass, settle } = createWorld()
  const { request } = connect()
  await request('session.open', { ...OPEN, device: phone() })
  await pass(2000)
  const renewal = Promise.withResolvers<void>()
  pending.set('renew phone', renewal.promise)
  tell(RUNNING)
  await settle()
  for (const each of gone) each()
  await request('session.close', {})
  done.length = 0
  renewal.resolve()
  await settle()
  expect(done).toEqual([])
})

test('a renewal that fails is tried again', async () => {
  const { connect, done, failures, tell, pass, settle } = createWorld()
  const { request } = connect()
  await request('session.open', { ...OPEN, device: phone() })
  failures.set('renew phone', REFUSED)
  tell(RUNNING)
  await settle()
  await pass(2000)
  await pass(2000)
  expect(done.filter((what) => what === 'renew phone').length).toBeGreaterThanOrEqual(2)
})

test.each<[string, (world: ReturnType<ReturnType<typeof createWorld>['connect']>) => unknown, readonly string[]]>([
  ['closes the session', ({ request }) => request('session.close', {}), ['events left', 'close']],
  ['releases its device', ({ request }) => request('device.release', {}), ['detach phone']],
  ['is gone', ({ drop }) => drop(), ['events left', 'close']],
])(
  'an app that %s in the middle of a renewal renews no more, and its models and its name are free',
  async (_what, leave, expected) => {
    const { connect, done, pending, tell, pass, settle } = createWorld()
    const app = connect()
    await app.request('session.open', { ...OPEN, device: phone(['m/one']) })
    const renewal = Promise.withResolvers<void>()
    pending.set('renew phone', renewal.promise)
    tell(RUNNING)
    await settle()
    await pass(2000)
    done.length = 0
    await leave(app)
    renewal.resolve()
    await settle()
    for (let round = 0; round < 5; round += 1) await pass(2000)
    expect(done.toSorted()).toEqual([...expected, 'model m/one left'].toSorted())
    expect(app.sent.join()).not.toContain('session.closed')
    // The name is not taken from any connection.
    expect(await connect().request('session.open', { ...OPEN, device: phone() })).toBe('ok')
    expect(app.closed()?.code).not.toBe(4409)
  },
)

test.each([true, false])(
  'an app one of whose requests fails leaves its session; it is gone before: %s',
  async (isGone) => {
    const { connect, done, warned, pending, settle } = createWorld()
    let fails = false
    const app = connect(
      {},
      {
        bufferedBytes: () => {
          if (fails) throw new Error('the socket is gone')
          return 0
        },
      },
    )
    await app.request('session.open', OPEN)
    const said = Promise.withResolvers<void>()
    pending.set('say', said.promise)
    done.length = 0
    app.deliver(JSON.stringify({ id: 'a', type: 'input.send', input: 'i', content: 'Hi' }))
    await settle()
    fails = true
    if (isGone) app.drop()
    said.resolve()
    await settle()
    expect(done).toEqual(['say', 'events left', 'close'])
    expect(warned).toContain('a connection failed')
    expect(app.closed()?.code).toBe(isGone ? 1006 : 1011)
  },
)

test('an app whose reading cannot be answered is disconnected', async () => {
  let fails = false
  const { connect, done, warned, settle } = createWorld()
  const app = connect(
    {},
    {
      bufferedBytes: () => {
        if (fails) throw new Error('the socket is gone')
        return 0
      },
    },
  )
  await app.request('session.open', OPEN)
  done.length = 0
  app.deliver(JSON.stringify({ id: 'a', type: 'ping' }))
  fails = true
  await settle()
  expect([done, app.closed()?.code]).toEqual([['events left', 'close'], 1011])
  expect(warned).toContain('a connection failed')
})

test('after its release a connection is not a device, but may become one again under the same name', async () => {
  const { connect } = createWorld()
  const { request } = connect()
  await request('session.open', { ...OPEN, device: phone() })
  await request('device.release', {})
  expect(await request('call.claim', { callId: 'c1' })).toBe('illegal_input')
  expect(await request('device.attach', phone())).toBe('ok')
})

test('a device that attaches under a second name lets the first one go, and its models; under the same name it keeps its place', async () => {
  const { connect, done } = createWorld()
  const { request } = connect()
  await request('session.open', { ...OPEN, device: phone(['m/one']) })
  done.length = 0
  expect(await request('device.attach', { ...phone(['m/two']), name: 'desk' })).toBe('ok')
  expect(done).toEqual(['model m/two', 'attach desk', 'model m/one left', 'detach phone'])
  done.length = 0
  expect(await request('device.attach', { ...phone(), name: 'desk' })).toBe('ok')
  expect(done).toEqual(['attach desk', 'model m/two left'])
  const other = connect()
  await other.request('session.open', { ...OPEN, device: phone() })
  expect(other.closed(), 'the first name is free').toBeUndefined()
})

test('an attachment that is refused leaves the device and its models as they were', async () => {
  const { connect, done, failures } = createWorld()
  const { request, closed } = connect()
  await request('session.open', { ...OPEN, device: phone(['m/one']) })
  done.length = 0
  failures.set('attach desk', REFUSED)
  expect(await request('device.attach', { ...phone(['m/two']), name: 'desk' })).toBe('invalid_option')
  expect(done).toEqual(['model m/two', 'attach desk', 'model m/two left'])
  expect(await request('device.attach', { ...phone(['m/one', 'm/none']) })).toBe('invalid_option')
  expect(done.slice(3), 'nothing of a list is attached where one of it is unknown').toEqual([])
  await connect().request('session.open', { ...OPEN, device: phone() })
  expect(closed()?.code, 'the name was still its own').toBe(4409)
})

test('a session that cannot be followed with its device is left open nowhere', async () => {
  const { connect, done, failures } = createWorld()
  const { request } = connect()
  failures.set('attach phone', REFUSED)
  expect(await request('session.open', { ...OPEN, device: phone() })).toBe('invalid_option')
  expect(done).toEqual(['open', 'attach phone', 'events left', 'close'])
  expect(await request('session.open', OPEN)).toBe('ok')
})

test('of three connections of one device the newest has the name, even after the first one has ended', async () => {
  const { connect, settle } = createWorld()
  const [first, second, third] = [connect(), connect(), connect()]
  await first.request('session.open', { ...OPEN, device: phone() })
  await second.request('session.open', { ...OPEN, device: phone() })
  await settle()
  expect([first.closed()?.code, second.closed()?.code]).toEqual([4409, undefined])
  await third.request('session.open', { ...OPEN, device: phone() })
  expect([second.closed()?.code, third.closed()?.code]).toEqual([4409, undefined])
})

test('two sessions may have a device of one name each', async () => {
  const names = new DeviceNames()
  const taken: string[] = []
  const take = (session: string) => names.take(session, { name: 'phone' } as never, () => void taken.push(session)) // only its name is used
  take('s')
  take('t')
  expect(taken).toEqual([])
})

test('a list is watched once however often it is requested, until the connection ends', async () => {
  const { connect, done, settle } = createWorld()
  const { request, drop } = connect()
  expect([await request('session.watch', {}), await request('session.watch', {})]).toEqual(['ok', 'ok'])
  expect(done).toEqual(['watch'])
  drop()
  await settle()
  expect(done).toEqual(['watch', 'watch ended'])
})

test('a list that waits for a slow reader is not watched when the connection has ended', async () => {
  const { connect, done, pass } = createWorld()
  const { request, jam, drop } = connect()
  jam(DEFAULT_CONNECTION_LIMITS.outgoingBytes)
  await request('session.watch', {})
  drop()
  await pass(20)
  expect(done).toEqual([])
})

test('a session that is described by the way is closed again, also where it refuses', async () => {
  const { connect, done, failures } = createWorld()
  const { request } = connect()
  await request('session.describe', { session: 'other', title: 'One' })
  failures.set('describe', REFUSED)
  expect(await request('session.describe', { session: 'other', title: 'Two' })).toBe('invalid_option')
  expect(done).toEqual(['open', 'describe', 'close', 'open', 'describe', 'close'])
})

test.each([
  [{ messages: true }, 'i1'],
  [{ replace: 'again' }, 'i2'],
  [{ again: true }, 'i3'],
])('a server that drains begins no turn, and takes back what was said: %j', async (how, input) => {
  const { connect } = createWorld()
  let isDraining = false
  const { request } = connect({ isDraining: () => isDraining })
  await request('session.open', OPEN)
  isDraining = true
  const given = { input, message: 'm1', ...('messages' in how ? {} : how) }
  const answered = await request('input.rewind', given as Requests['input.rewind']['given'])
  expect(answered === 'server_draining').toBe(!('messages' in how))
  expect(await request('input.send', { input: 'i4', content: 'Hi' })).toBe('server_draining')
})

/** A peer that holds the session; the test writes its frames. */
function createPeer({ failures }: ReturnType<typeof createWorld>) {
  const sent: string[] = []
  let closed = 0
  let tell = (_text: string): boolean => true
  const hold = (): void => {
    const data = { owner: 'h', address: 'ws://10.0.0.2:1' }
    failures.set('open', new BatonError({ code: 'session_held', message: 'held', data }))
  }
  const more: Partial<V2ConnectionOptions> = {
    peers: { address: 'ws://10.0.0.1:1', secret: 'a secret of the peers' },
    reachPeer: async ({ isPassed = () => true }) => {
      tell = isPassed
      return { send: (text) => void sent.push(text), close: () => void (closed += 1) }
    },
  }
  /** Answers all requests that came. */
  const answer = (): void => {
    for (const text of sent.splice(0)) {
      const { id } = JSON.parse(text) as { readonly id: string }
      tell(JSON.stringify({ type: 'ok', re: id }))
    }
  }
  return { more, hold, sent, closed: () => closed, answer, tell: (frame: object) => tell(JSON.stringify(frame)) }
}

test('a session that a peer holds is left there before another one is opened here', async () => {
  const world = createWorld()
  const peer = createPeer(world)
  peer.hold()
  const { request } = world.connect(peer.more)
  expect(await request('session.open', OPEN), 'the peer answers').toBe('nothing')
  peer.tell({ type: 'ok', re: 'r1' })
  expect(await request('session.info', {})).toBe('nothing')
  expect(peer.sent.map((text) => (JSON.parse(text) as { type: string }).type)).toEqual(['session.open', 'session.info'])
  expect(await request('session.open', OPEN)).toBe('illegal_input')
  expect(await request('session.close', {}), 'the peer answers').toBe('nothing')
  expect(peer.closed()).toBe(0)
  peer.answer()
  await world.settle()
  expect(peer.closed()).toBe(1)
  expect(await request('session.open', OPEN)).toBe('ok')
  expect(await request('session.info', {})).toBe('ok')
})

test('a connection that a peer answers does not end by its silence, and its end is that of the peer’s', async () => {
  const world = createWorld()
  const peer = createPeer(world)
  peer.hold()
  const { request, closed, drop } = world.connect(peer.more)
  await request('session.open', OPEN)
  for (let minute = 0; minute < 30; minute += 1) await world.pass(60_000)
  expect([closed(), peer.closed()]).toEqual([undefined, 0])
  drop()
  await world.settle()
  expect(peer.closed()).toBe(1)
})

test('a result of another device goes in its name: over its own connection where that is there, and else without its tools', async () => {
  const { connect, done } = createWorld()
  const [phones, desk] = [connect(), connect()]
  await phones.request('session.open', { ...OPEN, device: phone() })
  await desk.request('session.open', { ...OPEN, device: { ...phone(), name: 'desk' } })
  done.length = 0
  const bring = (device?: string) =>
    desk.request('call.result', { callId: 'c1', outcome: { output: 1 }, ...(device !== undefined && { device }) })
  expect([await bring(), await bring('desk'), await bring('phone'), await bring('tablet')]).toEqual(Array(4).fill('ok'))
  expect(done).toEqual([
    'result desk ok',
    'result desk ok',
    'result phone ok',
    'attach tablet for results',
    'result tablet ok',
  ])
})

test.each<[string, (text: string) => Requests['call.result']['given']['outcome']]>([
  ['a value', (text) => ({ output: text })],
  ['contents', (text) => ({ content: [{ type: 'text', text }] })],
  ['an error', (text) => ({ error: text })],
])('a result over its bytes settles its call as too large, and is not passed on: %s', async (_what, create) => {
  const { connect, done } = createWorld()
  const { request } = connect({ limits: { ...DEFAULT_CONNECTION_LIMITS, resultBytes: 1000 } })
  await request('session.open', { ...OPEN, device: phone() })
  await request('call.result', { callId: 'c1', outcome: create('x'.repeat(900)) })
  await request('call.result', { callId: 'c2', outcome: create('x'.repeat(1000)) })
  expect(done.slice(-2)).toEqual([
    expect.stringMatching(/^result phone (?:ok|tool_failed)$/),
    'result phone result_too_large',
  ])
})

test('an app that reads the past gets a withdrawn and repeated offer once', () => {
  const offer = (status: string, at: number) => ({ type: 'call', call: { callId: 'c1', status }, cursor: { pos: at } })
  const events = [offer('waiting', 1), offer('waiting', 2), offer('running', 3)] as unknown as readonly SessionEvent[] // the fields in use
  const told = listTold({ events, next: { pos: 4 } })
  expect(told.map(({ next }) => next)).toEqual([{ pos: 2 }, { pos: 4 }])
})

test('a reader that reads a little now and then is waited for, and one that reads nothing for a minute is not', async () => {
  let waiting = 10_000
  let looks = 0
  const state = (takes: boolean) =>
    ({
      init: {
        socket: { bufferedBytes: () => waiting },
        limits: { outgoingBytes: 1000 },
        timers: {
          start: (_ms: number, callback: () => void) => {
            looks += 1
            if (takes && looks % 2000 === 0) waiting -= 1000
            queueMicrotask(callback)
            return () => {}
          },
        },
      },
      isGone: () => false,
    }) as unknown as V2State // the parts in use
  expect(await waitForRoom(state(true))).toBe(true)
  waiting = 10_000
  expect(await waitForRoom(state(false))).toBe(false)
})
