// Both ends in simulated worlds: the real front and host, and pages with the real version 2 client, whose networks
// break, whose servers die, and which are reloaded. At rest, each page shows the contents of the log.
import { expect, test } from 'vitest'
import { chooseCount } from '../components/depth.ts'
import { createSimulationCoverage } from './coverage.ts'
import { simulateTwoProcesses } from './simulate-two-processes.ts'
import { simulate } from './simulate.ts'

/** 2,000 deep ones in total. */
const SEEDS = chooseCount({ quick: 2, landing: 6, deep: 500 })
const SHARED_SEEDS = chooseCount({ quick: 6, deep: 800 })

test('every page shows what the log says', async () => {
  const coverage = createSimulationCoverage()
  let said = 0
  for (let seed = 1; seed <= SEEDS; seed++) {
    const world = await simulate({ seed, coverage, pages: 2 })
    said += world.pages.reduce((sum, page) => sum + page.said.length, 0)
  }
  console.log(`both ends: ${SEEDS} worlds with two pages each, ${said} inputs of pages, ${coverage.records} records`)
  expect(said).toBeGreaterThan(SEEDS)
})

test('every page shows what the log says, also where two servers share the session', async () => {
  const coverage = createSimulationCoverage()
  let said = 0
  for (let seed = 1; seed <= SHARED_SEEDS; seed++) {
    const world = await simulateTwoProcesses({ seed, coverage, pages: 2 })
    said += world.pages.reduce((sum, page) => sum + page.said.length, 0)
  }
  const [moved, passed] = [coverage.faults.get('move') ?? 0, coverage.faults.get('passed-on') ?? 0]
  console.log(
    `both ends, two processes: ${SHARED_SEEDS} worlds with two pages each, ${said} inputs of pages, ${coverage.records} records, ${moved} moves, ${passed} connections passed on`,
  )
  expect(Math.min(said, moved)).toBeGreaterThan(SHARED_SEEDS / 2)
  // Two or three a world on average; six worlds have had three.
  expect(passed).toBeGreaterThanOrEqual(SHARED_SEEDS / 4)
})
