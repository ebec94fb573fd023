// Writes a part of docs/mutation.md from the reports of `npm run mutate`: totals for each file, then every mutant that
// was not killed by a test, with the reason from mutation-reasons.ts. If there are several reports, the newest one
// counts for each file.
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withGeneratedPart } from './generated-part.ts'
import { MUTATION_REASONS } from './mutation-reasons.ts'
import type { MutatedFile } from './mutation-results.ts'
import { readOriginal, readResults, renderTotals, shorten, TABLE_HEAD } from './mutation-results.ts'
import { REPOSITORY } from './source-files.ts'

const PAGE = 'docs/mutation.md'
const REPORTS = join(REPOSITORY, 'reports')
const SOURCES = 'packages/core/src/machine/'

function readReports(): ReadonlyMap<string, MutatedFile> {
  const paths = readdirSync(REPORTS)
    .filter((name) => /^mutation.*\.json$/.test(name))
    .map((name) => join(REPORTS, name))
    .sort((one, other) => statSync(one).mtimeMs - statSync(other).mtimeMs)
  const files = new Map<string, MutatedFile>()
  for (const path of paths) {
    for (const [name, file] of readResults(path)) files.set(name.replace(SOURCES, ''), file)
  }
  return new Map([...files].sort(([one], [other]) => (one < other ? -1 : 1)))
}

function describeReason(name: string, from: string, to: string): string {
  const known = MUTATION_REASONS.find(
    (entry) => (entry.file ?? name) === name && entry.from.test(from) && (entry.to?.test(to) ?? true),
  )
  return (
    known?.reason ??
    'open: no situation test distinguishes it (the explored conversations, which this run leaves out, may)'
  )
}

function unkilled(name: string, file: MutatedFile, status: string): readonly string[] {
  return file.mutants
    .filter((mutant) => mutant.status === status)
    .map((mutant) => {
      const from = readOriginal(file, mutant.location)
      const to = mutant.replacement ?? ''
      const { line } = mutant.location.start
      const reason = status === 'Timeout' ? 'does not end' : describeReason(name, from, to)
      return `- \`${name}:${line}\` \`\` ${shorten(from)} \`\` → \`\` ${shorten(to)} \`\`: ${reason}`
    })
}

function section(title: string, files: ReadonlyMap<string, MutatedFile>, status: string): string {
  const lines = [...files].flatMap(([name, file]) => unkilled(name, file, status))
  return `### ${title} (${lines.length})\n\n${lines.length === 0 ? 'None.' : lines.join('\n')}`
}

export function renderMachinePart(files: ReadonlyMap<string, MutatedFile>): string {
  const all = [...files.values()].flatMap((file) => file.mutants)
  return [
    `| ${TABLE_HEAD.join(' | ')} |`,
    `| ${TABLE_HEAD.map(() => '---').join(' | ')} |`,
    ...[...files].map(([name, file]) => renderTotals(name, file.mutants)),
    renderTotals('**all**', all),
    '',
    section('Survivors', files, 'Survived'),
    '',
    section('Not covered', files, 'NoCoverage'),
    '',
    section('Timed out', files, 'Timeout'),
  ].join('\n')
}

if (process.argv[1] === import.meta.filename) {
  const part = renderMachinePart(readReports())
  writeFileSync(join(REPOSITORY, PAGE), withGeneratedPart(PAGE, 'machine', part))
  console.log(part.split('\n').find((line) => line.startsWith('| **all**')))
}
