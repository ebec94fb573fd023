// The real host in hundreds of simulated worlds, thousands in the deep run: crashes at every await, failing stores,
// lost and repeated results.
import { CALL_STATES } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { chooseCount, isDeep } from '../components/depth.ts'
import { createSimulationCoverage, reportCoverage } from './coverage.ts'
import { CRASH_POINTS } from './process.ts'
import { simulate } from './simulate.ts'

const SEEDS = chooseCount({ quick: 10, landing: 25, deep: 2000 })
/** Faults that can affect a call in any state; a model's errors come when none is open. */
const CALL_FAULTS = [
  'crash',
  'disconnect',
  'store-failure',
  'store-slow',
  'interrupt',
  'forged-result',
  'clock-forward',
  'clock-back',
  'stop',
]
/** Only older records leave a call in `proposed`: today it immediately starts or asks a person. */
const STATES = CALL_STATES.filter((state) => state !== 'proposed')
/** Network faults on results affect calls that a device has claimed. */
const RESULT_FAULTS = ['result-lost × claimed', 'result-repeated × claimed', 'result-repeated × settled']

/** Actions of people and clients, in addition to the world's faults. */
const FACTS = [
  'question-asked',
  'question-answered value',
  'question-answered person',
  'question-answered expired',
  'question-answered nobody',
  'approval-decided approve',
  'approval-decided approve, remembered',
  'approval-decided deny',
  'approval-decided deny, remembered',
  'approval-decided edit',
  'call-settled denied',
  'plan-set',
  'session-described',
  'client-tools-set',
  'client-renewed',
  'child-begun',
  'child-ending',
  'child-closed',
  'request-relayed',
  'request-withdrawn',
  'decision-ignored',
  'task-settled',
  'task-cancelled',
  'wakes-held',
]

test('every simulated session comes to rest with all invariants held', async () => {
  const coverage = createSimulationCoverage()
  for (let seed = 1; seed <= SEEDS; seed++) await simulate({ seed, coverage })
  console.log(reportCoverage(coverage, SEEDS))
  if (!isDeep()) return // a few worlds do not cover every pair
  const pairs = [...CALL_FAULTS.flatMap((fault) => STATES.map((state) => `${fault} × ${state}`)), ...RESULT_FAULTS]
  expect(pairs.filter((pair) => !coverage.pairs.has(pair))).toEqual([])
  const missed = CRASH_POINTS.filter((point) => !coverage.points.died.has(point))
  expect(missed).toEqual([])
  expect(FACTS.filter((fact) => !coverage.facts.has(fact))).toEqual([])
})
