// A thousand random interleavings of the machine, ten thousand in the deep run, each with at least thirty inputs that
// produced a fact. After every record all invariants hold and the history is valid, by the neutral rules and by those
// of every wire with an adapter.
import { createCoverage, explore } from '@baton/core/testing'
import { PHASES, SESSION_TABLE } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { chooseCount } from '../components/depth.ts'
import { validateWires } from './simulated-world.ts'

const SEEDS = chooseCount({ quick: 50, landing: 150, deep: 6000 })
const INPUTS = 30

test('every interleaving keeps the invariants and a valid history', () => {
  const coverage = createCoverage()
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { world } = explore({ seed, inputs: INPUTS, coverage, validate: validateWires })
    expect(world.counted).toBeGreaterThanOrEqual(INPUTS)
  }
  const undeclared = [...coverage.moves].filter((move) => !isDeclared(move))
  expect(undeclared).toEqual([])
  report(coverage)
  // Thousands in the deep run.
  const claims = coverage.cells.get('calling × call-claimed')?.accepted
  console.log(`claims: ${claims}`)
  expect(claims).toBeGreaterThan(SEEDS / 8)
})

function isDeclared(move: string): boolean {
  const [from = '', rest = ''] = move.split(' × ')
  const [type = '', to = ''] = rest.split(' → ')
  const row: Readonly<Record<string, unknown>> | undefined = Object.entries(SESSION_TABLE).find(
    ([name]) => name === type,
  )?.[1]
  const cell = row?.[from] as { readonly to?: readonly string[] } | undefined // the move refers to a phase of the table
  return cell?.to?.includes(to) ?? false
}

function report(coverage: ReturnType<typeof createCoverage>): void {
  const byType = new Map<string, { accepted: number; quiet: number; refused: number }>()
  for (const [cell, counts] of coverage.cells) {
    const type = cell.split(' × ')[1] ?? ''
    const sum = byType.get(type) ?? { accepted: 0, quiet: 0, refused: 0 }
    byType.set(type, {
      accepted: sum.accepted + counts.accepted,
      quiet: sum.quiet + counts.quiet,
      refused: sum.refused + counts.refused,
    })
  }
  const rows = [...byType].map(([type, { accepted, quiet, refused }]) => `${type} ${accepted}/${quiet}/${refused}`)
  const reached = [...coverage.cells.values()].length
  console.log(
    `machine: ${SEEDS} interleavings, ${coverage.records} records, ${reached} of ${Object.keys(SESSION_TABLE).length * PHASES.length} cells, ${coverage.moves.size} moves\n` +
      `inputs (accepted/without a fact/refused): ${rows.join(', ')}`,
  )
}
