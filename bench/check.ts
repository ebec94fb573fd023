// The check of every change: the three cheapest scenarios, this build beside the base, both in one run and round by round in
// turn, so that whatever else the machine does meets both alike.
import { buildBaseTree } from './base-tree.ts'
import { median, measureRounds } from './measure.ts'
import { startProvider } from './processes.ts'
import type { Scenario } from './scenarios.ts'
import { SCENARIOS } from './scenarios.ts'

const CHEAPEST = ['text', 'tools', 'tiny']
const CLIENT = 'baton'
/** Of what the base costs. The same code beside itself, on a machine that does much else, was at 1.4 once. */
const WORSE_MAX = 1.5
const PAIRS = { rounds: 8, warmMs: 3000, clients: [CLIENT], copies: 2 }
/** Of a scenario that seems too slow: measured once more, for longer. */
const SURE_ROUNDS = 24

const base = buildBaseTree()
const provider = await startProvider()
try {
  process.stdout.write(`base ${base.commit}\n`)
  let isGood = true
  for (const scenario of SCENARIOS.filter(({ name }) => CHEAPEST.includes(name))) {
    isGood = ((await isQuick(scenario, PAIRS.rounds)) || (await isQuick(scenario, SURE_ROUNDS))) && isGood
  }
  process.exitCode = isGood ? 0 : 1
} finally {
  provider.stop()
  base.remove()
}

async function isQuick(scenario: Scenario, count: number): Promise<boolean> {
  const rounds = await measureRounds(provider, scenario, { ...PAIRS, rounds: count, baseTree: base.root })
  const toBase = compare(rounds, `${CLIENT} of base`)
  const toFloor = compare(rounds, scenario.floor)
  const isGood = toBase <= WORSE_MAX
  const verdict = isGood ? '' : ': too slow'
  process.stdout.write(
    `${scenario.name}: ${toBase.toFixed(2)} × the base; at most ${WORSE_MAX}${verdict} (${toFloor.toFixed(2)} × fetch)\n`,
  )
  return isGood
}

/** The median of the rounds' ratios. */
function compare(rounds: ReadonlyMap<string, readonly number[]>, other: string): number {
  const others = rounds.get(other) ?? []
  return median((rounds.get(CLIENT) ?? []).map((value, round) => value / (others[round] ?? Number.NaN)))
}
