// `npm run bench:startup`: what a start costs, next to other libraries: importing the root entry, and the `baton` command
// until it has answered or listens. Each measurement is a fresh process of the built packages, all take turns within a
// round; ratios are of the same round, and rows show medians. `--installed` adds the size of an installation, for which
// npm asks its registry.
import { parseArgs } from 'node:util'
import { compared } from '../measure.ts'
import { buildHead, buildRows } from '../table.ts'
import { measureInstalled } from './installed.ts'
import type { Start, Started } from './started.ts'
import { COMMANDS, IMPORTS, countFiles, start } from './started.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, installed: { type: 'boolean', default: false } },
})
const rounds = Number(values.rounds)
if (!Number.isSafeInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number above 0')

process.stdout.write(buildHead())
const imports = await measureStarts(IMPORTS)
write('import', 'ms of processor time', imports, 'ai', ({ cpuMs }) => cpuMs)
write('import', 'MB resident', imports, 'ai', ({ residentBytes }) => residentBytes / 1e6)
const files = IMPORTS.map((one) => [one.name, [countFiles(one)]] as const)
process.stdout.write(buildRows({ name: 'import', label: 'files' }, compared(new Map(files), 'ai')))
const commands = await measureStarts(COMMANDS)
write('command', 'ms of processor time', commands, 'node', ({ cpuMs }) => cpuMs)
write('command', 'ms of waiting', commands, 'node', ({ waitMs }) => waitMs)
if (values.installed)
  process.stdout.write(
    buildRows({ name: 'installed', label: 'MB in node_modules' }, compared(measureInstalled(), 'ai, Anthropic')),
  )

/** The rounds of each start; each round begins with another one. */
async function measureStarts(starts: readonly Start[]): Promise<ReadonlyMap<string, readonly Started[]>> {
  const measured = new Map<string, Started[]>(starts.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++)
    for (let index = 0; index < starts.length; index++) {
      const one = starts[(index + round) % starts.length]
      if (one === undefined) continue
      const seen = await start(one)
      if (round > 0) measured.get(one.name)?.push(seen) // the first round fills the caches of the disk
    }
  return measured
}

function write(
  name: string,
  label: string,
  measured: ReadonlyMap<string, readonly Started[]>,
  floor: string,
  read: (one: Started) => number,
): void {
  const numbers = new Map([...measured].map(([client, all]) => [client, all.map(read)]))
  process.stdout.write(buildRows({ name, label }, compared(numbers, floor)))
}
