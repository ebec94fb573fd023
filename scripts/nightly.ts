// `npm run nightly [-- STAGE…] [-- --list] [-- --resume]`: runs all tests and measurements, or the named stages. It
// continues after a failure, keeps each stage's output in reports/nightly, and ends with one table. `--resume` skips
// stages that an interrupted run of the same commit has finished.
import { parseArgs } from 'node:util'
import type { ComponentName } from './components.ts'
import { provideComponents } from './components.ts'
import type { Stage } from './stages.ts'
import { countTests, describeFailures, describeResults, hasPassed, openReport, runStages } from './stages.ts'
import { isTest, sourcePaths } from './source-files.ts'
import { DEEP_SUITES } from './suites.ts'

/**
 * Stages of one lane run one after another. The tests and the stages that use one core share the machine; stages that
 * measure time, or that create their own load, run alone after both.
 */
type Lane = 'tests' | 'one core' | 'alone'

interface NightlyStage extends Stage {
  readonly lane: Lane
  readonly needs?: readonly ComponentName[]
}

const DEEP = ['npx', 'vitest', 'run', '--mode', 'deep'] as const
const ALL = { BATON_TEST_ALL: '1', BATON_TEST_REQUIRE: 'all' }
const script = (...words: readonly string[]) => ['npm', 'run', '--silent', ...words] as const

/** Number of parts that the session machine is divided into. Each night mutates one part. */
const MACHINE_PARTS = 40

/** The session machine files that are mutated tonight. */
function listMachineShare(): readonly string[] {
  const files = sourcePaths().filter(
    (path) => /^packages\/core\/src\/machine\/[^/]+\.ts$/.test(path) && !isTest(path) && !path.endsWith('/index.ts'),
  )
  const night = Math.floor(Date.now() / 86_400_000)
  return files.filter((_, index) => index % MACHINE_PARTS === night % MACHINE_PARTS)
}

const STAGES: readonly NightlyStage[] = [
  { name: 'static', lane: 'tests', words: script('check:static'), minutesMax: 20 },
  {
    name: 'test',
    lane: 'tests',
    words: ['npx', 'vitest', 'run', '--mode', 'landing'],
    variables: { BATON_TEST_ALL: '1' },
    minutesMax: 40,
    isVitest: true,
  },
  {
    name: 'deep',
    lane: 'tests',
    words: [...DEEP, '--project', 'deep', '--project', 'alone'],
    variables: ALL,
    minutesMax: 180,
    isVitest: true,
    needs: [...new Set(DEEP_SUITES.flatMap(({ needs }) => needs))],
  },
  {
    name: 'property',
    lane: 'tests',
    words: [...DEEP, '--project', 'property', '--project', 'process'],
    variables: ALL,
    minutesMax: 90,
    isVitest: true,
  },
  { name: 'simulate', lane: 'one core', words: script('simulate', '--', '--seeds', '20000'), minutesMax: 90 },
  {
    name: 'simulate-two',
    lane: 'one core',
    words: script('simulate', '--', '--seeds', '2500', '--processes', '2'),
    minutesMax: 40,
  },
  { name: 'packs', lane: 'tests', words: script('pack:check'), minutesMax: 20 },
  { name: 'site', lane: 'tests', words: script('docs:site'), minutesMax: 15, needs: ['site'] },
  {
    name: 'bench',
    lane: 'alone',
    words: script('bench', '--', '--rounds', '3'),
    minutesMax: 60,
    needs: ['bench', 'postgres'],
  },
  { name: 'bench-check', lane: 'alone', words: script('bench:check'), minutesMax: 30, needs: ['bench'] },
  {
    name: 'bench-temporal',
    lane: 'alone',
    words: script('bench:temporal', '--', '--sessions', '10', '--turns', '3', '--pace-ms', '1500'),
    minutesMax: 30,
    needs: ['temporal', 'postgres', 'redis'],
  },
  { name: 'soak', lane: 'one core', words: script('soak'), minutesMax: 40 },
  { name: 'soak-memory', lane: 'one core', words: script('soak', '--', '--store', 'memory'), minutesMax: 40 },
  { name: 'soak-real-time', lane: 'one core', words: script('soak', '--', '--minutes', '10'), minutesMax: 40 },
  { name: 'mutants', lane: 'tests', words: script('mutants', '--', '--minutes', '15'), minutesMax: 40 },
  { name: 'mutate-sample', lane: 'one core', words: script('mutate:sample', '--', '--windows', '2'), minutesMax: 30 },
  {
    name: 'mutate',
    lane: 'one core',
    words: script('mutate', '--', '--mutate', listMachineShare().join(',')),
    minutesMax: 40,
  },
  { name: 'mutate-report', lane: 'one core', words: script('mutate:report'), minutesMax: 5 },
  { name: 'stress', lane: 'alone', words: script('test:stress'), minutesMax: 60 },
]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { list: { type: 'boolean', default: false }, resume: { type: 'boolean', default: false } },
})
const unknown = positionals.find((name) => !STAGES.some((stage) => stage.name === name))
if (values.list)
  for (const { name, minutesMax, lane } of STAGES) console.log(`${name} (${lane}, ${minutesMax} minutes at most)`)
else if (unknown !== undefined) {
  console.error(`There is no stage "${unknown}". Name some of ${STAGES.map(({ name }) => name).join(', ')}.`)
  process.exitCode = 2
} else
  process.exitCode = await runNight(STAGES.filter(({ name }) => positionals.length === 0 || positionals.includes(name)))

async function runNight(stages: readonly NightlyStage[]): Promise<number> {
  const book = openReport('nightly', values.resume)
  const open = stages.filter(({ name }) => !book.results.some((result) => result.name === name))
  Object.assign(process.env, provideComponents([...new Set(open.flatMap(({ needs = [] }) => needs))]))
  const run = (lane: Lane) =>
    runStages(
      open.filter((stage) => stage.lane === lane),
      { report: book, isShown: false },
    )
  await Promise.all([run('tests'), run('one core')])
  await run('alone')
  console.log(describeFailures(book))
  console.log(describeResults(book.results))
  console.log(countTests(book.results))
  return hasPassed(book.results) ? 0 : 1
}
