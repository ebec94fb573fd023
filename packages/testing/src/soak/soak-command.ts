// `npm run soak`: hundreds of conversations that an agent listens to, for hours of virtual time, or with `--minutes` in
// real time. Prints what the process holds, and fails if a count grows or an input was lost.
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import type { Holdings } from './holdings.ts'
import { findGrowth } from './holdings.ts'
import { soakInRealTime } from './soak-real.ts'
import { soakInVirtualTime } from './soak-virtual.ts'
import type { Soaked } from './soaked.ts'

/** Share of the samples used as warm-up. */
const WARM_SHARE = { virtual: 0.25, real: 0.4 }
/** The samples after the warm-up are compared by thirds. */
const SAMPLES_MIN = 5

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      hours: { type: 'string', default: '8' },
      minutes: { type: 'string' },
      sessions: { type: 'string', default: '500' },
      store: { type: 'string', default: 'sqlite' },
      seed: { type: 'string', default: '1' },
    },
  })
  const { store } = values
  if (store !== 'sqlite' && store !== 'memory') throw new Error(`--store must be sqlite or memory, not ${store}`)
  const hours = readWhole('--hours', values.hours, SAMPLES_MIN / 2)
  const minutes = values.minutes === undefined ? undefined : readWhole('--minutes', values.minutes, SAMPLES_MIN)
  const sessions = readWhole('--sessions', values.sessions, 1)
  const seed = readWhole('--seed', values.seed, 0)
  const beganMs = performance.now()
  const what = minutes === undefined ? `${hours} virtual hours over ${store}` : `${minutes} minutes, version 2, SQLite`
  console.log(`${sessions} sessions, ${what}, seed ${seed}; ${cpus().length} cores, Node ${process.version}`)
  const onSample = createPrinter()
  const soaked = await (minutes === undefined
    ? soakInVirtualTime({ hours, sessions, seed, store, onSample })
    : soakInRealTime({ minutes, sessions, seed, onSample }))
  console.log(`took ${Math.round((performance.now() - beganMs) / 1000)} s`)
  return judge(soaked, minutes === undefined ? WARM_SHARE.virtual : WARM_SHARE.real)
}

function readWhole(name: string, text: string, least: number): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= least) return value
  throw new Error(`${name} must be a whole number of at least ${Math.ceil(least)}, not ${text}`)
}

/** Prints a table row for each sample. */
function createPrinter(): (name: string, holdings: Holdings) => void {
  let isFirst = true
  const print = (cells: readonly string[]): void => console.log(`| ${cells.join(' | ')} |`)
  return (name, holdings) => {
    if (isFirst) print(['After', ...Object.keys(holdings)])
    isFirst = false
    print([name, ...Object.values(holdings).map((value) => String(Math.round(value * 10) / 10))])
  }
}

function judge({ samples, book, said }: Soaked, warmShare: number): number {
  const { taken, refused, released, halted } = said
  console.log(
    `${taken} inputs taken and read once by a model, ${refused} refused while stopped; ${book.requests} model calls`,
  )
  console.log(`sessions released and opened again ${released} times, paused or stopped ${halted} times`)
  const grown = findGrowth(samples.slice(Math.floor(samples.length * warmShare)))
  for (const { what, from, to } of grown) console.error(`${what}: grew from ${from} to ${to}`)
  for (const problem of book.problems) console.error(problem)
  if (book.problemCount > 0) console.error(`${book.problemCount} problems in total`)
  const isFlat = grown.length + book.problemCount === 0
  console.log(isFlat ? 'no counts grew, and no inputs were lost' : 'the soak failed')
  return isFlat ? 0 : 1
}

process.exitCode = await main()
