// The check for every change: the three cheapest scenarios, with this build and the base in the same run, alternating
// each round, so that other load on the machine affects both alike.
import { buildBaseTree } from './base-tree.ts'
import { median, measureRounds } from './measure.ts'
import { startProvider } from './processes.ts'
import type { Scenario } from './scenarios.ts'
import { SCENARIOS } from './scenarios.ts'

const CHEAPEST = ['text', 'tools', 'tiny']
const CLIENT = 'baton'
/** Relative to the base's cost. On a busy machine, identical code once measured 1.4. */
const WORSE_MAX = 1.5
const PAIRS = { rounds: 8, warmMs: 3000, clients: [CLIENT], copies: 2 }
/** A scenario that seems too slow is measured again with this many rounds. */
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

/** The median of the per-round ratios. */
function compare(rounds: ReadonlyMap<string, readonly number[]>, other: string): number {
  const others = rounds.get(other) ?? []
  return median((rounds.get(CLIENT) ?? []).map((value, round) => value / (others[round] ?? Number.NaN)))
}
