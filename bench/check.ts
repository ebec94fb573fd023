// The check of every change: the three cheapest scenarios, Baton beside the bare `fetch` client, five pairs in turn. Fails
// when a ratio is over 1.5 times the recorded one. `--record` writes what it measures.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measure } from './measure.ts'
import { startProvider } from './processes.ts'
import { SCENARIOS } from './scenarios.ts'

const RECORDED = join(import.meta.dirname, 'recorded.json')
const CHEAPEST = ['text', 'tools', 'tiny']
const CLIENT = 'baton'
const WORSE_MAX = 1.5
const PAIRS = { rounds: 5, warmMs: 3000, clients: [CLIENT] }

const recorded = JSON.parse(readFileSync(RECORDED, 'utf8')) as Readonly<Record<string, number>>
const provider = await startProvider()
try {
  const now: Record<string, number> = {}
  for (const scenario of SCENARIOS.filter(({ name }) => CHEAPEST.includes(name))) {
    const rows = await measure(provider, scenario, PAIRS)
    now[scenario.name] = Number(rows.find(({ client }) => client === CLIENT)?.ratio.toFixed(2))
  }
  if (process.argv.includes('--record')) writeFileSync(RECORDED, `${JSON.stringify(now, undefined, 2)}\n`)
  else process.exitCode = judge(now) ? 0 : 1
} finally {
  provider.stop()
}

function judge(now: Readonly<Record<string, number>>): boolean {
  const verdicts = CHEAPEST.map((name) => {
    const limit = (recorded[name] ?? Number.NaN) * WORSE_MAX
    const isGood = (now[name] ?? Number.NaN) <= limit
    process.stdout.write(`${name}: ${now[name]} × fetch; at most ${limit.toFixed(2)}${isGood ? '' : ': too slow'}\n`)
    return isGood
  })
  return verdicts.every(Boolean)
}
