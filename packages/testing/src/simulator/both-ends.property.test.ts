// Both ends in simulated worlds: the real front and host, and pages with the real client of version 2, whose networks break,
// whose servers die, and which are loaded again. At rest each page shows what the log says.
import { expect, test } from 'vitest'
import { chooseCount } from '../depth.ts'
import { createSimulationCoverage } from './coverage.ts'
import { simulate } from './simulate.ts'

const SEEDS = chooseCount({ quick: 15, deep: 2000 })

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
