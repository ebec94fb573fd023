// `node scripts/api.ts [--write]`: the public names of each package, by entry point, with their kinds. They are kept in
// `packages/*/api.txt`, so that a change of the API shows in a diff; a test compares them.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Node } from 'oxc-parser'
import { parseSync } from 'oxc-parser'
import type { Package } from './packages.ts'
import { packagesInOrder } from './packages.ts'

export type Kind = 'function' | 'class' | 'const' | 'interface' | 'type' | 'enum' | 'namespace'

/** Exported names of one module and their kinds. */
type Names = ReadonlyMap<string, Kind>

/** The text of a package's `api.txt`. */
export function describeApi({ name, path, entries }: Package): string {
  const known = new Map<string, Names>()
  const parts = entries.map(({ subpath, source }) => {
    const lines = [...listNames(join(path, source), known)].map(([exported, kind]) => `  ${kind} ${exported}`)
    return [`${join(name, subpath)} (${lines.length})`, ...lines.toSorted()].join('\n')
  })
  return `${parts.join('\n\n')}\n`
}

function listNames(path: string, known: Map<string, Names>): Names {
  const before = known.get(path)
  if (before) return before
  const names = new Map<string, Kind>()
  known.set(path, names) // modules may import each other
  const { body } = parseSync(path, readFileSync(path, 'utf8'), { sourceType: 'module' }).program
  const own = listDeclared(body)
  for (const statement of body) {
    if (statement.type === 'ExportAllDeclaration') {
      if (statement.exported) names.set(readName(statement.exported), 'namespace')
      else for (const [name, kind] of resolveNames(path, statement.source.value, known)) names.set(name, kind)
    } else if (statement.type === 'ExportNamedDeclaration') {
      const { declaration, source, specifiers, exportKind } = statement
      if (declaration)
        for (const [name, kind] of listDeclared([declaration]))
          if (kind !== 'const' || !names.has(name)) names.set(name, kind)
      const from = source ? resolveNames(path, source.value, known) : own
      for (const { local, exported, exportKind: each } of specifiers) {
        const isType = exportKind === 'type' || each === 'type'
        names.set(readName(exported), from.get(readName(local)) ?? (isType ? 'type' : 'const'))
      }
    }
  }
  return names
}

/** The names of a module of this repository; none for others. */
function resolveNames(path: string, module: string, known: Map<string, Names>): Names {
  if (module.startsWith('.')) return listNames(resolve(dirname(path), module), known)
  const entry = packagesInOrder()
    .flatMap(({ name, path: folder, entries }) =>
      entries.map(({ subpath, source }) => ({ module: join(name, subpath), source: join(folder, source) })),
    )
    .find((one) => one.module === module)
  return entry ? listNames(entry.source, known) : new Map<string, Kind>()
}

const KINDS: Readonly<Record<string, Kind>> = {
  FunctionDeclaration: 'function',
  TSDeclareFunction: 'function',
  ClassDeclaration: 'class',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
  TSEnumDeclaration: 'enum',
}

/** Names that statements declare; imported ones are looked up where they come from only if they are exported again. */
function listDeclared(statements: readonly Node[]): Map<string, Kind> {
  const names = new Map<string, Kind>()
  for (const statement of statements) {
    const node =
      statement.type === 'ExportNamedDeclaration' && statement.declaration ? statement.declaration : statement
    if (node.type === 'VariableDeclaration')
      for (const { id } of node.declarations)
        // A shape has the name of its type, which is what its users read.
        if (id.type === 'Identifier' && !names.has(id.name)) names.set(id.name, 'const')
    const kind = KINDS[node.type]
    if (kind && 'id' in node && node.id?.type === 'Identifier') names.set(node.id.name, kind)
  }
  return names
}

function readName(node: { readonly type: string; readonly name?: string; readonly value?: unknown }): string {
  return node.name ?? String(node.value)
}

if (process.argv[1] === import.meta.filename) {
  let count = 0
  const all = new Set<string>()
  for (const one of packagesInOrder()) {
    const text = describeApi(one)
    if (process.argv.includes('--write')) writeFileSync(join(one.path, 'api.txt'), text)
    for (const [, name = ''] of text.matchAll(/^ {2}\w+ (\S+)$/gm)) {
      count += 1
      all.add(name)
    }
  }
  console.log(`${count} public names, ${all.size} different`)
}
