// One answer with thousands of calls: the cost of deciding them grows linearly with their number. Steps are counted by
// V8's precise coverage: every run of a function or of a block in it.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decide } from './decide.ts'
import type { Input } from './input.ts'
import { StepCounter } from '../testing/step-counter.test-kit.ts'
import { serverTool, TestSession } from '../testing/test-session.ts'

const FEW = 1000
const MANY = 3000

/** A session whose model is about to answer, with an agent that may have this many calls. */
function open(count: number, parallelCalls: number): TestSession {
  const tools = [serverTool('act'), serverTool('look', { effect: 'pure' }), serverTool('alone', { parallel: false })]
  return new TestSession({ tools, limits: { callsPerTurn: count, parallelCalls } }).user('go')
}

function answer(count: number, name: string): Input {
  return {
    type: 'model-finished',
    attempt: 1,
    model: 'one',
    parts: Array.from({ length: count }, () => ({ type: 'call', name, arguments: '{}' })),
    checks: Array.from({ length: count }, () => ({ argumentsHash: 'hash' })),
    finish: 'tool-calls',
    usage: {},
    textBefore: '',
  }
}

/** Folds the decision on an answer without the checks of a test session, which cost more than the machine. */
function take(session: TestSession, input: Input): void {
  const decision = decide(session.spec, session.state, input, session.nowMs)
  if (decision.type === 'decided') session.state = decision.state
}

const counter = new StepCounter()
beforeAll(() => counter.start())
afterAll(() => counter.stop())

async function countSteps({ spec, state, nowMs }: TestSession, input: Input): Promise<number> {
  let type: string | undefined
  const steps = await counter.count(() => {
    type = decide(spec, state, input, nowMs).type
  })
  expect(type).toBe('decided')
  return steps
}

const RESULT: Input = {
  type: 'tool-finished',
  callId: 'call_1_0',
  attempt: 1,
  outcome: { type: 'ok', content: [{ type: 'text', text: 'done' }] },
}
const RESTART: Input = { type: 'host-restarted', downMs: 0 }
const INTERRUPT: Input = { type: 'interrupt', reason: 'enough', heard: { type: 'all' } }

test.each<[string, string, number, Input | undefined]>([
  ['an answer whose calls begin at once', 'act', MANY, undefined],
  ['an answer whose calls wait for their place', 'act', 8, undefined],
  ['an answer whose calls each run alone', 'alone', 8, undefined],
  ['an answer whose calls are all refused', 'nothing', 8, undefined],
  ['a result among many that run', 'act', MANY, RESULT],
  ['a result that makes place for one that waits', 'act', 8, RESULT],
  ['a result of one that ran alone', 'alone', 8, RESULT],
  ['an interrupt of many that run', 'act', MANY, INTERRUPT],
  ['a restart while many run, which run again', 'look', MANY, RESTART],
])('%s', async (what, name, parallelCalls, input) => {
  const counts: number[] = []
  for (const count of [FEW, MANY]) {
    const session = open(count, parallelCalls)
    if (input) take(session, answer(count, name))
    counts.push(await countSteps(session, input ?? answer(count, name)))
  }
  const [few = 0, many = 0] = counts
  console.log(`${what}: ${few} steps with ${FEW} calls, ${many} with ${MANY}`)
  expect(many / few).toBeLessThan((MANY / FEW) * 1.2)
})
