// `npm run simulate -- --seeds N [--from S]`: runs seeds and prints what they met; a failing seed prints its story.
import { parseArgs } from 'node:util'
import { createSimulationCoverage, reportCoverage } from './simulator/coverage.ts'
import { simulate } from './simulator/simulate.ts'

/** Failing seeds after which the run ends. */
const FAILURES_MAX = 3

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { seeds: { type: 'string', default: '500' }, from: { type: 'string', default: '1' } },
  })
  const coverage = createSimulationCoverage()
  const [from, seeds] = [Number(values.from), Number(values.seeds)]
  let failed = 0
  for (let seed = from; seed < from + seeds && failed < FAILURES_MAX; seed++) {
    try {
      await simulate({ seed, coverage })
    } catch (error) {
      failed += 1
      console.error(error instanceof Error ? error.message : error, '\n')
    }
  }
  console.log(reportCoverage(coverage, seeds))
  console.log(failed === 0 ? 'every session came to rest with all invariants held' : `${failed} seeds failed`)
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
