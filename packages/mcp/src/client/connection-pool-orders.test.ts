// Everything that may happen to calls that share connections, in every order of three steps: each call gets a connection
// or a refusal, once, whatever becomes of the others (docs/mcp.md).
import type { Timers } from '@baton/core/internal'
import { expect, test } from 'vitest'
import type { Connection } from './connection.ts'
import type { Lease } from './connection-pool.ts'
import { ConnectionPool } from './connection-pool.ts'

const CONNECTIONS = 2

interface Call {
  readonly session: string | undefined
  readonly cancel: AbortController
  /** `undefined` while it waits. */
  end?: Lease | 'refused' | 'cancelled'
  isOver: boolean
}

class World {
  readonly calls: Call[] = []
  readonly openings: PromiseWithResolvers<Connection>[] = []
  readonly issues: string[] = []
  readonly #timers = new Set<() => void>()
  readonly #live = new Set<Connection>()
  readonly pool: ConnectionPool
  isClosed = false

  constructor() {
    const timers: Timers = {
      start: (_ms, callback) => {
        this.#timers.add(callback)
        return () => void this.#timers.delete(callback)
      },
    }
    const open = (): Promise<Connection> => {
      const opening = Promise.withResolvers<Connection>()
      this.openings.push(opening)
      return opening.promise
    }
    this.pool = new ConnectionPool({
      name: 'files',
      timers,
      connections: CONNECTIONS,
      waiting: 9,
      open,
      onReconnected() {},
    })
  }

  take(session: string | undefined): void {
    const call: Call = { session, cancel: new AbortController(), isOver: false }
    this.calls.push(call)
    const settle = (end: Exclude<Call['end'], undefined>): void => {
      if (call.end) this.issues.push(`a call of ${session} ended twice`)
      call.end = end
      this.#checkSharing()
    }
    this.pool.take(session, call.cancel.signal).then(settle, (cause: unknown) => {
      settle(cause === call.cancel.signal.reason ? 'cancelled' : 'refused')
    })
  }

  opens(): void {
    const close = async (): Promise<void> => void this.#live.delete(connection)
    const connection = { isModern: false, version: '1', readTail: () => '', close } as Partial<Connection> as Connection // the parts in use
    const opening = this.openings.shift()
    if (!opening) return
    this.#live.add(connection)
    if (this.#live.size > CONNECTIONS) this.issues.push(`${this.#live.size} connections`)
    opening.resolve(connection)
  }

  /** The connection that opened first. */
  first(): Connection | undefined {
    const [first] = this.#live
    return first
  }

  lose(connection: Connection): void {
    this.#live.delete(connection)
    this.pool.remove(connection)
  }

  fire(): void {
    const due = [...this.#timers]
    for (const callback of due) if (this.#timers.delete(callback)) callback()
  }

  end(call: Call | undefined): void {
    if (!call || typeof call.end !== 'object' || call.isOver) return
    call.isOver = true
    call.end.end()
  }

  live(): number {
    return this.#live.size
  }

  /** A connection to an older server runs calls of one session at a time. */
  #checkSharing(): void {
    const sessions = new Map<Connection, string>()
    for (const { end, session, isOver } of this.calls) {
      if (typeof end !== 'object' || isOver || session === undefined) continue
      const other = sessions.get(end.connection) ?? session
      if (other !== session) this.issues.push(`one connection runs calls of ${other} and ${session}`)
      sessions.set(end.connection, session)
    }
  }
}

const running = (world: World): Call | undefined =>
  world.calls.find((call) => typeof call.end === 'object' && !call.isOver)
const waiting = (world: World): Call | undefined => world.calls.find(({ end }) => !end)

const STEPS: Readonly<Record<string, (world: World) => void>> = {
  'a calls': (world) => world.take('a'),
  'b calls': (world) => world.take('b'),
  'c calls': (world) => world.take('c'),
  'lists are read': (world) => world.take(undefined),
  'the first that waits is cancelled': (world) => waiting(world)?.cancel.abort(new Error('cancelled')),
  'the first that runs is cancelled': (world) => running(world)?.cancel.abort(new Error('cancelled')),
  'the first that runs ends': (world) => world.end(running(world)),
  'a connection opens': (world) => world.opens(),
  'an opening fails': (world) => world.openings.shift()?.reject(new Error('refused')),
  'a connection breaks': (world) => {
    const connection = world.first()
    if (connection) world.lose(connection)
  },
  'a connection is forgotten': (world) => {
    const first = world.first()
    if (first) world.pool.drop(first)
  },
  'time passes': (world) => world.fire(),
  'nothing uses it': (world) => void world.pool.rest(),
  'it is closed': (world) => {
    world.isClosed = true
    void world.pool.close()
  },
}

const settle = async (): Promise<void> => {
  for (let turns = 0; turns < 6; turns += 1) await Promise.resolve()
}

/** Plays steps after two calls of two sessions, then lets all else end; returns what is wrong. */
async function play(steps: readonly string[]): Promise<readonly string[]> {
  const world = new World()
  for (const step of ['a calls', 'b calls', ...steps]) {
    STEPS[step]?.(world)
    await settle()
  }
  for (let rounds = 0; rounds < 20 && (waiting(world) || running(world) || world.openings.length > 0); rounds += 1) {
    while (world.openings.length > 0) world.opens()
    await settle()
    world.end(running(world))
    world.fire()
    await settle()
  }
  for (const call of world.calls) {
    if (!call.end) world.issues.push(`a call of ${call.session} waits for ever`)
    if (call.end === 'cancelled' && !call.cancel.signal.aborted)
      world.issues.push(`a call of ${call.session} was not cancelled`)
  }
  const { connections } = world.pool.status()
  if (connections !== world.live()) world.issues.push(`the pool has ${connections} of ${world.live()} connections`)
  // Sessions call again: one after another each gets a connection.
  for (const session of world.isClosed ? [] : ['a', 'b']) await callAgain(world, session)
  await world.pool.rest()
  if (world.live() > 0) world.issues.push(`${world.live()} connections stay open`)
  return world.issues
}

async function callAgain(world: World, session: string): Promise<void> {
  world.fire()
  world.take(session)
  await settle()
  while (world.openings.length > 0) world.opens()
  await settle()
  const call = world.calls.at(-1)
  if (typeof call?.end !== 'object') world.issues.push(`${session} calls again: ${call?.end ?? 'it waits'}`)
  world.end(call)
}

test.each(Object.keys(STEPS))('calls in every order of three steps that begins so: %s', async (first) => {
  const wrong: string[] = []
  const names = Object.keys(STEPS)
  for (const second of names)
    for (const third of names) {
      const issues = await play([first, second, third])
      if (issues.length > 0) wrong.push(`${[first, second, third].join(', ')}: ${issues.join('; ')}`)
    }
  expect(wrong.slice(0, 20)).toEqual([])
})

test('a connection that opens after nothing uses the server is closed', async () => {
  const world = new World()
  world.take('a')
  await settle()
  waiting(world)?.cancel.abort(new Error('cancelled'))
  await world.pool.rest()
  world.opens()
  await settle()
  expect([world.live(), world.pool.status().connections]).toEqual([0, 0])
})

test('a connection that opens while another one has ended serves other sessions at once', async () => {
  const world = new World()
  world.take('a')
  await settle()
  world.opens()
  await settle()
  world.take('b')
  await settle()
  const first = world.first()
  if (first) world.lose(first)
  world.opens()
  await settle()
  world.take('c')
  await settle()
  expect(world.calls.map(({ end }) => (typeof end === 'object' ? 'runs' : (end ?? 'waits')))).toEqual([
    'runs',
    'runs',
    'waits',
  ])
  expect(world.issues).toEqual([])
})
