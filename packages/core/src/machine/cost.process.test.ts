// The cost of a turn with a short and with a long history: decisions, folds and the request. The counted steps must be
// equal; the time is printed and never asserted.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSpec } from '../agent/create-spec.ts'
import { defineAgent } from '../agent/agent.ts'
import { voice } from '../agent/agent-options.ts'
import { StepCounter } from '../testing/step-counter.test-kit.ts'
import type { History, Input, Spec, State } from './index.ts'
import { applyRecord, createHistory, decide, initialState, openSession, makeRecord } from './index.ts'

interface Running {
  state: State
  readonly history: History
  readonly spec: Spec
}

/** After this many turns the window and the remembered ids are full. */
const SHORT_TURNS = 300
const LONG_TURNS = 5000
const MEASURED_TURNS = 100

const counter = new StepCounter()
beforeAll(() => counter.start())
afterAll(() => counter.stop())

test('a turn takes the same steps after hundreds and after ten thousand messages', async () => {
  const session = openRunning()
  talk(session, SHORT_TURNS)
  const short = await measure(session)
  talk(session, LONG_TURNS)
  const long = await measure(session)
  console.log(
    `cost of a turn: ${short.steps} steps, ${short.microseconds.toFixed(1)} µs with ${2 * SHORT_TURNS} messages; ` +
      `${long.steps} steps, ${long.microseconds.toFixed(1)} µs with ${2 * LONG_TURNS}`,
  )
  expect(session.state.counters.entry).toBeGreaterThan(2 * LONG_TURNS)
  // A turn is a question and an answer: decided, folded and built into a request.
  expect(short.steps).toBeGreaterThan(100)
  expect(long.steps / short.steps).toBeLessThan(1.2)
  expect(session.state.index.length).toBeLessThanOrEqual(20 * 2)
  expect(JSON.stringify(session.state).length).toBeLessThan(40_000)
})

function openRunning(): Running {
  const spec = createSpec(defineAgent({ name: 'cost', model: 'none', profile: voice }), ['none'])
  const opening = openSession({ session: 'cost', spec, nowMs: 0, epoch: 1 })
  return { spec, history: createHistory(), state: applyRecord(initialState('cost'), opening) }
}

function talk(session: Running, turns: number): void {
  for (let turn = 0; turn < turns; turn++) {
    const serial = session.state.counters.turn
    take(session, { type: 'user-input', inputId: `in-${serial}`, parts: [{ type: 'text', text: 'a question' }] })
    const { attempt } = session.state
    // Built the way a host builds the request.
    const told = session.history.messages(attempt?.fromEntry ?? 0, attempt?.toEntry ?? 0)
    if (told.length > 20 * 2) throw new Error(`the request has ${told.length} messages`)
    take(session, {
      type: 'model-finished',
      attempt: attempt?.attempt ?? 0,
      model: 'none',
      parts: [{ type: 'text', text: 'an answer' }],
      checks: [],
      finish: 'end',
      usage: {},
      textBefore: '',
    })
  }
}

/** @throws Error if the input is refused or changes nothing: then nothing would be measured */
function take(session: Running, input: Input): void {
  const decision = decide(session.spec, session.state, input, session.state.nowMs + 1)
  if (decision.type === 'refused') throw new Error(decision.refusal.message)
  if (decision.facts.length === 0) throw new Error(`${input.type} changed nothing`)
  session.history.fold(makeRecord(input, decision))
  session.state = decision.state
}

/** The cost of one turn. */
async function measure(session: Running): Promise<{ readonly steps: number; readonly microseconds: number }> {
  const started = performance.now()
  const steps = await counter.count(() => talk(session, MEASURED_TURNS))
  const microseconds = ((performance.now() - started) * 1000) / MEASURED_TURNS
  return { steps: Math.round(steps / MEASURED_TURNS), microseconds }
}
