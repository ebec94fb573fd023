// Spans of real sessions in OpenTelemetry's in-memory exporter: which spans exist, their ids, and how they ended, even
// if a process died meanwhile.
import { BatonError, tool } from '@baton/core'
import type { Session, Store } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'
import type { TestWorldOptions } from '../local/test-world.test-kit.ts'
import { act, createManualTime, createProcess, listCalls, never, ownStore } from '../local/test-world.test-kit.ts'
import { createSpanIds, traceSessions } from './opentelemetry.ts'
import type { Tracing } from './trace-sessions.ts'

function createExport(content = false) {
  const exporter = new InMemorySpanExporter()
  const ids = createSpanIds()
  const provider = new BasicTracerProvider({ idGenerator: ids, spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const start = (): Tracing => traceSessions({ tracer: provider.getTracer('baton'), ids, content })
  return { exporter, start }
}

type Process = ReturnType<typeof createProcess> & { readonly tracing: Tracing }

/** Successive processes over one store, with one exporter for their spans. */
function createProcesses({ content = false, time = createManualTime() } = {}) {
  const { exporter, start } = createExport(content)
  const store = ownStore()
  const begin = (init: TestWorldOptions): Process => {
    store.expireLeases()
    const tracing = start()
    return { ...createProcess(time, store, { ...init, host: { observers: [tracing], ...init.host } }), tracing }
  }
  return { begin, time, exporter, store }
}

/** One line per span: its parent, its name, how it ended. */
function drawTree(spans: readonly ReadableSpan[]): readonly string[] {
  const lines: string[] = []
  const draw = (parent: string | undefined, depth: number): void => {
    const children = spans.filter((span) => (span.parentSpanContext?.spanId ?? '') === (parent ?? ''))
    for (const span of children.toSorted((one, other) => toMs(one) - toMs(other))) {
      const { status, attributes, name } = span
      const outcome = attributes['baton.outcome']
      const error = status.code === SpanStatusCode.ERROR ? ` !${status.message}` : ''
      lines.push(`${'  '.repeat(depth)}${name}${outcome === undefined ? '' : `: ${String(outcome as string)}`}${error}`)
      draw(span.spanContext().spanId, depth + 1)
    }
  }
  draw(undefined, 0)
  return lines
}

function toMs({ startTime: [seconds, nanos] }: ReadableSpan): number {
  return seconds * 1000 + nanos / 1_000_000
}

const look = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, effect: 'pure' })
const pay = act(() => 'paid', { name: 'pay', effect: 'once', approval: true })

/** Sends a message, and runs everything that needs no time. */
async function begin(process: Process, said = 'go'): Promise<Session> {
  const session = await process.open()
  session.send(said).answer.catch(() => {})
  await process.time.settle()
  return session
}

async function rest(process: Process): Promise<void> {
  await process.time.pass(1000)
  await process.tracing.settled()
}

test('a turn with a client tool, an approval and a restart is one trace without a gap or a double', async () => {
  const { begin: start, time, exporter } = createProcesses()
  const tools = [look, pay]
  const first = start({ steps: [listCalls('look', 'pay')], tools })
  const session = await begin(first)
  await session.attach()
  await time.pass(2000)
  first.die()
  const before = exporter.getFinishedSpans().length
  expect(before).toBeGreaterThan(0)

  const second = start({ steps: [{ text: 'done' }], tools })
  const again = await second.open()
  await again.attach({ look: () => 'here' })
  await time.pass(500)
  const [asked] = await again.approvals()
  await again.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
  await rest(second)
  const spans = exporter.getFinishedSpans()
  expect(drawTree(spans)).toEqual([
    'invoke_agent tested: answered',
    '  step 1',
    '    chat model: answered',
    '    execute_tool look: ok',
    '      wait client: offered',
    '      wait client: returned',
    '      wait client: offered',
    '      wait client: ok',
    '    execute_tool pay: ok',
    '      approval pay: approve',
    '  step 2',
    '    chat model: answered',
  ])
  const ids = spans.map((span) => span.spanContext().spanId)
  expect(new Set(ids).size).toBe(ids.length)
  expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1)
  const turn = spans.find(({ name }) => name.startsWith('invoke_agent'))
  expect(turn?.events.map(({ name }) => name)).toEqual(['baton.host_restarted'])
  expect(turn?.kind).toBe(SpanKind.INTERNAL)
  const took = (name: string): number => {
    const span = spans.find((each) => each.name === name)
    return span ? span.duration[0] * 1000 + span.duration[1] / 1_000_000 : -1
  }
  expect(took('invoke_agent tested')).toBe(2500)
  expect(took('approval pay')).toBe(2500)
})

test('a fold from scratch gives the same ids in any process', async () => {
  const run = async (): Promise<readonly string[]> => {
    const { begin: start, exporter } = createProcesses()
    const process = start({ steps: [listCalls('act'), { text: 'done' }], tools: [act(() => 'did')] })
    await begin(process)
    await rest(process)
    return exporter.getFinishedSpans().map((span) => `${span.spanContext().traceId} ${span.spanContext().spanId}`)
  }
  const ids = await run()
  expect(ids).toHaveLength(6)
  expect(await run()).toEqual(ids)
})

test('calls that were cancelled, timed out or have no known outcome show it', async () => {
  const { begin: start, time, exporter } = createProcesses()
  const slow = (name: string, effect: 'pure' | 'once') => act(never, { name, effect, timeoutMs: 3000 })
  const tools = [
    slow('late', 'pure'),
    slow('unsure', 'once'),
    act(() => Promise.reject(new Error('secret')), { name: 'fails' }),
  ]
  const process = start({ steps: [listCalls('late', 'unsure', 'fails'), listCalls('late', 'unsure')], tools })
  const session = await begin(process)
  await time.pass(5000)
  await session.interrupt()
  await rest(process)
  const calls = drawTree(exporter.getFinishedSpans()).filter((line) => line.includes('execute_tool'))
  expect(calls.map((line) => line.trim())).toEqual([
    'execute_tool fails: error !tool_failed',
    'execute_tool late: timed-out !timed_out',
    'execute_tool unsure: unknown !outcome_unknown',
    'execute_tool late: cancelled',
    'execute_tool unsure: unknown !outcome_unknown',
  ])
  expect(
    JSON.stringify(exporter.getFinishedSpans().map(({ attributes, status }) => ({ attributes, status }))),
  ).not.toContain('secret')
})

test('each attempt of a model is a span: retries, the fallback, an attempt cut off with its process', async () => {
  const { begin: start, time, exporter } = createProcesses()
  const error = new BatonError({ code: 'model_overloaded', message: 'busy' })
  const hangs: ScriptedStep = { text: 'half', hangs: 'for-ever' }
  const first = start({ steps: [{ error }, hangs] })
  await begin(first)
  await time.pass(5000)
  first.die()
  const second = start({ steps: [{ text: 'whole', usage: { inputTokens: 4, outputTokens: 2, costMicros: 1500 } }] })
  await second.open()
  await rest(second)
  const spans = exporter.getFinishedSpans()
  expect(drawTree(spans)).toEqual([
    'invoke_agent tested: answered',
    '  step 1',
    '    chat model: superseded !model_overloaded',
    '    chat model: superseded !host_restarted',
    '    chat model: answered',
  ])
  expect(spans.find(({ attributes }) => attributes['baton.attempt'] === 3)?.attributes).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'scripted',
    'gen_ai.request.model': 'model',
    'gen_ai.response.finish_reasons': ['end'],
    'gen_ai.usage.input_tokens': 4,
    'gen_ai.usage.output_tokens': 2,
    'baton.cost_usd': 0.0015,
  })
})

test('the turn belongs to the trace of its caller, even if its input waited and the process died', async () => {
  const { begin: start, time, exporter } = createProcesses()
  const [one, two] = ['1', '2'].map((digit) => `00-${digit.repeat(32)}-${'b'.repeat(16)}-01`)
  const first = start({ steps: [{ text: 'a', hangs: 'for-ever' }] })
  const session = await first.open()
  session.send('first', { traceparent: one ?? '' }).answer.catch(() => {})
  await time.settle()
  session.send('second', { traceparent: two ?? '' }).answer.catch(() => {})
  await time.settle()
  first.die()
  const second = start({ steps: [{ text: 'b' }, { text: 'c' }] })
  await second.open()
  await rest(second)
  const turns = exporter.getFinishedSpans().filter(({ name }) => name.startsWith('invoke_agent'))
  expect(turns.map((turn) => [turn.spanContext().traceId, turn.parentSpanContext?.spanId])).toEqual([
    ['1'.repeat(32), 'b'.repeat(16)],
    ['2'.repeat(32), 'b'.repeat(16)],
  ])
})

test('an input that waited for its turn is linked by the process that continues the turn', async () => {
  const { begin: start, time, exporter } = createProcesses()
  const first = start({
    steps: [
      { text: 'a', pieceMs: 1000 },
      { text: 'b', hangs: 'for-ever' },
    ],
  })
  const session = await begin(first)
  const traceparent = `00-${'3'.repeat(32)}-${'b'.repeat(16)}-01`
  session.send('second', { traceparent }).answer.catch(() => {})
  await time.pass(2000)
  first.die()
  const second = start({ steps: [{ text: 'c' }] })
  await second.open()
  await rest(second)
  const turns = exporter.getFinishedSpans().filter(({ name }) => name.startsWith('invoke_agent'))
  expect(turns.map((turn) => turn.spanContext().traceId === '3'.repeat(32))).toEqual([false, true])
})

test('records stored despite a store failure are traced when the session is reopened', async () => {
  const { exporter, start } = createExport()
  const time = createManualTime()
  const disk = ownStore()
  let isBroken = false
  const fail = (): never => {
    throw new BatonError({ code: 'store_failed', message: 'the line is dead' })
  }
  const store: typeof disk = {
    ...disk,
    append: async (...given) => {
      const pos = await disk.append(...given)
      return isBroken ? fail() : pos
    },
    read: (...given) => (isBroken ? fail() : disk.read(...given)),
  }
  const tracing = start()
  const process = createProcess(time, store, {
    steps: [{ text: 'done', pieceMs: 500 }],
    host: { observers: [tracing] },
  })
  await begin({ ...process, tracing })
  isBroken = true
  await time.pass(900)
  expect(exporter.getFinishedSpans()).toEqual([])
  isBroken = false
  await time.pass(30_000)
  await tracing.settled()
  expect(drawTree(exporter.getFinishedSpans())).toEqual([
    'invoke_agent tested: answered',
    '  step 1',
    '    chat model: answered',
  ])
})

test('messages, arguments and results are in spans only for who asked for them', async () => {
  for (const content of [false, true]) {
    const { begin: start, exporter } = createProcesses({ content })
    const steps = [{ calls: [{ name: 'act', arguments: { word: 'apple' } }] }, { text: 'a pear' }]
    const process = start({ steps, tools: [act(() => 'a plum')] })
    await begin(process, 'a peach')
    await rest(process)
    const told = JSON.stringify(exporter.getFinishedSpans().map(({ attributes, events }) => ({ attributes, events })))
    const words = ['apple', 'pear', 'plum', 'peach']
    expect(words.filter((word) => told.includes(word))).toEqual(content ? words : [])
  }
})

test('spans of a session that closed while its log was still read for them are awaited', async () => {
  const { begin: start, time, exporter, store } = createProcesses()
  const first = start({ steps: [{ text: 'one' }] })
  await begin(first)
  await rest(first)
  await time.until(first.host.stop())
  exporter.reset()
  let gate = Promise.resolve()
  const read: Store['read'] = async function* (session, fromPos) {
    await gate
    yield* store.read(session, fromPos)
  }
  const second = start({ steps: [{ text: 'two' }], store: { ...store, read } })
  const session = await second.open()
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  expect((await time.until(session.send('more').answer)).text).toBe('two')
  await time.until(second.host.stop())
  const settled = second.tracing.settled()
  resolve()
  await settled
  expect(drawTree(exporter.getFinishedSpans())).toEqual([
    'invoke_agent tested: answered',
    '  step 2',
    '    chat model: answered',
  ])
})

test('a question to a person is a wait', async () => {
  const { begin: start, exporter } = createProcesses()
  const schema = { type: 'object', properties: { ok: { type: 'boolean' } } } as const
  const asking = act(async (_, { ask }) => await ask({ message: 'sure?', schema }), { name: 'asks' })
  const process = start({ steps: [listCalls('asks'), { text: 'done' }], tools: [asking] })
  const session = await begin(process)
  const [question] = await session.questions()
  await session.answer({ questionId: question?.questionId ?? '', value: { ok: true } })
  await rest(process)
  expect(drawTree(exporter.getFinishedSpans())).toContain('      wait person: answered')
})

test('a provider without the ids is refused, and one that records nothing is accepted', () => {
  const provider = new BasicTracerProvider({ spanProcessors: [] })
  expect(() => traceSessions({ tracer: provider.getTracer('baton'), ids: createSpanIds() })).toThrow(
    'the tracer generates its own span ids',
  )
  const ids = createSpanIds()
  const never = new BasicTracerProvider({ idGenerator: ids, sampler: new TraceIdRatioBasedSampler(0) })
  expect(() => traceSessions({ tracer: never.getTracer('baton'), ids })).not.toThrow()
})

test('a text in a span has 16,384 characters at most', async () => {
  const { begin: start, exporter } = createProcesses({ content: true })
  const process = start({ steps: [{ text: 'done' }] })
  await begin(process, '§'.repeat(50_000))
  await rest(process)
  const texts = exporter.getFinishedSpans().flatMap(({ attributes }) => Object.values(attributes).map(String))
  expect(texts.some((text) => text.includes('§'.repeat(1000)))).toBe(true)
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(16_384)
})
