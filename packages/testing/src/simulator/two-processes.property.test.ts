// Two real hosts over one store in simulated worlds: kills, stops, partitions and separate clocks, while the session
// moves between them.
import { expect, test } from 'vitest'
import { chooseCount } from '../components/depth.ts'
import { createSimulationCoverage, reportCoverage, reportOwnership } from './coverage.ts'
import { simulateTwoProcesses } from './simulate-two-processes.ts'

const SEEDS = chooseCount({ quick: 5, landing: 15, deep: 600 })
/** Reasons for a session to move between processes. */
const FAULTS = ['move', 'held', 'kill', 'stop', 'partition-fails', 'partition-hangs', 'clock-forward', 'clock-back']

test('a session that moves between two processes has one owner at a time, loses no input, and comes to rest', async () => {
  const coverage = createSimulationCoverage()
  for (let seed = 1; seed <= SEEDS; seed++) await simulateTwoProcesses({ seed, coverage })
  console.log(`${reportCoverage(coverage, SEEDS)}\n${reportOwnership(coverage)}`)
  expect(FAULTS.filter((fault) => !coverage.faults.has(fault))).toEqual([])
  expect(coverage.faults.get('move')).toBeGreaterThan(SEEDS / 2)
})
