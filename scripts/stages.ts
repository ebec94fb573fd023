// Runs commands one after another, each with a time limit, and continues after a failure. At the end it prints one
// table: stage, minutes, passed, failed; the same is written as JSON to `reports`.
import { execFileSync, spawn } from 'node:child_process'
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { REPOSITORY } from './source-files.ts'

export interface Stage {
  readonly name: string
  readonly words: readonly [program: string, ...words: string[]]
  readonly variables?: Readonly<Record<string, string>>
  /** Time limit in minutes; a stage that exceeds it is stopped and counts as failed. */
  readonly minutesMax: number
  /** Vitest counts its tests: a JSON report is requested. */
  readonly isVitest?: boolean
}

export interface StageResult {
  readonly name: string
  readonly outcome: 'passed' | 'failed' | 'over time'
  readonly minutes: number
  /** Number of tests, if the stage counts them. */
  readonly passed?: number
  readonly failed?: number
  readonly skipped?: number
}

/**
 * The results so far. They are kept in `reports/LABEL.json`; `reports/LABEL` contains the output of each stage that is
 * not shown.
 */
export interface Report {
  readonly label: string
  readonly commit: string
  readonly results: readonly StageResult[]
  add(result: StageResult): void
}

export interface RunOptions {
  readonly report: Report
  /** Shows the output of the stages instead of keeping it in files. */
  readonly isShown: boolean
}

const REPORTS = join(REPOSITORY, 'reports')

/** Begins a report, or with `isResumed` continues the report of an interrupted run of this commit. */
export function openReport(label: string, isResumed = false): Report {
  mkdirSync(join(REPORTS, label), { recursive: true })
  const path = join(REPORTS, `${label}.json`)
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: REPOSITORY, encoding: 'utf8' }).trim()
  const kept = isResumed && existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as KeptReport) : undefined
  if (kept !== undefined && kept.commit !== commit)
    throw new Error(`${path} is of commit ${kept.commit}, not of ${commit}: run without --resume`)
  const results = [...(kept?.stages ?? [])]
  const add = (result: StageResult): void => {
    results.push(result)
    writeFileSync(path, `${JSON.stringify({ commit, stages: results }, undefined, 2)}\n`)
  }
  return { label, commit, results, add }
}

interface KeptReport {
  readonly commit: string
  readonly stages: readonly StageResult[]
}

/**
 * Runs the stages one after another. Each result is written to the report at once, so an interrupted run keeps its
 * results.
 */
export async function runStages(stages: readonly Stage[], options: RunOptions): Promise<void> {
  for (const stage of stages) {
    console.log(`== ${stage.name} (${stage.minutesMax} minutes at most)`)
    const result = await runStage(stage, options)
    options.report.add(result)
    console.log(`== ${stage.name}: ${result.outcome} after ${result.minutes.toFixed(1)} minutes`)
  }
}

/** Results as Markdown. */
export function describeResults(results: readonly StageResult[]): string {
  const rows = results.map(({ name, outcome, minutes, passed, failed, skipped }) => {
    const counts = [passed, failed, skipped].map((count) => String(count ?? ''))
    return `| ${[name, outcome, minutes.toFixed(1), ...counts].join(' | ')} |`
  })
  const minutes = results.reduce((sum, one) => sum + one.minutes, 0)
  const head = '| stage | outcome | minutes | passed | failed | skipped |\n| --- | --- | --- | --- | --- | --- |'
  return `${head}\n${rows.join('\n')}\n| all | ${hasPassed(results) ? 'passed' : 'failed'} | ${minutes.toFixed(1)} | | | |`
}

export function hasPassed(results: readonly StageResult[]): boolean {
  return results.every(({ outcome }) => outcome === 'passed')
}

async function runStage(stage: Stage, { report: { label }, isShown }: RunOptions): Promise<StageResult> {
  const { name, minutesMax, isVitest = false } = stage
  const report = reportPath(label, name)
  rmSync(report, { force: true })
  const [program, ...words] = stage.words
  if (isVitest) words.push('--reporter=default', '--reporter=json', `--outputFile.json=${report}`)
  const startMs = performance.now()
  const child = spawn(program, words, {
    cwd: REPOSITORY,
    env: { ...process.env, ...stage.variables },
    stdio: ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'],
    detached: true, // its own process group, which is stopped as a whole
  })
  if (!isShown) {
    const kept = createWriteStream(join(REPORTS, label, `${toSlug(name)}.log`))
    child.stdout?.pipe(kept, { end: false })
    child.stderr?.pipe(kept, { end: false })
    child.once('close', () => kept.end())
  }
  let isOver = false
  const limit = setTimeout(() => {
    isOver = true
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, minutesMax * 60_000)
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', (cause) => {
      console.error(`${name}: ${cause.message}`)
      resolve(1)
    })
    child.once('close', resolve)
  })
  clearTimeout(limit)
  const outcome = isOver ? 'over time' : code === 0 ? 'passed' : 'failed'
  return { name, outcome, minutes: (performance.now() - startMs) / 60_000, ...readCounts(report) }
}

function readCounts(report: string): Pick<StageResult, 'passed' | 'failed' | 'skipped'> {
  if (!existsSync(report)) return {}
  const read = JSON.parse(readFileSync(report, 'utf8')) as {
    readonly numPassedTests: number
    readonly numFailedTests: number
    readonly numPendingTests: number
  }
  return { passed: read.numPassedTests, failed: read.numFailedTests, skipped: read.numPendingTests }
}

/**
 * The failed tests of a run's Vitest stages, each with its file and the first lines of its error: whoever sees only the
 * end of the output still learns what failed.
 */
export function describeFailures({ label, results }: Report): string {
  return results
    .flatMap(({ name }) => {
      const path = reportPath(label, name)
      return existsSync(path) ? listFailures(JSON.parse(readFileSync(path, 'utf8')) as VitestReport) : []
    })
    .join('\n')
}

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly fullName: string
      readonly status: string
      readonly failureMessages: readonly string[]
    }[]
  }[]
}

const MESSAGE_LINES = 12

function listFailures({ testResults }: VitestReport): readonly string[] {
  const shorten = (message: string): string => message.split('\n').slice(0, MESSAGE_LINES).join('\n    ')
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = relative(REPOSITORY, name)
    const failed = assertionResults.filter((one) => one.status === 'failed')
    if (failed.length === 0) return status === 'failed' ? [`FAILED ${file}\n    ${shorten(message)}`] : []
    return failed.map((one) => `FAILED ${file} > ${one.fullName}\n    ${shorten(one.failureMessages.join('\n'))}`)
  })
}

function reportPath(label: string, stage: string): string {
  return join(REPORTS, label, `${toSlug(stage)}.json`)
}

function toSlug(stage: string): string {
  return stage.replaceAll(/[^a-z0-9]+/gi, '-')
}

/** A one-line summary: how many tests passed and failed. */
export function countTests(results: readonly StageResult[]): string {
  const sum = (pick: (result: StageResult) => number | undefined): number =>
    results.reduce((all, result) => all + (pick(result) ?? 0), 0)
  const failed = sum((one) => one.failed) + results.filter((one) => one.outcome !== 'passed' && !one.failed).length
  return `${sum((one) => one.passed)} passed, ${failed} failed, ${sum((one) => one.skipped)} skipped`
}
