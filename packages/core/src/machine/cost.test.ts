// What one input costs with a short and with a long history. Times are printed, never asserted; what is asserted is why
// they are alike: state and what a request materialises stay the same size.
import { expect, test } from 'vitest'
import { createSpec } from '../agent/agent.ts'
import { defineAgent } from '../agent/agent.ts'
import { voice } from '../agent/profiles.ts'
import type { History, Input, Spec, State } from './index.ts'
import { applyRecord, createHistory, decide, initialState, openSession, makeRecord } from './index.ts'

interface Running {
  state: State
  readonly history: History
  readonly spec: Spec
}

test('an input costs the same after ten and after ten thousand messages', () => {
  const session = openRunning()
  // Warm-up on another session, so that the short one is not measured cold.
  talk(openRunning(), 1000)
  talk(session, 5)
  const short = measure(session)
  talk(session, 5000)
  const long = measure(session)
  const [before, after] = [short.microseconds.toFixed(1), long.microseconds.toFixed(1)]
  console.log(
    `cost of one input: ${before} µs with 10 messages, ${after} µs with 10,000 (ratio ${(long.microseconds / short.microseconds).toFixed(2)})`,
  )
  expect(session.state.counters.entry).toBeGreaterThan(10_000)
  expect(long.entries).toBeLessThanOrEqual(20 * 2)
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
    take(session, {
      type: 'model-finished',
      attempt: session.state.attempt?.attempt ?? 0,
      model: 'none',
      parts: [{ type: 'text', text: 'an answer' }],
      checks: [],
      finish: 'end',
      usage: {},
      textBefore: '',
    })
  }
}

function take(session: Running, input: Input): void {
  const decision = decide(session.spec, session.state, input, session.state.nowMs + 1)
  if (decision.type === 'refused') throw new Error(decision.refusal.message)
  session.history.fold(makeRecord(input, decision))
  session.state = decision.state
}

const MEASURED_TURNS = 200

function measure(session: Running): { readonly microseconds: number; readonly entries: number } {
  const started = performance.now()
  // A copy of where the session stands is talked on, so that the short history stays short.
  const copy = { ...session }
  let state = copy.state
  for (let turn = 0; turn < MEASURED_TURNS; turn++) {
    const input: Input = {
      type: 'user-input',
      inputId: `measured-${turn}`,
      parts: [{ type: 'text', text: 'a question' }],
    }
    const decision = decide(copy.spec, copy.state, input, copy.state.nowMs + 1)
    if (decision.type === 'decided') state = decision.state
  }
  const microseconds = ((performance.now() - started) * 1000) / MEASURED_TURNS
  return { microseconds, entries: state.index.length }
}
