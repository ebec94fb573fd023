// `npm run bench [scenario…] [-- --rounds 7 --clients a,b]`: runs the measurements and writes one Markdown table. A
// failing scenario is named at the end and does not stop the others.
import { inspect, parseArgs } from 'node:util'
import type { Measured } from './measure.ts'
import { measure } from './measure.ts'
import { startProvider } from './processes.ts'
import { SCENARIOS } from './scenarios.ts'
import { SESSION_MEASUREMENTS } from './sessions/measurements.ts'
import type { RowLabels } from './table.ts'
import { buildHead, buildRows } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    clients: { type: 'string' },
    'warm-ms': { type: 'string', default: '2000' },
    help: { type: 'boolean', short: 'h', default: false },
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

if (values.help) process.stdout.write(listHelp())
else process.exitCode = await measureAll()

async function measureAll(): Promise<number> {
  const failures: string[] = []
  const add = async (labels: RowLabels, measuring: () => Promise<readonly Measured[]>): Promise<void> => {
    try {
      process.stdout.write(buildRows(labels, await measuring()))
    } catch (cause) {
      failures.push(labels.name)
      process.stderr.write(`${labels.name}: ${inspect(cause)}\n`)
    }
  }
  const provider = await startProvider()
  try {
    process.stdout.write(buildHead())
    for (const scenario of SCENARIOS.filter(isWanted))
      await add({ ...scenario, label: scenario.unit.label }, () => measure(provider, scenario, options))
    for (const one of SESSION_MEASUREMENTS.filter(isWanted))
      await add(one, () => one.measure(provider.origin, options.rounds))
  } finally {
    provider.stop()
  }
  if (failures.length > 0) process.stderr.write(`bench: ${failures.join(', ')} could not be measured\n`)
  return failures.length > 0 ? 1 : 0
}

function listHelp(): string {
  const scenarios = [
    ...SCENARIOS.map(({ name, says }) => [name, says]),
    ...SESSION_MEASUREMENTS.map(({ name, label }) => [name, label]),
  ]
  const rows = [...new Map(scenarios as [string, string][])].map(([name, says]) => `  ${name.padEnd(12)} ${says}\n`)
  return `npm run bench [SCENARIO...] [-- OPTIONS]: what a turn costs, as a table; all scenarios where none is named

Options:
  --rounds N       batches of each client, in turn; 9 by default
  --clients A,B    these clients alone: ${knownClients.join(', ')}
  --warm-ms N      warming up of each client, 2000 by default
  -h, --help       this text

Scenarios:
${rows.join('')}`
}

function wholeNumber(option: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text)
  throw new Error(`${option} must be a whole number from 1 to 999999, not "${text}"`)
}

function among(what: string, names: readonly string[], all: readonly string[]): readonly string[] {
  const unknown = names.find((name) => !all.includes(name))
  if (unknown === undefined) return names
  throw new Error(`unknown ${what} "${unknown}"; use one of ${all.join(', ')}`)
}
