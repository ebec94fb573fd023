// `npm run nightly [-- STAGE…] [-- --list]`: everything that is tested and measured, or the stages that are named. It goes on past
// a failure, keeps each stage's output in reports/nightly, and ends with one table.
import { parseArgs } from 'node:util'
import type { ComponentName } from './components.ts'
import { provideComponents } from './components.ts'
import type { Stage } from './stages.ts'
import { countTests, describeResults, hasPassed, runStages } from './stages.ts'
import { DEEP_SUITES } from './suites.ts'

interface NightlyStage extends Stage {
  readonly needs?: readonly ComponentName[]
}

const DEEP = ['npx', 'vitest', 'run', '--mode', 'deep'] as const
const ALL = { BATON_TEST_ALL: '1', BATON_TEST_REQUIRE: 'all' }
const script = (...words: readonly string[]) => ['npm', 'run', '--silent', ...words] as const

const STAGES: readonly NightlyStage[] = [
  { name: 'static', words: script('check:static'), minutesMax: 20 },
  { name: 'test', words: ['npx', 'vitest', 'run'], variables: { BATON_TEST_ALL: '1' }, minutesMax: 40, isVitest: true },
  {
    name: 'deep',
    words: [...DEEP, '--project', 'deep', '--project', 'alone'],
    variables: ALL,
    minutesMax: 180,
    isVitest: true,
    needs: [...new Set(DEEP_SUITES.flatMap(({ needs }) => needs))],
  },
  {
    name: 'property',
    words: [...DEEP, '--project', 'property', '--project', 'process'],
    variables: ALL,
    minutesMax: 90,
    isVitest: true,
  },
  { name: 'simulate', words: script('simulate', '--', '--seeds', '20000'), minutesMax: 90 },
  {
    name: 'simulate-two',
    words: script('simulate', '--', '--seeds', '5000', '--processes', '2'),
    minutesMax: 60,
  },
  { name: 'packs', words: script('pack:check'), minutesMax: 20 },
  { name: 'site', words: script('docs:site'), minutesMax: 15, needs: ['site'] },
  { name: 'bench', words: script('bench', '--', '--rounds', '3'), minutesMax: 60, needs: ['bench', 'postgres'] },
  { name: 'bench-check', words: script('bench:check'), minutesMax: 30, needs: ['bench'] },
  {
    name: 'bench-temporal',
    words: script('bench:temporal', '--', '--sessions', '10', '--turns', '3', '--pace-ms', '1500'),
    minutesMax: 30,
    needs: ['temporal', 'postgres', 'redis'],
  },
  { name: 'soak', words: script('soak'), minutesMax: 40 },
  { name: 'soak-memory', words: script('soak', '--', '--store', 'memory'), minutesMax: 40 },
  { name: 'soak-real-time', words: script('soak', '--', '--minutes', '20'), minutesMax: 60 },
  { name: 'mutants', words: script('mutants'), minutesMax: 90 },
  { name: 'mutate-sample', words: script('mutate:sample'), minutesMax: 60 },
  { name: 'mutate', words: script('mutate'), minutesMax: 180 },
  { name: 'mutate-report', words: script('mutate:report'), minutesMax: 5 },
  { name: 'stress', words: script('test:stress'), minutesMax: 60 },
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean', default: false } },
})
const unknown = positionals.find((name) => !STAGES.some((stage) => stage.name === name))
if (values.list) for (const { name, minutesMax } of STAGES) console.log(`${name} (${minutesMax} minutes at most)`)
else if (unknown !== undefined)
  throw new Error(`there is no stage "${unknown}"; there are ${STAGES.map(({ name }) => name).join(', ')}`)
else
  process.exitCode = await runNight(STAGES.filter(({ name }) => positionals.length === 0 || positionals.includes(name)))

async function runNight(stages: readonly NightlyStage[]): Promise<number> {
  Object.assign(process.env, provideComponents([...new Set(stages.flatMap(({ needs = [] }) => needs))]))
  const results = await runStages(stages, { label: 'nightly', isShown: false })
  console.log(describeResults(results))
  console.log(countTests(results))
  return hasPassed(results) ? 0 : 1
}
