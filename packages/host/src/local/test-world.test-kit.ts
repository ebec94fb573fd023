// Shared by the tests of the local host: a host in a world whose time only moves when a test moves it.
import type { AgentOptions, Clock, Environment, Session, Store, StoredSession } from '@baton/core/internal'
import { defineAgent } from '@baton/core/internal'
import type { Fact, FactOf, FactType, SessionRecord } from '@baton/core/machine'
import type { ScriptedModel, ScriptedModelOptions } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { act, collect, connectApp, listCalls, never, resultsTold, textsTold } from '@baton/testing/situation-parts'
import { afterAll, afterEach, beforeAll } from 'vitest'
import type { MemoryStore } from '../stores/memory-store.ts'
import { createMemoryStore } from '../stores/memory-store.ts'
import type { LocalHost } from './create-host.ts'
import type { HostOptions } from './host-options.ts'
import { createHost } from './create-host.ts'

interface Timer {
  readonly atMs: number
  readonly callback: () => void
}

export interface ManualTime {
  readonly environment: Environment
  /** Monotonic clock in milliseconds, unaffected by the wall clock. */
  nowMs(): number
  /** Sets the wall clock forward, or back if `ms` is negative. */
  setWall(ms: number): void
  /** Number of pending timers. */
  pending(): number
  /** Lets every promise run to completion. */
  settle(): Promise<void>
  /** Lets this much time pass; everything due meanwhile happens at its moment. */
  pass(ms: number): Promise<void>
  /** Lets time pass until `work` has ended, for up to an hour. */
  until<Value>(work: Promise<Value>): Promise<Value>
}

const START_MS = 1_000_000

export function createManualTime(): ManualTime {
  let nowMs = START_MS
  let wallAheadMs = 0
  let serial = 0
  let timers: readonly Timer[] = []
  const start = (delayMs: number, callback: () => void): (() => void) => {
    const timer = { atMs: nowMs + delayMs, callback }
    timers = [...timers, timer]
    return () => {
      timers = timers.filter((other) => other !== timer)
    }
  }
  // Nothing in these tests waits for more than promises, so all have run once the event loop has turned.
  const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
  const runNext = async (untilMs: number): Promise<boolean> => {
    await settle()
    const [next] = [...timers].sort((one, other) => one.atMs - other.atMs)
    if (!next || next.atMs > untilMs) return false
    timers = timers.filter((other) => other !== next)
    nowMs = Math.max(nowMs, next.atMs)
    next.callback()
    await settle()
    return true
  }
  const pass = async (ms: number): Promise<void> => {
    const untilMs = nowMs + ms
    while (await runNext(untilMs));
    nowMs = untilMs
  }
  const until = async <Value>(work: Promise<Value>): Promise<Value> => {
    const untilMs = nowMs + 3_600_000
    let ended = false
    work.finally(() => (ended = true)).catch(() => {})
    await settle()
    while (!ended)
      if (!(await runNext(untilMs))) throw new Error('nothing happens any more, and the work has not ended')
    return await work
  }
  const environment: Environment = {
    clock: { nowMs: () => nowMs + wallAheadMs, monotonicMs: () => nowMs - START_MS },
    timers: { start },
    newId: () => `id-${(serial += 1)}`,
    transport: { post: () => Promise.reject(new Error('this world has no network')) },
  }
  const setWall = (ms: number): void => void (wallAheadMs += ms)
  return { environment, nowMs: () => nowMs, setWall, pending: () => timers.length, settle, pass, until }
}

/** A clock that fails when the performer sets a timer, this many times. */
export function createBrokenClock(time: ManualTime, broken: { count: number }): Clock {
  const nowMs = (): number => {
    const isPerformer = new Error().stack?.includes('performer.ts') ?? false
    if (!isPerformer || broken.count === 0) return time.nowMs()
    broken.count -= 1
    throw new Error('there is no time')
  }
  return { nowMs }
}

export interface TestWorldOptions extends Partial<Omit<AgentOptions, 'model'>> {
  readonly steps: ScriptedModelOptions['steps']
  readonly models?: AgentOptions['model']
  readonly time?: ManualTime
  readonly store?: Store
  readonly host?: Partial<HostOptions>
}

export interface TestWorld {
  readonly time: ManualTime
  readonly store: Store
  readonly host: LocalHost
  readonly model: ScriptedModel
  readonly warnings: readonly string[]
  open(): Promise<Session>
  records(): Promise<readonly SessionRecord[]>
  facts<Type extends FactType>(type: Type): Promise<readonly FactOf<Type>[]>
}

export { act, collect, connectApp, listCalls, never, resultsTold, textsTold }

export const SESSION = 'tested'

export function createTestWorld(init: TestWorldOptions): TestWorld {
  const { steps, models, time = createManualTime(), host: options, store = ownStore(), ...agent } = init
  const model = createScriptedModel({ steps, timers: time.environment.timers })
  const warnings: string[] = []
  const host = createHost({
    environment: time.environment,
    store,
    ...(!options?.agents && { agent: defineAgent({ name: 'tested', ...agent, model: models ?? model }) }),
    log: { info: () => {}, warn: (message) => void warnings.push(message) },
    ...options,
  })
  const records = async (): Promise<readonly SessionRecord[]> => {
    const all: SessionRecord[] = []
    for await (const record of store.read(SESSION, 0)) all.push(record)
    return all
  }
  const isAmong =
    <Type extends FactType>(type: Type) =>
    (fact: Fact): fact is FactOf<Type> =>
      fact.type === type
  return {
    time,
    store,
    host,
    model,
    warnings,
    open: () => time.until(host.session(SESSION)),
    records,
    facts: async (type) => (await records()).flatMap((record) => record.facts).filter(isAmong(type)),
  }
}

/** A store of one host: leases need no renewal, so the clock is stopped when nothing else happens. */
export function ownStore(): MemoryStore {
  return createMemoryStore({ leaseMs: Infinity })
}

/** Milliseconds of a lease in a store shared by hosts. */
export const LEASE_MS = 10_000

/** A world of one process over a shared store. `die` ends its timers, including its renewals. */
export function createProcess(time: ManualTime, store: Store, init: TestWorldOptions) {
  let isAlive = true
  const { timers } = time.environment
  const start: typeof timers.start = (delayMs, callback) => timers.start(delayMs, () => isAlive && callback())
  const environment = { ...time.environment, timers: { start } }
  const world = createTestWorld({ time, store, ...init, host: { environment, ...init.host } })
  return { ...world, die: () => void (isAlive = false) }
}

/** A store for several hosts, with leases that expire. */
export function createSharedStore() {
  const time = createManualTime()
  return { time, store: createMemoryStore({ clock: time.environment.clock, leaseMs: LEASE_MS }) }
}

export async function listSessions(store: Store): Promise<readonly StoredSession[]> {
  const sessions: StoredSession[] = []
  for await (const one of store.list()) sessions.push(one)
  return sessions
}

/** Fails each test of the file that leaves an unhandled rejection. Call it once per file. */
export function noUnhandledRejections(): void {
  let unhandled: unknown[] = []
  const note = (cause: unknown): void => void unhandled.push(cause)
  beforeAll(() => void process.on('unhandledRejection', note))
  afterEach(async () => {
    await new Promise((resolve) => void setImmediate(resolve))
    const [cause] = unhandled
    const count = unhandled.length
    unhandled = []
    if (count > 0) throw new Error('a rejection was not handled', { cause })
  })
  afterAll(() => void process.off('unhandledRejection', note))
}
