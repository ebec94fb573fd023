import { test } from 'vitest'
import { explore } from '../testing/explore.ts'
import { createCoverage } from '../testing/explore-world.ts'
import { SESSION_TABLE } from './table.ts'
import { PHASES } from './state.ts'
test('probe', () => {
  const failures = new Map<string, { n: number; msg: string }>()
  const start = Date.now()
  const coverage = createCoverage()
  for (let seed = 1; seed <= Number(process.env['SEEDS'] ?? 300); seed++) {
    try {
      explore({ seed, coverage })
    } catch (error) {
      const key = String((error as Error).message.split('\n')[0])
        .replace(/seed \d+: /, '')
        .replace(/\d+/g, 'N')
        .slice(0, 120)
      const old = failures.get(key)
      failures.set(key, {
        n: (old?.n ?? 0) + 1,
        msg:
          old?.msg ??
          (error as Error).message +
            '\n' +
            ((error as Error).cause as Error)?.stack?.split('\n').slice(1, 6).join('\n'),
      })
    }
  }
  console.log('records', coverage.records, 'ms', Date.now() - start)
  for (const [key, { n, msg }] of failures) console.log(n, key, '\n', msg.slice(-2500), '\n------')
  const missing: string[] = []
  for (const [type, row] of Object.entries(SESSION_TABLE))
    for (const phase of PHASES) {
      const cell = coverage.cells.get(`${phase} × ${type}`)
      if ('refuse' in row[phase]) {
        if (!cell?.refused) missing.push(`${phase} × ${type} refused`)
        continue
      }
      if ('quiet' in row[phase]) {
        if (!cell?.quiet || cell.accepted) missing.push(`${phase} × ${type} quiet ${JSON.stringify(cell)}`)
        continue
      }
      if (!cell?.accepted) missing.push(`${phase} × ${type} ${JSON.stringify(cell ?? null)}`)
      const declared = new Set(row[phase].to)
      const seen = PHASES.filter((to) => coverage.moves.has(`${phase} × ${type} → ${to}`))
      const extra = seen.filter((to) => !declared.has(to))
      const never = [...declared].filter((to) => !seen.includes(to))
      if (extra.length || never.length) console.log(`${phase} × ${type}: undeclared [${extra}] never [${never}]`)
    }
  console.log('missing', missing.join('\n'))
  console.log([...coverage.calls].sort().join('\n'))
})
