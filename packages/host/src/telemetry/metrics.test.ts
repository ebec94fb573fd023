// Metrics of real sessions, for Prometheus and for an OpenTelemetry meter.
import { BatonError, tool } from '@baton/core'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { expect, test } from 'vitest'
import { act, createManualTime, createTestWorld, listCalls } from '../local/test-world.test-kit.ts'
import { createMetrics } from './metrics.ts'
import { meterSessions } from './opentelemetry.ts'
import { PrometheusSink } from './prometheus.ts'

const look = tool({ name: 'look', description: 'Looks', input: { type: 'object' }, effect: 'pure' })

test('tokens, cost, times, open calls and the queue are exported for Prometheus', async () => {
  const time = createManualTime()
  const metrics = createMetrics({ nowMs: time.nowMs })
  const usage = { inputTokens: 10, outputTokens: 5, costMicros: 250_000 }
  const error = new BatonError({ code: 'model_overloaded', message: 'busy' })
  const world = createTestWorld({
    time,
    tools: [look, act(() => 'did')],
    steps: [{ error }, { ...listCalls('act', 'look'), usage }, { pieces: ['do', 'ne'], pieceMs: 200, usage }],
    host: { observers: [metrics] },
  })
  const session = await world.open()
  const { answer } = session.send('go')
  await time.pass(5000)
  session.send('and more').answer.catch(() => {})
  await time.settle()
  const meanwhile = metrics.prometheus()
  expect(meanwhile).toContain('\nbaton_open_calls 1\n')
  expect(meanwhile).toContain('\nbaton_queued_inputs 1\n')
  const client = await session.attach()
  await time.settle()
  const [step] = await world.facts('step-finished')
  await client.result(step?.calls[1]?.callId ?? '', { type: 'ok', content: [{ type: 'text', text: 'seen' }] })
  await time.until(answer)
  const text = metrics.prometheus()
  for (const line of [
    'baton_open_sessions 1',
    'baton_open_calls 0',
    'baton_tokens_total{model="scripted/model",type="input"} 20',
    'baton_cost_usd_total{model="scripted/model"} 0.5',
    'baton_model_calls_total{model="scripted/model",outcome="model_overloaded"} 1',
    'baton_model_calls_total{model="scripted/model",outcome="answered"} 2',
    'baton_tool_calls_total{tool="look",outcome="ok"} 1',
    'baton_tool_calls_total{tool="act",outcome="ok"} 1',
    'baton_first_delta_seconds_bucket{model="scripted/model",le="0.1"} 0',
    'baton_first_delta_seconds_bucket{model="scripted/model",le="0.25"} 1',
    'baton_first_delta_seconds_sum{model="scripted/model"} 0.2',
    '# TYPE baton_first_delta_seconds histogram',
    '# TYPE baton_tokens_total counter',
  ])
    expect(text.split('\n')).toContain(line)
  expect(text).toMatch(/^(# (HELP|TYPE) .+|[a-z_]+(\{[^}]*\})? [\d.e-]+)\n/)
  await world.host.stop()
  expect(metrics.prometheus()).toContain('baton_open_sessions 0')
})

test('names of others neither break a line nor fill the memory', () => {
  const sink = new PrometheusSink()
  const metric = { name: 'n', type: 'counter', help: 'h' } as const
  sink.add(metric, { tool: 'a"b\\c\nd' }, 1)
  for (let number = 0; number < 600; number++) sink.add(metric, { tool: `t${number}` }, 1)
  const lines = sink.write().trimEnd().split('\n')
  expect(lines[2]).toBe('n_total{tool="a\\"b\\\\c\\nd"} 1')
  expect(lines).toHaveLength(2 + 501)
  expect(lines.at(-1)).toBe('n_total{tool="other"} 101')
})

test('a meter of OpenTelemetry gets the same numbers', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({ readers: [reader] })
  const world = createTestWorld({
    steps: [{ text: 'hello', usage: { inputTokens: 7 } }],
    host: { observers: [meterSessions({ meter: provider.getMeter('baton') })] },
  })
  await world.time.until((await world.open()).send('hi').answer)
  await provider.forceFlush()
  const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  const values = new Map(metrics.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints[0]?.value]))
  expect(values.get('baton.tokens')).toBe(7)
  expect(values.get('baton.open_calls')).toBe(0)
  expect(values.get('baton.first_delta')).toMatchObject({ count: 1 })
  await provider.shutdown()
})
