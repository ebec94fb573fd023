// `npm run mutate:sample [-- --seed N --windows W]`: mutates lines of host, runtime, server and client that the seed
// selects, in a copy of the repository, and runs the fast tests that cover them. It prints which mutants were detected
// and which were not.
import { createRandom } from '@baton/core/testing'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
const DAY_MS = 86_400_000
const CONFIG = 'stryker.sample.json'

interface Window {
  readonly path: string
  readonly line: number
}

process.exitCode = runSample()

function runSample(): number {
  const { values } = parseArgs({
    options: { seed: { type: 'string' }, windows: { type: 'string', default: '12' } },
  })
  // Another part of the code every day.
  const seed = Number(values.seed ?? Math.floor(Date.now() / DAY_MS))
  const windows = chooseWindows(seed, Number(values.windows))
  const folder = mkdtempSync(join(tmpdir(), 'baton-sample-'))
  try {
    copyRepository(folder, ['vitest.sample.config.ts'])
    writeFileSync(join(folder, CONFIG), JSON.stringify(configure(windows)))
    const stryker = join(REPOSITORY, 'node_modules/@stryker-mutator/core/bin/stryker.js')
    const { status } = spawnSync(process.execPath, [stryker, 'run', CONFIG], { cwd: folder, stdio: 'inherit' })
    if (status !== 0) return 1
    const report = join(REPOSITORY, 'reports', `sample-${seed}.json`)
    mkdirSync(join(REPOSITORY, 'reports'), { recursive: true })
    cpSync(join(folder, 'reports/sample.json'), report)
    console.log(
      renderSample(`npm run mutate:sample -- --seed ${seed} --windows ${values.windows}`, readResults(report)),
    )
    return 0
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Selects windows; every line has the same chance to begin one. */
function chooseWindows(seed: number, count: number): readonly Window[] {
  const random = createRandom(seed)
  const lines = sourcePaths()
    .filter((path) => MUTATED.test(path) && !isTest(path))
    .flatMap((path) => {
      const { length } = readFileSync(join(REPOSITORY, path), 'utf8').split('\n')
      return Array.from({ length }, (_, index) => ({ path, line: index + 1 }))
    })
  return Array.from({ length: count }, () => random.pick(lines))
}

function configure(windows: readonly Window[]) {
  return {
    testRunner: 'vitest',
    plugins: [join(REPOSITORY, 'node_modules/@stryker-mutator/vitest-runner/dist/src/index.js')],
    vitest: { configFile: 'vitest.sample.config.ts', related: true },
    mutate: windows.map(({ path, line }) => `${path}:${line}-${line + WINDOW_LINES - 1}`),
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
