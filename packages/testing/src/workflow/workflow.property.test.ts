// The workflow-like engine in simulated worlds: workers that die and replay, model calls and tools that are lost before
// they started or before they reported, in addition to all actions of users and clients.
import { expect, test } from 'vitest'
import { chooseCount, isDeep } from '../components/depth.ts'
import { createSimulationCoverage, reportCoverage } from '../simulator/coverage.ts'
import { simulateWorkflow } from '../simulator/simulate-workflow.ts'

const SEEDS = chooseCount({ quick: 8, landing: 25, deep: 600 })
const FAULTS = [
  'worker-death',
  'model-lost',
  'tool-lost',
  'disconnect',
  'interrupt',
  'forged-result',
  'clock-forward',
  'clock-back',
]
/** Facts that only lost work, or its recovery, leaves in the log. */
const FACTS = ['attempt-superseded', 'call-settled unknown', 'question-answered value', 'plan-set', 'client-renewed']

test('every simulated workflow comes to rest with all invariants held, and once means at most once', async () => {
  const coverage = createSimulationCoverage()
  for (let seed = 1; seed <= SEEDS; seed++) await simulateWorkflow({ seed, coverage })
  console.log(reportCoverage(coverage, SEEDS).replace(/\ncrash points: .*/, ''))
  if (!isDeep()) return // a few worlds do not cover everything
  expect(FAULTS.filter((fault) => !coverage.faults.has(fault))).toEqual([])
  expect(FACTS.filter((fact) => !coverage.facts.has(fact))).toEqual([])
  for (const state of ['started', 'settled', 'awaiting-approval', 'offered', 'claimed'])
    expect(coverage.pairs.get(`worker-death × ${state}`)).toBeGreaterThan(0)
})
