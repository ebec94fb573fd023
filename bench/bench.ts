// `npm run bench [scenario…] [-- --rounds 7 --clients a,b]`: measures and writes one table, as Markdown.
import { parseArgs } from 'node:util'
import { measure } from './measure.ts'
import { startProvider } from './processes.ts'
import { SCENARIOS } from './scenarios.ts'
import { SESSION_MEASUREMENTS } from './sessions/measurements.ts'
import { buildHead, buildRows } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    clients: { type: 'string' },
    'warm-ms': { type: 'string', default: '2000' },
  },
})
const known = [...SCENARIOS, ...SESSION_MEASUREMENTS].map(({ name }) => name)
const knownClients = [...new Set(SCENARIOS.flatMap(({ clients }) => clients as readonly string[]))]
const isWanted = ({ name }: { readonly name: string }): boolean =>
  positionals.length === 0 || positionals.includes(name)
const options = {
  rounds: wholeNumber('--rounds', values.rounds),
  warmMs: wholeNumber('--warm-ms', values['warm-ms']),
  ...(values.clients !== undefined && { clients: among('client', values.clients.split(','), knownClients) }),
}
among('scenario', positionals, known)

const provider = await startProvider()
try {
  process.stdout.write(buildHead())
  for (const scenario of SCENARIOS.filter(isWanted))
    process.stdout.write(
      buildRows({ ...scenario, label: scenario.unit.label }, await measure(provider, scenario, options)),
    )
  for (const one of SESSION_MEASUREMENTS.filter(isWanted))
    process.stdout.write(buildRows(one, await one.measure(provider.origin, options.rounds)))
} finally {
  provider.stop()
}

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new Error(`${option} must be a whole number from 1 to 999999, not "${text}"`)
}

function among(what: string, names: readonly string[], all: readonly string[]): readonly string[] {
  const unknown = names.find((name) => !all.includes(name))
  if (unknown === undefined) return names
  throw new Error(`there is no ${what} "${unknown}"; there are ${all.join(', ')}`)
}
