// Random conversations with fixed seeds: the invariants hold after every record, and the session's table is correct.
import { expect, test } from 'vitest'
import type { Coverage } from '../testing/index.ts'
import { createCoverage, explore } from '../testing/index.ts'
import { PHASES } from './state.ts'
import { SESSION_TABLE } from './table.ts'

const SEEDS = 400
let explored: Coverage | undefined

function exploreAll(): Coverage {
  if (explored) return explored
  const coverage = createCoverage()
  for (let seed = 1; seed <= SEEDS; seed++) explore({ seed, inputs: 30, coverage })
  explored = coverage
  return coverage
}

const cells = Object.entries(SESSION_TABLE).flatMap(([input, row]) =>
  PHASES.map((phase) => ({ name: `${phase} × ${input}`, cell: row[phase] })),
)

test('every seed makes its inputs and comes to rest with all invariants kept', () => {
  expect(exploreAll().records).toBeGreaterThan(SEEDS * 30)
})

test('a session only moves where its table says', () => {
  const declared = new Set(
    cells.flatMap(({ name, cell }) => ('to' in cell ? cell.to.map((phase) => `${name} → ${phase}`) : [])),
  )
  expect([...exploreAll().moves].filter((move) => !declared.has(move))).toEqual([])
})

test('what the table refuses makes no fact, and a quiet cell refuses nothing', () => {
  const wrong = cells.flatMap(({ name, cell }) => {
    const seen = exploreAll().cells.get(name)
    const accepted = 'action' in cell ? 0 : (seen?.accepted ?? 0)
    const refused = 'quiet' in cell ? (seen?.refused ?? 0) : 0
    return accepted + refused === 0 ? [] : [{ name, accepted, refused }]
  })
  expect(wrong).toEqual([])
})
