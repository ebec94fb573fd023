// Reads and parses the repository's TypeScript files for the checks in this folder. Only oxc-parser interprets the
// syntax.
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Comment, Node, Program } from 'oxc-parser'
import { parseSync, visitorKeys } from 'oxc-parser'

export const REPOSITORY = dirname(dirname(fileURLToPath(import.meta.url)))

/** A module that a file imports, exports from, or imports dynamically with a literal. */
export interface Imported {
  readonly module: string
  readonly line: number
  /** `import type`: the module is not loaded at run time. */
  readonly isTypeOnly: boolean
  /** `import()`: the module is loaded when this line runs. */
  readonly isDynamic?: true
}

export interface SourceFile {
  /** Relative to the repository, with `/` between names. */
  readonly path: string
  readonly text: string
  readonly program: Program
  readonly comments: readonly Comment[]
  readonly imports: readonly Imported[]
  readonly syntaxErrors: readonly string[]
  lineOf(offset: number): number
}

const FOLDERS = ['packages', 'scripts', 'examples']
const LEFT_OUT: ReadonlySet<string> = new Set(['node_modules', 'dist', 'reports', 'coverage', '.stryker-tmp'])

export function isTest(path: string): boolean {
  return /\.test(?:-kit)?\.ts$|-situations\.ts$/.test(path)
}

/** All .ts files below the source folders, sorted by path. */
export function sourcePaths(): readonly string[] {
  return FOLDERS.flatMap((folder) => filesBelow(join(REPOSITORY, folder)))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.d.ts'))
    .map((path) => relative(REPOSITORY, path).split(sep).join('/'))
    .toSorted()
}

export function readSource(path: string): SourceFile {
  return parseSource(path, readFileSync(join(REPOSITORY, path), 'utf8'))
}

export function parseSource(path: string, text: string): SourceFile {
  const parsed = parseSync(path, text, { sourceType: 'module' })
  const lineStarts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  const lineOf = (offset: number): number => lineStarts.filter((start) => start <= offset).length
  const { program, comments, errors } = parsed
  const imports = listImports(program).map(({ start, ...rest }) => ({ ...rest, line: lineOf(start) }))
  return { path, text, program, comments, imports, syntaxErrors: errors.map(({ message }) => message), lineOf }
}

/** Calls `visit` for each node with its ancestors, the nearest last. */
export function walkNodes(
  node: Node,
  visit: (node: Node, around: readonly Node[]) => void,
  around: readonly Node[] = [],
): void {
  visit(node, around)
  const inside = [...around, node]
  for (const key of visitorKeys[node.type] ?? []) {
    // The parser's own table lists which fields hold nodes; the types do not express this.
    const field = (node as unknown as Readonly<Record<string, Node | readonly (Node | null)[] | null | undefined>>)[key]
    for (const child of Array.isArray(field) ? (field as readonly (Node | null)[]) : [field as Node | null | undefined])
      if (child) walkNodes(child, visit, inside)
  }
}

function listImports(program: Program): readonly (Omit<Imported, 'line'> & { readonly start: number })[] {
  const found: (Omit<Imported, 'line'> & { readonly start: number })[] = []
  walkNodes(program, (node) => {
    const { start } = node
    if (node.type === 'ImportDeclaration')
      found.push({ module: node.source.value, start, isTypeOnly: node.importKind === 'type' })
    if ((node.type === 'ExportAllDeclaration' || node.type === 'ExportNamedDeclaration') && node.source)
      found.push({ module: node.source.value, start, isTypeOnly: node.exportKind === 'type' })
    const dynamic = node.type === 'ImportExpression' && node.source.type === 'Literal' ? node.source.value : undefined
    if (typeof dynamic === 'string') found.push({ module: dynamic, start, isTypeOnly: false, isDynamic: true })
    if (node.type === 'TSImportType') found.push({ module: node.source.value, start, isTypeOnly: true })
  })
  return found
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.has(entry.name)) return []
    const path = join(folder, entry.name)
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : []
  })
}
