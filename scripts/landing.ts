// Runs the checks that `.ci/run` performs after `npm ci`: static checks, `npm test` with processes and more seeds, the
// deep suites that the change requires, simulator seeds, and packs if an entry changed. A table shows the duration of each; `--plan` only prints
// what would run.
import { spawnSync } from 'node:child_process'
import type { Variables } from './components.ts'
import { provideComponents } from './components.ts'
import { REPOSITORY } from './source-files.ts'
import type { Stage } from './stages.ts'
import { countTests, describeFailures, describeResults, hasPassed, openReport, runStages } from './stages.ts'
import type { LandingPlan } from './suites.ts'
import { listFiles, planLanding } from './suites.ts'

const DAY_MS = 86_400_000
/**
 * Commits within this many hours before the newest one belong to its change, unless BATON_CI_BASE names another base.
 */
const CHANGE_HOURS = 4
/** Number of simulator seeds; the seeds change every day. */
const SEEDS = 100
/** Minutes that a landing may take on a slow machine. */
const MINUTES_MAX = 25

const seed = Number(process.env['BATON_TEST_SEED'] ?? Math.floor(Date.now() / DAY_MS))
const base = process.env['BATON_CI_BASE'] ?? findBase()
const changed = listChanged(base)
const plan = planLanding(changed, seed)
const since = base === '' ? 'in the whole history' : `since ${base.slice(0, 10)} (BATON_CI_BASE names another commit)`
console.log(
  `${changed.length} changed ${changed.length === 1 ? 'file' : 'files'} ${since}; seed ${seed} (BATON_TEST_SEED=${seed} plays this rotation again)`,
)
for (const { name } of plan.suites) console.log(`  ${name}: ${plan.reasons[name]}`)
if (!process.argv.includes('--plan')) process.exitCode = await land(plan)

async function land(chosen: LandingPlan): Promise<number> {
  const needs = [...new Set(chosen.suites.flatMap((suite) => suite.needs))]
  const report = openReport('landing')
  await runStages(listStages(chosen, provideComponents(needs)), { report, isShown: true })
  const { results } = report
  console.log(describeFailures(report))
  console.log(describeResults(results))
  const minutes = results.reduce((sum, one) => sum + one.minutes, 0)
  if (minutes > MINUTES_MAX)
    console.log(`OVER ${MINUTES_MAX} MINUTES: move a suite to the nightly tier (scripts/suites.ts)`)
  console.log(countTests(results))
  return hasPassed(results) ? 0 : 1
}

function listStages({ suites, isPacking }: LandingPlan, variables: Variables): readonly Stage[] {
  const node = [process.execPath, '--conditions=@baton/source'] as const
  const deep = ['run', '--mode', 'deep', '--project', 'deep', '--project', 'alone', ...suites.flatMap(listFiles)]
  const from = String(seed * 1000)
  return [
    { name: 'static', words: ['npm', 'run', '--silent', 'check:static'], minutesMax: 20 },
    { name: 'npm test', words: ['npx', 'vitest', 'run', '--mode', 'landing'], minutesMax: 40, isVitest: true },
    ...(suites.length === 0
      ? []
      : ([
          {
            name: 'deep',
            words: ['npx', 'vitest', ...deep],
            variables: { ...variables, BATON_TEST_REQUIRE: 'all' },
            minutesMax: 40,
            isVitest: true,
          },
        ] as const)),
    {
      name: 'simulate',
      words: [...node, 'packages/testing/src/simulator/simulate-command.ts', '--from', from, '--seeds', String(SEEDS)],
      minutesMax: 10,
    },
    ...(isPacking ? [{ name: 'packs', words: ['npm', 'run', '--silent', 'pack:check'], minutesMax: 15 } as const] : []),
  ]
}

/** Files that commits changed since the base; all files if there is no history. */
function listChanged(base: string): readonly string[] {
  const files = base === '' ? git('ls-files') : git('diff', '--name-only', base, 'HEAD')
  return files.split('\n').filter((file) => file !== '')
}

/** The newest commit older than the change; empty if there is none. */
function findBase(): string {
  const newest = Number(git('log', '-1', '--format=%ct'))
  return git('rev-list', '-1', `--before=${newest - CHANGE_HOURS * 3600}`, 'HEAD')
}

function git(...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', words, { cwd: REPOSITORY, encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status !== 0) throw new Error(`git ${words.join(' ')} failed: ${stderr}`)
  return stdout.trim()
}
