// `npm run mutate:sample [-- --seed N --windows W]` mutates lines of host, runtime, server and client that the seed
// selects, with `--in FOLDER` lines of that folder. `-- --changed COMMIT --lines N` mutates at most N of the lines changed
// since a commit, in every package whose fast tests run in their own process, and runs the tests of their folders. All
// work in a copy of the repository, run the fast tests that cover the lines, and print which mutants no test noticed.
// `--least PERCENT` fails below this share of noticed mutants.
import { createRandom } from '@baton/core/testing'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import type { MutatedFile } from './mutation-results.ts'
import { readOriginal, readResults, renderTotals, shorten, TABLE_HEAD } from './mutation-results.ts'
import { copyRepository } from './repository-copy.ts'
import { isTest, REPOSITORY, sourcePaths } from './source-files.ts'

/**
 * Stores in files and databases are excluded: their tests start processes and threads, where mutants are not switched
 * on.
 */
const MUTATED = /^packages\/(?:host\/src\/(?:local|stores(?=\/[^/]+$))|runtime\/src|server\/src|client\/src)\//
const WINDOW_LINES = 30
/** Files that `--changed` mutates. Workflows and workers of Temporal run in bundles, where mutants are not switched on. */
const MUTATED_CHANGES =
  /^packages\/(?:(?:core|runtime|server|client|protocol|models|mcp|tools|kits)\/src|host\/src\/(?:local|stores(?=\/[^/]+$)))\//
/** A share of fewer mutants says little. */
const JUDGED_MUTANTS = 20
const DAY_MS = 86_400_000
const CONFIG = 'stryker.sample.json'
/** Folders whose tests are run for a sample, as in vitest.sample.config.ts. */
const TESTED = [
  ...['host', 'runtime', 'server', 'client'].map((name) => `packages/${name}`),
  'packages/testing/src/host-contract',
]

interface Window {
  readonly path: string
  readonly line: number
  readonly lines: number
}

process.exitCode = runSample()

function runSample(): number {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string' },
      windows: { type: 'string', default: '12' },
      in: { type: 'string' },
      changed: { type: 'string' },
      lines: { type: 'string', default: '200' },
      least: { type: 'string', default: '0' },
    },
  })
  // Another part of the code every day.
  const seed = Number(values.seed ?? Math.floor(Date.now() / DAY_MS))
  const { changed, in: folder } = values
  const isMutated = (path: string): boolean =>
    folder === undefined ? MUTATED.test(path) : path.startsWith(`${folder}/`)
  const windows =
    changed === undefined
      ? chooseWindows(seed, Number(values.windows), isMutated)
      : chooseChanges({ seed, base: changed, most: Number(values.lines) })
  if (windows.length === 0) {
    console.log('no line that can be mutated has changed')
    return 0
  }
  const where = folder === undefined ? '' : ` --in ${folder}`
  const words =
    changed === undefined ? `--windows ${values.windows}${where}` : `--changed ${changed} --lines ${values.lines}`
  const command = `npm run mutate:sample -- --seed ${seed} ${words}`
  const tested = changed === undefined ? findTests(folder) : [...new Set(windows.map(({ path }) => dirname(path)))]
  const results = mutate(windows, { seed, tested })
  if (results === undefined) return 1
  console.log(renderSample(command, results))
  return isNoticed(results, Number(values.least)) ? 0 : 1
}

/** Packages whose tests are run for a folder: its own, and the usual ones. None for the whole sample. */
function findTests(folder: string | undefined): readonly string[] {
  const [own] = /^packages\/[^/]+/.exec(folder ?? '') ?? []
  return own === undefined ? [] : [...new Set([own, ...TESTED])]
}

interface Mutation {
  readonly seed: number
  /** Folders whose tests are run; those of the sample if empty. */
  readonly tested: readonly string[]
}

/** Returns nothing if the tests fail without a mutant. */
function mutate(windows: readonly Window[], { seed, tested }: Mutation): ReadonlyMap<string, MutatedFile> | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'baton-sample-'))
  try {
    copyRepository(folder, ['vitest.sample.config.ts'])
    writeFileSync(join(folder, CONFIG), JSON.stringify(configure(windows)))
    const stryker = join(REPOSITORY, 'node_modules/@stryker-mutator/core/bin/stryker.js')
    const variables = tested.length === 0 ? {} : { BATON_SAMPLE_FOLDERS: tested.join(',') }
    const { status } = spawnSync(process.execPath, [stryker, 'run', CONFIG], {
      cwd: folder,
      stdio: 'inherit',
      env: { ...process.env, ...variables },
    })
    if (status !== 0) return undefined
    const report = join(REPOSITORY, 'reports', `sample-${seed}.json`)
    mkdirSync(join(REPOSITORY, 'reports'), { recursive: true })
    cpSync(join(folder, 'reports/sample.json'), report)
    return readResults(report)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function isNoticed(files: ReadonlyMap<string, MutatedFile>, leastPercent: number): boolean {
  const statuses = [...files.values()].flatMap(({ mutants }) => mutants.map(({ status }) => status))
  const noticed = statuses.filter((status) => status === 'Killed' || status === 'Timeout').length
  const missed = statuses.filter((status) => status === 'Survived' || status === 'NoCoverage').length
  if (noticed + missed < JUDGED_MUTANTS) return true
  const percent = (100 * noticed) / (noticed + missed)
  if (percent >= leastPercent) return true
  console.log(`The tests noticed ${percent.toFixed(0)} % of the mutants, not ${leastPercent} %: test what has changed.`)
  return false
}

/** Selects windows; every line has the same chance to begin one. */
function chooseWindows(seed: number, count: number, isMutated: (path: string) => boolean): readonly Window[] {
  const random = createRandom(seed)
  const lines = sourcePaths()
    .filter((path) => isMutated(path) && !isTest(path))
    .flatMap((path) => {
      const { length } = readFileSync(join(REPOSITORY, path), 'utf8').split('\n')
      return Array.from({ length }, (_, index) => ({ path, line: index + 1, lines: WINDOW_LINES }))
    })
  return Array.from({ length: count }, () => random.pick(lines))
}

interface Change {
  readonly seed: number
  /** A commit. */
  readonly base: string
  /** Number of lines. */
  readonly most: number
}

/** Runs of changed lines, in an order that the seed selects. */
function chooseChanges({ seed, base, most }: Change): readonly Window[] {
  const { status, stdout, stderr } = spawnSync('git', ['diff', '--unified=0', base, '--', 'packages'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  })
  if (status !== 0) throw new Error(`git diff ${base} failed: ${stderr}`)
  const changes: Window[] = []
  let path = ''
  for (const line of stdout.split('\n')) {
    if (line.startsWith('+++ ')) path = line.slice('+++ b/'.length)
    const [, start, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    if (start === undefined || count === '0' || !MUTATED_CHANGES.test(path) || isTest(path)) continue
    changes.push({ path, line: Number(start), lines: Number(count) })
  }
  let left = most
  return shuffle(changes, seed).flatMap((change) => {
    const lines = Math.min(change.lines, left)
    left -= lines
    return lines > 0 ? [{ ...change, lines }] : []
  })
}

function shuffle(changes: readonly Window[], seed: number): readonly Window[] {
  const random = createRandom(seed)
  return changes
    .map((change) => ({ change, at: random.below(2 ** 30) }))
    .sort((one, other) => one.at - other.at)
    .map(({ change }) => change)
}

function configure(windows: readonly Window[]) {
  return {
    testRunner: 'vitest',
    plugins: [join(REPOSITORY, 'node_modules/@stryker-mutator/vitest-runner/dist/src/index.js')],
    vitest: { configFile: 'vitest.sample.config.ts', related: true },
    mutate: windows.map(({ path, line, lines }) => `${path}:${line}-${line + lines - 1}`),
    coverageAnalysis: 'perTest',
    ignoreStatic: true,
    concurrency: 2,
    inPlace: true,
    disableTypeChecks: false,
    allowEmpty: true,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: 'reports/sample.json' },
    tsconfigFile: 'tsconfig.mutation-none.json',
    timeoutMS: 20_000,
    // Every test runs once before the mutants, on a busy machine too.
    dryRunTimeoutMinutes: 30,
  }
}

/** The report, formatted for a page. */
function renderSample(command: string, files: ReadonlyMap<string, MutatedFile>): string {
  const all = [...files.values()].flatMap((file) => file.mutants)
  const left = [...files].flatMap(([path, file]) =>
    file.mutants
      .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
      .map((mutant) => {
        const from = shorten(readOriginal(file, mutant.location))
        const to = shorten(mutant.replacement ?? '')
        const what = mutant.status === 'Survived' ? '' : ' (no test runs it)'
        return `- \`${path}:${mutant.location.start.line}\` \`\` ${from} \`\` → \`\` ${to} \`\`${what}`
      }),
  )
  return [
    `\`${command}\``,
    '',
    `| ${TABLE_HEAD.join(' | ')} |`,
    `| ${TABLE_HEAD.map(() => '---').join(' | ')} |`,
    ...[...files].map(([path, file]) => renderTotals(path, file.mutants)),
    renderTotals('**all**', all),
    '',
    ...left,
  ].join('\n')
}
