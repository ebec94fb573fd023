// `npm run simulate -- --seeds N [--from S] [--processes 2] [--trees] [--office]`: runs seeds and prints what they met; a failing
// seed prints its story. `--trees`: every agent calls other agents, not every second one. `--office`: every session has
// reminders and calls that others decide, not every fourth.
import { parseArgs } from 'node:util'
import { createSimulationCoverage, reportCoverage, reportOwnership } from './coverage.ts'
import { simulate } from './simulate.ts'
import { simulateTwoProcesses } from './simulate-two-processes.ts'

/** The run stops after this many failing seeds. */
const FAILURES_MAX = 3

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '500' },
      from: { type: 'string', default: '1' },
      processes: { type: 'string', default: '1' },
      trees: { type: 'boolean', default: false },
      office: { type: 'boolean', default: false },
    },
  })
  const coverage = createSimulationCoverage()
  const [from, seeds, processes] = [Number(values.from), Number(values.seeds), Number(values.processes)]
  if (processes !== 1 && processes !== 2) throw new Error(`--processes must be 1 or 2, not ${values.processes}`)
  const run = processes === 2 ? simulateTwoProcesses : simulate
  let failed = 0
  for (let seed = from; seed < from + seeds && failed < FAILURES_MAX; seed++) {
    try {
      await run({
        seed,
        coverage,
        ...(values.trees && { delegates: true }),
        ...(values.office && { office: true }),
      })
    } catch (error) {
      failed += 1
      console.error(error instanceof Error ? error.message : error, '\n')
    }
  }
  console.log(reportCoverage(coverage, seeds))
  if (processes === 2) console.log(reportOwnership(coverage))
  console.log(failed === 0 ? 'every session came to rest and all invariants held' : `${failed} seeds failed`)
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
