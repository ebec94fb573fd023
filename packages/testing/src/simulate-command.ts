// `npm run simulate -- --seeds N [--from S]`: runs seeds and prints what they met; a failing seed prints its story.
import { parseArgs } from 'node:util'
import { createSimulationCoverage, simulate } from './index.ts'
import { reportCoverage } from './simulator/coverage.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '500' },
    from: { type: 'string', default: '1' },
    keep: { type: 'boolean' },
  },
})
const coverage = createSimulationCoverage()
const from = Number(values.from)
const seeds = Number(values.seeds)
let failed = 0
for (let seed = from; seed < from + seeds; seed++) {
  try {
    await simulate({ seed, coverage })
  } catch (error) {
    failed += 1
    if (failed <= 3) console.error(error instanceof Error ? error.message : error, '\n')
    if (!values.keep && failed >= 3) break
  }
}
console.log(reportCoverage(coverage, seeds))
console.log(failed === 0 ? 'every seed came to rest with all invariants held' : `${failed} seeds failed`)
process.exitCode = failed === 0 ? 0 : 1
