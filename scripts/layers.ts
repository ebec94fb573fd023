// The layers: which packages each package may import. AGENTS.md shows them, and a test compares them with the imports.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from './source-files.ts'
import { withGeneratedPart } from './generated-part.ts'

/** A package that is not listed must not exist; a listed package may not exist yet. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  protocol: ['core'],
  models: ['core'],
  runtime: ['core'],
  tools: ['core'],
  kits: ['core', 'tools'],
  mcp: ['core', 'runtime', 'tools'],
  notices: ['core', 'runtime', 'tools'],
  client: ['core', 'protocol'],
  host: ['core', 'models', 'runtime'],
  server: ['core', 'protocol', 'runtime'],
  temporal: ['core', 'runtime'],
  console: ['client', 'core', 'server'],
  testing: ['client', 'console', 'core', 'host', 'models', 'protocol', 'runtime', 'server', 'tools', 'kits', 'notices'],
  cli: [
    'client',
    'console',
    'core',
    'host',
    'models',
    'protocol',
    'runtime',
    'server',
    'temporal',
    'tools',
    'kits',
    'mcp',
  ],
}

/** AGENTS.md with the column "May import" of its table of packages. The other cells are written by hand. */
export function agentsPage(): string {
  const path = 'AGENTS.md'
  const [, part = ''] = /<!-- generated: layers -->\n\n([^]*?)\n\n<!-- end generated -->/.exec(readPage(path)) ?? []
  return withGeneratedPart(path, 'layers', writeLayers(part))
}

/** @throws Error if the rows are not the packages, each once */
export function writeLayers(table: string): string {
  const seen: string[] = []
  const rows = table.split('\n').map((row) => {
    const [, start, name] = /^(\| `packages\/([^`]+)` \| .* \|) [^|]* \|$/.exec(row) ?? []
    if (start === undefined || name === undefined) return row
    seen.push(name)
    return `${start} ${describe(MAY_IMPORT[name] ?? [])} |`
  })
  const expected = Object.keys(MAY_IMPORT).toSorted().join(', ')
  const listed = seen.toSorted().join(', ')
  if (listed !== expected) throw new Error(`the table of packages lists ${listed}, not ${expected}`)
  return rows.join('\n')
}

function describe(names: readonly string[]): string {
  return names.length === 0 ? 'nothing' : names.toSorted().join(', ')
}

function readPage(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8')
}
