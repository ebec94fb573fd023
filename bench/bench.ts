// `npm run bench [scenario…] [-- --rounds 7 --clients a,b]`: measures and writes one table, as Markdown.
import { parseArgs } from 'node:util'
import { measure } from './measure.ts'
import { startProvider } from './processes.ts'
import { SCENARIOS } from './scenarios.ts'
import { SESSION_MEASUREMENTS } from './sessions/measurements.ts'
import { headOf, rowsOf } from './table.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '9' },
    clients: { type: 'string' },
    'warm-ms': { type: 'string', default: '2000' },
  },
})
const known = [...SCENARIOS, ...SESSION_MEASUREMENTS]
const unknown = positionals.find((name) => !known.some((one) => one.name === name))
if (unknown !== undefined)
  throw new Error(`no scenario "${unknown}"; there are ${known.map(({ name }) => name).join(', ')}`)
const isWanted = ({ name }: { readonly name: string }): boolean =>
  positionals.length === 0 || positionals.includes(name)
const options = {
  rounds: Number(values.rounds),
  warmMs: Number(values['warm-ms']),
  ...(values.clients !== undefined && { clients: values.clients.split(',') }),
}

const provider = await startProvider()
try {
  process.stdout.write(headOf())
  for (const scenario of SCENARIOS.filter(isWanted))
    process.stdout.write(
      rowsOf({ ...scenario, label: scenario.unit.label }, await measure(provider, scenario, options)),
    )
  for (const one of SESSION_MEASUREMENTS.filter(isWanted))
    process.stdout.write(rowsOf(one, await one.measure(provider.origin, options.rounds)))
} finally {
  provider.stop()
}
