// `npm run bench:compare -- --base DIR [scenario…]`: compares this build of Baton with another one, in the same run and
// against the same floor, alternating each round. Prints per-round ratios as Markdown; all of them are costs.
import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { median, measureRounds } from './measure.ts'
import { startProvider } from './processes.ts'
import type { Scenario } from './scenarios.ts'
import { BATON_CLIENTS, SCENARIOS, WIRES } from './scenarios.ts'
import { SESSION_MEASUREMENTS } from './sessions/measurements.ts'

/** Number of runs of a measurement that uses one process, alternating between the trees. */
const SESSION_RUNS = 5
const CLIENTS = [...BATON_CLIENTS, 'baton-websocket', ...WIRES.map((wire) => `adapter:${wire}`)]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    base: { type: 'string' },
    rounds: { type: 'string', default: '24' },
    clients: { type: 'string', default: CLIENTS.join(',') },
    'warm-ms': { type: 'string', default: '3000' },
    copies: { type: 'string', default: '3' },
  },
})
if (values.base === undefined) throw new Error('--base must be the root of a built Baton repository')
const baseTree = resolve(values.base)
const options = {
  rounds: Number(values.rounds),
  warmMs: Number(values['warm-ms']),
  clients: values.clients.split(','),
  copies: Number(values.copies),
  baseTree,
}

const provider = await startProvider()
try {
  writeLine(['scenario', 'client', 'new to base', 'new to floor', 'base to floor'])
  writeLine(['---', '---', '---', '---', '---'])
  for (const scenario of SCENARIOS.filter(isWanted)) await compareScenario(scenario)
  for (const { name } of SESSION_MEASUREMENTS.filter(isWanted)) compareSessions(name)
} finally {
  provider.stop()
}

function isWanted({ name }: { readonly name: string }): boolean {
  return positionals.length === 0 || positionals.includes(name)
}

async function compareScenario(scenario: Scenario): Promise<void> {
  const rounds = await measureRounds(provider, scenario, options)
  // For turns per second, more is better, so the ratio is inverted.
  const isRate = scenario.unit.type === 'turns/s'
  const ratio = (one: string, other: string): string => {
    const others = rounds.get(other) ?? []
    const ratios = (rounds.get(one) ?? []).map((value, round) => value / (others[round] ?? Number.NaN))
    return median(isRate ? ratios.map((value) => 1 / value) : ratios).toFixed(2)
  }
  for (const client of rounds.keys()) {
    const base = `${client} of base`
    if (!rounds.has(base)) continue
    writeLine([scenario.name, client, ratio(client, base), ratio(client, scenario.floor), ratio(base, scenario.floor)])
  }
}

/** These run in the measuring process, so each tree measures its own. */
function compareSessions(name: string): void {
  const seen = new Map<string, { readonly own: number[]; readonly base: number[] }>()
  for (let run = 0; run < SESSION_RUNS; run++)
    for (const side of run % 2 === 0 ? (['own', 'base'] as const) : (['base', 'own'] as const))
      for (const [row, value] of runSessions(name, side === 'own' ? join(import.meta.dirname, '..') : baseTree)) {
        const both = seen.get(row) ?? { own: [], base: [] }
        seen.set(row, both)
        both[side].push(value)
      }
  for (const [row, { own, base }] of seen)
    writeLine([name, row, median(own.map((value, run) => value / (base[run] ?? Number.NaN))).toFixed(2), '', ''])
}

/** The medians of its table, by row. */
function runSessions(name: string, tree: string): readonly (readonly [string, number])[] {
  const run = spawnSync(process.execPath, ['--expose-gc', join(tree, 'bench/bench.ts'), name, '--rounds', '5'], {
    encoding: 'utf8',
  })
  if (run.status !== 0) throw new Error(`${name} in ${tree}: ${run.stderr}`)
  const rows = run.stdout.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  return rows.flatMap(([, scenario, client = '', , middle]) =>
    scenario === name ? [[client, Number(middle)] as const] : [],
  )
}

function writeLine(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
}
