// One turn with a client tool, an approval and a restart, on the real host over a SQLite file, with the spans that an
// OpenTelemetry exporter receives. Time is virtual, so every run produces the same result.
import type { Store } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, defineAgent, openSqliteStore, tool } from '@baton/host'
import { createSpanIds, traceSessions } from '@baton/host/opentelemetry'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { VirtualTime } from '../packages/testing/src/simulator/virtual-time.ts'
import { createVirtualTime } from '../packages/testing/src/simulator/virtual-time.ts'
import { z } from 'zod'

export interface RestartedTurn {
  readonly spans: readonly ReadableSpan[]
  /** Text of the last step. */
  readonly text: string
  /** Start of the turn, and the period without a running process: milliseconds since 1970. */
  readonly startMs: number
  readonly down: { readonly fromMs: number; readonly toMs: number }
}

const START_MS = Date.UTC(2026, 0, 1)
/** Durations of the turn's parts, in milliseconds of virtual time. */
const TAKES = { first: 1200, model: 300, connect: 500, down: 1500, place: 700, think: 900, book: 600 } as const

/** Plays the turn. */
export async function playRestartedTurn(): Promise<RestartedTurn> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-trace-'))
  const exporter = new InMemorySpanExporter()
  const work = { open: 0 }
  const time = createVirtualTime(START_MS, () => work.open === 0)
  let serial = 0
  const start = async (): Promise<Process> => {
    const store = watchStore(await openSqliteStore(join(folder, 'chat.db')), work)
    const ids = createSpanIds()
    const provider = new BasicTracerProvider({ idGenerator: ids, spanProcessors: [new SimpleSpanProcessor(exporter)] })
    const tracing = traceSessions({ tracer: provider.getTracer('baton'), ids })
    const host = createHost({
      agent: createAgent(time),
      store,
      observers: [tracing],
      environment: {
        clock: time.clock,
        timers: time.timers,
        newId: () => `id-${(serial += 1)}`,
        transport: { post: () => Promise.reject(new Error('there is no network here')) },
      },
    })
    const stop = async (): Promise<void> => {
      await host.stop()
      await tracing.settled()
      await store.close()
    }
    return { host, stop }
  }
  try {
    const { text, ...moments } = await playTurn(time, start)
    return { text, ...moments, spans: exporter.getFinishedSpans() }
  } finally {
    await rm(folder, { recursive: true })
  }
}

interface Process {
  readonly host: ReturnType<typeof createHost>
  stop(): Promise<void>
}

/** The first process ends while the device works and the person thinks. */
async function playTurn(
  time: VirtualTime,
  start: () => Promise<Process>,
): Promise<Pick<RestartedTurn, 'text' | 'startMs' | 'down'>> {
  const first = await start()
  const session = await first.host.session('trip')
  await session.attach({ 'device.place': () => new Promise(() => {}) })
  session.send('Book a room near me.', { inputId: 'booking' }).answer.catch(() => {})
  const startMs = time.nowMs()
  await time.pass(TAKES.first)
  await first.stop()
  const fromMs = time.nowMs()
  await time.pass(TAKES.down)
  const toMs = time.nowMs()

  const second = await start()
  await second.host.recover()
  await time.pass(TAKES.connect)
  const again = await second.host.session('trip')
  const place = async (): Promise<{ city: string }> => {
    await time.wait(TAKES.place)
    return { city: 'Oslo' }
  }
  await again.attach({ 'device.place': place })
  await time.pass(TAKES.think)
  const [asked] = await again.approvals()
  await again.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
  const { text } = await time.until(again.turn('booking').answer)
  await second.stop()
  return { text: text.trim(), startMs, down: { fromMs, toMs } }
}

function createAgent(time: VirtualTime) {
  const place = tool({ name: 'device.place', description: 'Where the user is', input: z.object({}), effect: 'pure' })
  const book = tool({
    name: 'rooms.book',
    description: 'Books a room',
    input: z.object({ nights: z.number() }),
    effect: 'once',
    approval: true,
    execute: async () => {
      await time.wait(TAKES.book)
      return { booked: true }
    },
  })
  const calls = [
    { name: 'device.place', arguments: {} },
    { name: 'rooms.book', arguments: { nights: 1 } },
  ]
  const model = createScriptedModel({
    id: 'scripted/model',
    timers: time.timers,
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? { pieces: ['I look. '], pieceMs: TAKES.model, calls }
        : { pieces: ['Your room ', 'is booked.'], pieceMs: TAKES.model },
  })
  return defineAgent({ name: 'travel', model, tools: [place, book] })
}

/** Counts the store's pending operations: virtual time is paused until they finish. */
function watchStore<S extends Store>(store: S, work: { open: number }): S {
  const watch = async <Value>(doing: Promise<Value>): Promise<Value> => {
    work.open += 1
    try {
      return await doing
    } finally {
      work.open -= 1
    }
  }
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...given: readonly unknown[]): unknown => {
        const answer: unknown = Reflect.apply(value, target, given)
        if (answer instanceof Promise) return watch(answer)
        return isAsyncIterable(answer) ? watchSteps(answer, watch) : answer
      }
    },
  })
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

async function* watchSteps(
  source: AsyncIterable<unknown>,
  watch: <Value>(doing: Promise<Value>) => Promise<Value>,
): AsyncGenerator<unknown> {
  const steps = source[Symbol.asyncIterator]()
  for (let step = await watch(steps.next()); step.done !== true; step = await watch(steps.next())) yield step.value
}
