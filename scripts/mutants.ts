// `npm run mutants [-- WORDS] [-- --minutes N]`: applies the mutants of mutant-list.ts, optionally filtered by words in
// their names, one after another in a copy of the repository, and runs the test of each, which must fail. It never
// writes to the repository. With `--minutes` it begins at another mutant each day and stops after that time.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ALL_MUTANTS } from './all-mutants.ts'
import type { Mutant, MutantTest } from './mutant-list.ts'
import { copyRepository } from './repository-copy.ts'
import { REPOSITORY } from './source-files.ts'

/** Time limit of one test in milliseconds; a test that exceeds it has detected its mutant by hanging. */
const TEST_MS = 300_000

type Outcome = 'passed' | 'failed' | 'not run'

/** Number of mutants to skip each night, roughly what half an hour covers on two busy cores. */
const NIGHT_STRIDE = 80
const DAY_MS = 86_400_000

const { values, positionals } = parseArgs({ allowPositionals: true, options: { minutes: { type: 'string' } } })
process.exitCode = checkMutants(positionals.join(' '), Number(values.minutes ?? Infinity))

function checkMutants(words: string, minutesMax: number): number {
  if (!(minutesMax > 0)) throw new Error(`--minutes must be a positive number, not "${values.minutes}"`)
  const startMs = performance.now()
  const all = ALL_MUTANTS.filter(({ name }) => name.includes(words))
  const first = minutesMax === Infinity ? 0 : (Math.floor(Date.now() / DAY_MS) * NIGHT_STRIDE) % all.length
  const chosen = [...all.slice(first), ...all.slice(0, first)]
  let played = 0
  const folder = mkdtempSync(join(tmpdir(), 'baton-mutants-'))
  const sound = new Map<string, Outcome>()
  try {
    copyRepository(folder)
    const issues = chosen.flatMap((mutant) => {
      if (performance.now() - startMs > minutesMax * 60_000) return []
      played += 1
      const before = sound.get(JSON.stringify(mutant.test)) ?? runTest(folder, mutant.test)
      sound.set(JSON.stringify(mutant.test), before)
      if (before !== 'passed') return [`${mutant.name}: its test has ${before} without the mutant`]
      return checkMutant(folder, mutant)
    })
    for (const issue of issues) console.error(issue)
    const rest = all.length - played
    const left = rest === 0 ? '' : `; the minutes were up, so ${rest} others wait for another night`
    console.log(`mutants: ${played - issues.length} of ${played} are dead${left}`)
    return issues.length === 0 && played > 0 ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The problem with the mutant: it survives, or it cannot be tried. */
function checkMutant(folder: string, { name, file, from, to, test }: Mutant): readonly string[] {
  const path = join(folder, file)
  const source = readFileSync(path, 'utf8')
  if (source.split(from).length !== 2) return [`${name}: its text must occur exactly once in ${file}`]
  writeFileSync(
    path,
    source.replace(from, () => to),
  )
  const outcome = runTest(folder, test)
  writeFileSync(path, source)
  console.log(`${outcome === 'failed' ? 'dead' : 'ALIVE'}: ${name}`)
  return outcome === 'failed' ? [] : [`${name}: it survives: the test ${outcome}`]
}

function runTest(folder: string, test: MutantTest): Outcome {
  return 'seeds' in test ? runSeeds(folder, test) : runFile(folder, test)
}

function runSeeds(folder: string, { seeds, processes = 1 }: Extract<MutantTest, { seeds: number }>): Outcome {
  const command = join(folder, 'packages/testing/src/simulator/simulate-command.ts')
  const words = ['--seeds', String(seeds), '--processes', String(processes)]
  const { status, stdout } = run(folder, ['--conditions=@baton/source', command, ...words])
  if (status === 0) return 'passed'
  // The simulator reports this itself: a mutant that is not a valid program fails in another way.
  return stdout.includes('seeds failed') ? 'failed' : 'not run'
}

function runFile(folder: string, { file, name }: { readonly file: string; readonly name?: string }): Outcome {
  const report = join(folder, 'report.json')
  rmSync(report, { force: true })
  const vitest = join(REPOSITORY, 'node_modules/vitest/vitest.mjs')
  const named = name === undefined ? [] : ['-t', name]
  // No other mode knows deep tests.
  const mode = file.endsWith('.deep.test.ts') ? 'deep' : 'landing'
  const words = [vitest, 'run', file, '--mode', mode, ...named, '--reporter=json', `--outputFile=${report}`]
  const { status, error } = run(folder, words)
  if (error) return 'failed' // it did not end
  const { numPassedTests, numFailedTests } = readReport(report)
  if (status === 0) return numPassedTests > 0 ? 'passed' : 'not run'
  return numFailedTests > 0 ? 'failed' : 'not run'
}

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
}

function readReport(path: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report // as vitest writes it
  } catch {
    return { numPassedTests: 0, numFailedTests: 0 }
  }
}

function run(folder: string, args: readonly string[]) {
  return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8', timeout: TEST_MS, maxBuffer: 2 ** 28 })
}
