// Writes docs/mutation.md from the reports of `npm run mutate`: totals for each file, then every mutant that no test
// killed, with the reason from mutation-reasons.ts. Of several reports the newest counts for each file.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MUTATION_REASONS } from './mutation-reasons.ts'
import { REPOSITORY } from './source-files.ts'

interface Place {
  readonly line: number
  readonly column: number
}

interface Mutant {
  readonly mutatorName: string
  readonly replacement?: string
  readonly status: string
  readonly location: { readonly start: Place; readonly end: Place }
}

interface MutatedFile {
  readonly source: string
  readonly mutants: readonly Mutant[]
}

const REPORTS = join(REPOSITORY, 'reports')
const SOURCES = 'packages/core/src/machine/'

function readReports(): ReadonlyMap<string, MutatedFile> {
  const paths = readdirSync(REPORTS)
    .filter((name) => /^mutation.*\.json$/.test(name))
    .map((name) => join(REPORTS, name))
    .sort((one, other) => statSync(one).mtimeMs - statSync(other).mtimeMs)
  const files = new Map<string, MutatedFile>()
  for (const path of paths) {
    // The shape is Stryker's own (mutation-testing-report-schema); a report of another shape fails below.
    const report = JSON.parse(readFileSync(path, 'utf8')) as { readonly files: Record<string, MutatedFile> }
    for (const [name, file] of Object.entries(report.files)) files.set(name.replace(SOURCES, ''), file)
  }
  return new Map([...files].sort(([one], [other]) => (one < other ? -1 : 1)))
}

function count(mutants: readonly Mutant[], status: string): number {
  return mutants.filter((mutant) => mutant.status === status).length
}

function totals(name: string, mutants: readonly Mutant[]): string {
  const [killed, survived, timeout, uncovered] = ['Killed', 'Survived', 'Timeout', 'NoCoverage'].map((status) =>
    count(mutants, status),
  )
  const found = (killed ?? 0) + (timeout ?? 0)
  const all = found + (survived ?? 0) + (uncovered ?? 0)
  const score = all === 0 ? '' : `${((found / all) * 100).toFixed(1)} %`
  return `| ${[name, all, killed, survived, timeout, uncovered, score].join(' | ')} |`
}

function original(file: MutatedFile, { start, end }: Mutant['location']): string {
  const lines = file.source.split('\n').slice(start.line - 1, end.line)
  const last = lines.length - 1
  return lines
    .map((line, at) => line.slice(at === 0 ? start.column - 1 : 0, at === last ? end.column - 1 : undefined).trim())
    .join(' ')
}

function short(code: string): string {
  const line = code.replaceAll(/\s+/g, ' ')
  return line.length > 90 ? `${line.slice(0, 87)}...` : line
}

function describeReason(name: string, from: string, to: string): string {
  const known = MUTATION_REASONS.find(
    (entry) => (entry.file ?? name) === name && entry.from.test(from) && (entry.to?.test(to) ?? true),
  )
  return (
    known?.reason ??
    'open: no situation test tells it apart (the explored conversations, which this run leaves out, may)'
  )
}

function unkilled(name: string, file: MutatedFile, status: string): readonly string[] {
  return file.mutants
    .filter((mutant) => mutant.status === status)
    .map((mutant) => {
      const from = original(file, mutant.location)
      const to = mutant.replacement ?? ''
      const { line } = mutant.location.start
      const reason = status === 'Timeout' ? 'does not end' : describeReason(name, from, to)
      return `- \`${name}:${line}\` \`\` ${short(from)} \`\` → \`\` ${short(to)} \`\`: ${reason}`
    })
}

function section(title: string, files: ReadonlyMap<string, MutatedFile>, status: string): string {
  const lines = [...files].flatMap(([name, file]) => unkilled(name, file, status))
  return `## ${title} (${lines.length})\n\n${lines.length === 0 ? 'None.' : lines.join('\n')}`
}

export function mutationPage(files: ReadonlyMap<string, MutatedFile>): string {
  const all = [...files.values()].flatMap((file) => file.mutants)
  const head = ['file', 'mutants', 'killed', 'survived', 'timed out', 'not covered', 'score']
  const rows = [...files].map(([name, file]) => totals(name, file.mutants))
  return `# Mutation testing of the session machine

\`npm run mutate\` changes the machine in one place at a time and runs its tests (without the explored conversations);
\`npm run mutate:report\` writes this page from the result. A mutant that times out counts as found.

| ${head.join(' | ')} |
| ${head.map(() => '---').join(' | ')} |
${rows.join('\n')}
${totals('**all**', all)}

${section('Survivors', files, 'Survived')}

${section('Not covered', files, 'NoCoverage')}

${section('Timed out', files, 'Timeout')}
`
}

if (process.argv[1] === import.meta.filename) {
  const files = readReports()
  const page = mutationPage(files)
  writeFileSync(join(REPOSITORY, 'docs/mutation.md'), page)
  console.log(page.split('\n').find((line) => line.startsWith('| **all**')))
}
