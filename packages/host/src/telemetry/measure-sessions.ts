// Metrics of sessions, from their records and live frames: tokens, cost, durations, calls, queues.
import type { Usage } from '@baton/core'
import type { Fact, FactOf, SessionRecord } from '@baton/core/machine'
import type { ObservedSession, SessionObserver } from '../observer.ts'
import type { MetricSink, MetricSpec } from './prometheus.ts'

const counter = (name: string, help: string): MetricSpec => ({ name, type: 'counter', help })
const histogram = (name: string, help: string): MetricSpec => ({ name, type: 'histogram', help })
const gauge = (name: string, help: string): MetricSpec => ({ name, type: 'gauge', help })

export const METRICS = {
  tokens: counter('baton_tokens', 'Tokens used, as counted by models, by model and type.'),
  cost: counter('baton_cost_usd', 'Cost of model calls in US dollars, where the price is known.'),
  attempts: counter('baton_model_calls', 'Finished model calls, by model and outcome.'),
  attemptSeconds: histogram('baton_model_call_seconds', 'Duration of an answered model call in seconds.'),
  firstDelta: histogram('baton_first_delta_seconds', 'Seconds from the start of a model call to its first output.'),
  turns: counter('baton_turns', 'Finished turns, by agent and outcome.'),
  turnSeconds: histogram('baton_turn_seconds', 'Duration of a turn in seconds.'),
  calls: counter('baton_tool_calls', 'Settled tool calls, by tool and outcome.'),
  callSeconds: histogram('baton_tool_call_seconds', 'Seconds from the proposal of a call to its settlement.'),
  sessions: gauge(
    'baton_open_sessions',
    'Open sessions with at least one commit in this process, without those of delegated calls.',
  ),
  openCalls: gauge('baton_open_calls', 'Tool calls that are not settled yet.'),
  queue: gauge('baton_queued_inputs', 'Inputs waiting for a turn.'),
} as const

interface Measured {
  /** Whether another session's call opened it. */
  isChild: boolean
  openCalls: number
  queue: number
  turnMs: number | undefined
  attempt:
    { readonly attempt: number; readonly model: string; readonly startMs: number; readonly began: number } | undefined
  hasSpoken: boolean
  readonly calls: Map<string, { readonly name: string; readonly startMs: number }>
}

/** `nowMs`: a monotonic clock in milliseconds. */
export function measureSessions(sink: MetricSink, nowMs: () => number): SessionObserver {
  const sessions = new Map<string, Measured>()
  const sum = (count: (measured: Measured) => number): number =>
    [...sessions.values()].reduce((total, measured) => total + count(measured), 0)
  sink.watch(METRICS.sessions, () => sum(({ isChild }) => (isChild ? 0 : 1)))
  sink.watch(METRICS.openCalls, () => sum(({ openCalls }) => openCalls))
  sink.watch(METRICS.queue, () => sum(({ queue }) => queue))
  const find = (id: string): Measured => {
    const known = sessions.get(id)
    if (known) return known
    const made = {
      isChild: false,
      openCalls: 0,
      queue: 0,
      turnMs: undefined,
      attempt: undefined,
      hasSpoken: false,
      calls: new Map(),
    }
    sessions.set(id, made)
    return made
  }
  return {
    onRecord: (record, session) => {
      const measured = find(session.id)
      const { step, queue, parent } = session.state()
      measured.isChild = parent !== null
      measured.openCalls = step?.calls.filter((call) => call.state !== 'settled').length ?? 0
      measured.queue = queue.length
      for (const fact of record.facts) measureFact({ sink, measured, record, session, nowMs }, fact)
    },
    onLive: (frame, { id }) => {
      const measured = sessions.get(id)
      if (!measured?.attempt || measured.hasSpoken || !('attempt' in frame)) return
      if (frame.attempt !== measured.attempt.attempt) return
      measured.hasSpoken = true
      const { model, began } = measured.attempt
      sink.observe(METRICS.firstDelta, { model }, (nowMs() - began) / 1000)
    },
    onClose: ({ id }) => void sessions.delete(id),
  }
}

interface Measuring {
  readonly sink: MetricSink
  readonly measured: Measured
  readonly record: SessionRecord
  readonly session: ObservedSession
  readonly nowMs: () => number
}

function measureFact(measuring: Measuring, fact: Fact): void {
  const { sink, measured, record, session } = measuring
  switch (fact.type) {
    case 'turn-started':
      measured.turnMs = record.nowMs
      return
    case 'model-started': {
      const { attempt, model } = fact
      measured.attempt = { attempt, model, startMs: record.nowMs, began: measuring.nowMs() }
      measured.hasSpoken = false
      return
    }
    case 'attempt-superseded':
      return endAttempt(measuring, fact.error?.code ?? fact.reason)
    case 'attempt-failed':
      return endAttempt(measuring, fact.error.code)
    case 'step-salvaged':
      return endAttempt(measuring, 'cancelled')
    case 'summary-finished':
      return countUsage(sink, 'summary', fact.usage)
    case 'model-used':
      return countUsage(sink, fact.model, fact.usage)
    case 'step-finished':
      return measureStep(measuring, fact)
    case 'call-settled': {
      const { callId, settlement, via } = fact
      if (via !== undefined) return // counted in the session below that called it
      const call = measured.calls.get(callId)
      measured.calls.delete(callId)
      const tool = call?.name ?? 'unknown'
      sink.add(METRICS.calls, { tool, outcome: settlement.type }, 1)
      if (call) sink.observe(METRICS.callSeconds, { tool }, (record.nowMs - call.startMs) / 1000)
      return
    }
    case 'turn-finished': {
      const { agent } = session.state()
      sink.add(METRICS.turns, { agent, outcome: fact.outcome }, 1)
      if (measured.turnMs !== undefined)
        sink.observe(METRICS.turnSeconds, { agent }, (record.nowMs - measured.turnMs) / 1000)
      measured.turnMs = undefined
      if (measured.attempt) endAttempt(measuring, fact.error?.code ?? 'cancelled')
      return
    }
    default:
  }
}

function measureStep({ sink, measured, record }: Measuring, fact: FactOf<'step-finished'>): void {
  const { attempt, calls, usage, interrupted } = fact
  const asked = measured.attempt?.attempt === attempt ? measured.attempt : undefined
  const model = asked?.model ?? fact.model
  measured.attempt = undefined
  sink.add(METRICS.attempts, { model, outcome: interrupted ? 'cancelled' : 'answered' }, 1)
  if (asked && !interrupted) sink.observe(METRICS.attemptSeconds, { model }, (record.nowMs - asked.startMs) / 1000)
  countUsage(sink, model, usage)
  for (const { callId, name } of calls) measured.calls.set(callId, { name, startMs: record.nowMs })
}

function endAttempt({ sink, measured }: Measuring, outcome: string): void {
  const model = measured.attempt?.model ?? 'unknown'
  measured.attempt = undefined
  sink.add(METRICS.attempts, { model, outcome }, 1)
}

function countUsage(sink: MetricSink, model: string, usage: Usage): void {
  const { inputTokens, outputTokens, cacheReadTokens, reasoningTokens, costMicros } = usage
  const counts = { input: inputTokens, output: outputTokens, cache_read: cacheReadTokens, reasoning: reasoningTokens }
  for (const [type, count] of Object.entries(counts))
    if (count !== undefined && count > 0) sink.add(METRICS.tokens, { model, type }, count)
  if (costMicros !== undefined && costMicros > 0) sink.add(METRICS.cost, { model }, costMicros / 1_000_000)
}
