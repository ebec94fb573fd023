// A soak in virtual time: one process, its conversations through listeners. Every half hour all come to rest, and the
// process's holdings are counted. With SQLite, sessions live for the whole soak and their logs are on disk; with the
// memory store, each session ends with its half hour and is removed, so nothing of it may remain.
import type { EventCursor, Store, Agent, Host, Timers, Tool } from '@baton/core/internal'
import { createRandom } from '@baton/core/testing'
import { createHost, createMemoryStore, createNodeEnvironment, openSqliteStore } from '@baton/host'
import { createMetrics } from '@baton/host/metrics'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countRequests } from '../simulator/count-requests.ts'
import { createCoarseTime } from './coarse-time.ts'
import type { Said, Talk } from './converse.ts'
import { converse, createSaid } from './converse.ts'
import { Gate } from './gate.ts'
import type { Holdings } from './holdings.ts'
import { takeHoldings } from './holdings.ts'
import { createSoakAgent, ReadBook } from './soak-model.ts'
import type { Soaked } from './soaked.ts'
import { checkRead, countOpen, sumSaid } from './soaked.ts'
import { frontOf } from '@baton/core/internal'
import type { Listener } from '@baton/runtime'
import { createListener } from '@baton/runtime'

export interface VirtualSoakOptions {
  readonly hours: number
  readonly sessions: number
  readonly seed: number
  readonly store: 'memory' | 'sqlite'
  readonly onSample: (name: string, holdings: Holdings) => void
}

const START_MS = Date.UTC(2026, 0, 1)
const STEP_MS = 250
const ROUND_MS = 30 * 60_000
/**
 * Milliseconds of each half hour reserved for coming to rest, including waits that a host keeps outside its sessions.
 */
const REST_MS = 5 * 60_000
const PACE = { gapMs: 2400, idleMs: 40 * 60_000 }

export async function soakInVirtualTime(init: VirtualSoakOptions): Promise<Soaked> {
  const { hours, sessions, store: kind } = init
  const world = await createWorld(init)
  const { time, gate, book, metrics } = world
  const samples: Holdings[] = []
  let isOver = false
  const said = Array.from({ length: sessions }, createSaid)
  const conversations = said.map((counts, slot) => world.begin(slot, counts, () => isOver))
  let failure: unknown
  const ended = Promise.all(conversations).catch((cause: unknown) => (failure = cause))
  const runUntil = async (ms: number): Promise<void> => {
    await time.runUntil(START_MS + ms)
    if (failure !== undefined) throw failure
  }
  const rounds = hours * 2
  for (let round = 1; round <= rounds; round++) {
    await runUntil(round * ROUND_MS - REST_MS)
    gate.close()
    await runUntil(round * ROUND_MS)
    if (gate.arrived !== sessions) book.report(`${sessions - gate.arrived} conversations did not come to rest`)
    checkRead(book, said)
    const open = countOpen(metrics, time.pending())
    const expected = kind === 'memory' ? 0 : sessions
    if (open['open sessions'] !== expected)
      book.report(`${open['open sessions']} sessions are open instead of ${expected}`)
    const holdings = await takeHoldings(open)
    samples.push(holdings)
    init.onSample(`${round / 2} h`, holdings)
    isOver = round === rounds
    gate.open()
  }
  await runUntil(rounds * ROUND_MS + REST_MS)
  await ended
  const closing = world.close()
  await runUntil(rounds * ROUND_MS + 2 * REST_MS)
  await closing
  return { samples, book, said: sumSaid(said) }
}

async function createWorld({ seed, store: kind }: VirtualSoakOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-soak-'))
  const disk =
    kind === 'sqlite'
      ? await openSqliteStore(join(folder, 'soak.sqlite'), { leaseMs: Infinity })
      : createMemoryStore({ leaseMs: Infinity })
  const { store, untilIdle } = watchRequests(disk)
  const time = createCoarseTime({ startMs: START_MS, stepMs: STEP_MS, untilIdle })
  const { clock, timers } = time
  const gate = new Gate(timers)
  const book = new ReadBook()
  const metrics = createMetrics({ nowMs: () => clock.nowMs() })
  const { newId, transport } = createNodeEnvironment({
    post: () => Promise.reject(new Error('a soak needs no network')),
  })
  const agent = createSoakAgent({ book, random: createRandom(seed), timers, isCalm: () => gate.isClosed })
  const { tools } = agent
  const host = createHost({ environment: { clock, timers, newId, transport }, store, observers: [metrics] })
  const begin = (slot: number, said: Said, isOver: () => boolean): Promise<void> => {
    let calls = 0
    let cursor: EventCursor | undefined
    const name = (): string => `call-${slot}-${calls}`
    const open = (): Promise<Talk> =>
      openListenerTalk({
        host,
        agent,
        timers,
        session: name(),
        cursor,
        onClose: (left) => void (cursor = left),
        onError: (code) => book.report(`conversation ${slot} received ${code}`),
        tools: [tools, tools.slice(0, 1), tools.slice(1)],
      })
    const end = async (): Promise<void> => {
      await host.remove(name())
      calls += 1
      cursor = undefined
    }
    const random = createRandom(seed * 100_003 + slot)
    return converse({ slot, random, gate, open, pace: PACE, ...(kind === 'memory' && { end }) }, said, isOver)
  }
  const close = async (): Promise<void> => {
    await host.stop()
    await disk.close()
    rmSync(folder, { recursive: true })
  }
  return { time, gate, book, metrics, begin, close }
}

/** `untilIdle` resolves once the store has answered all requests. */
function watchRequests(disk: Store) {
  let asked = 0
  let wake: (() => void) | undefined
  const store = countRequests(disk, (change) => {
    asked += change
    if (asked === 0) wake?.()
  })
  const untilIdle = (): Promise<void> | undefined =>
    asked === 0 ? undefined : new Promise<void>((resolve) => void (wake = resolve))
  return { store, untilIdle }
}

interface ListenerTalkOptions {
  readonly host: Pick<Host, 'session'>
  readonly agent: Agent
  readonly timers: Timers
  readonly session: string
  /** Cursor at which an earlier talk of the session ended. */
  readonly cursor: EventCursor | undefined
  readonly onClose: (cursor: EventCursor | undefined) => void
  readonly onError: (code: string) => void
  /** Tools by variant. */
  readonly tools: readonly (readonly Tool[])[]
}

/** Milliseconds between two checks of whether the agent has come to rest. */
const LOOK_MS = 1000

/** A conversation of a soak through a listener in the host's own process. */
async function openListenerTalk(init: ListenerTalkOptions): Promise<Talk> {
  const { host, agent, timers, session, cursor, tools } = init
  let failures = 0
  const listener: Listener = createListener(host, agent, { session, ...(cursor && { cursor }) })
  listener.on('error', ({ code }) => {
    failures += 1
    if (!code.startsWith('model_')) init.onError(code)
  })
  await listener.start()
  return {
    push: (speaker, text) => listener.push({ speaker, text }),
    event: ({ name, detail, isInterrupt }) =>
      listener.event({
        type: name,
        detail,
        label: 'Negotiation Event',
        ...(isInterrupt && { urgency: 'interrupt' }),
      }),
    pause: () => listener.pause(),
    stop: () => listener.stop(),
    start: (variant) =>
      listener.start(`You whisper to Ann, in the way number ${variant}.`, tools[variant % tools.length] ?? []),
    rest: async () => {
      const before = failures
      do await new Promise<void>((resolve) => void timers.start(LOOK_MS, resolve))
      while (frontOf(listener.session).phase !== 'idle')
      return failures === before
    },
    close: async () => {
      init.onClose(listener.cursor)
      await listener.close()
    },
  }
}
