// Which parts of the repository may import which: packages, the machine, the fronts. Determined from the import
// statements.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { MAY_IMPORT, agentsPage, writeLayers } from './layers.ts'
import type { Imported, SourceFile } from './source-files.ts'
import { REPOSITORY, isTest, parseSource, readSource, sourcePaths } from './source-files.ts'

/** Exceptions where a package that runs without Node may still use it: the file is loaded only on Node. */
const NODE_ALLOWED_IN: Readonly<Record<string, readonly string[]>> = {
  core: [],
  protocol: [],
  client: [],
  runtime: [],
  models: ['packages/models/src/gguf/', 'packages/models/src/recorded/', 'packages/models/src/transport/'],
}

const MACHINE = 'packages/core/src/machine/'
const MACHINE_MAY_IMPORT = [
  'packages/core/src/json.ts',
  'packages/core/src/messages.ts',
  'packages/core/src/model-settings.ts',
  'packages/core/src/errors.ts',
  'packages/core/src/shape/shape.ts',
]
/** The types of a model's answer, imported as types only: none of its code runs in the machine. */
const MACHINE_MAY_IMPORT_TYPES = ['packages/core/src/agent/model.ts']
/** A host over a workflow service does not depend on the local host; this one shows that it need not. */
const WORKFLOW = 'packages/testing/src/workflow/'
const FRONT = /^packages\/server\/src\/[^/]+\//
/** Code shared by all fronts; it does not import any of them. */
const FRONTS_SHARE = 'packages/server/src/shared/'

/** Problems with the imports of one file. */
function violations(file: SourceFile, declared: ReadonlySet<string>): readonly string[] {
  return file.imports.flatMap((imported) => {
    const isRelative = imported.module.startsWith('.')
    const why = isRelative ? relativeImport(file.path, imported) : packageImport(file.path, imported.module, declared)
    return why === undefined ? [] : [`${file.path}:${imported.line}: ${why}`]
  })
}

function relativeImport(from: string, { module, isTypeOnly }: Imported): string | undefined {
  const to = posix.join(posix.dirname(from), module)
  const home = from.startsWith('packages/') ? from.split('/').slice(0, 2).join('/') : undefined
  if (home !== undefined && !to.startsWith(`${home}/`))
    return `"${to}" is in another package; import it by the package's name`
  if (isTest(from)) return undefined
  const isMachines =
    to.startsWith(MACHINE) || MACHINE_MAY_IMPORT.includes(to) || (isTypeOnly && MACHINE_MAY_IMPORT_TYPES.includes(to))
  if (from.startsWith(MACHINE) && !isMachines) return `the machine may not import "${to}"`
  const front = FRONT.exec(from)?.[0]
  if (front !== undefined && !to.startsWith(front) && !to.startsWith(FRONTS_SHARE))
    return `a front may not import "${to}"`
  return undefined
}

function packageImport(from: string, module: string, declared: ReadonlySet<string>): string | undefined {
  const [, home] = from.split('/')
  if (!from.startsWith('packages/') || home === undefined) return undefined
  const isNode = module.startsWith('node:') || builtinModules.includes(module)
  if (isNode) {
    const allowed = NODE_ALLOWED_IN[home]
    return allowed && !isTest(from) && !allowed.some((folder) => from.startsWith(folder))
      ? `${home} runs without Node, so not "${module}"`
      : undefined
  }
  const name = module.startsWith('@') ? module.split('/').slice(0, 2).join('/') : (module.split('/')[0] ?? module)
  const isOwn = name === `@baton/${home}`
  if (isOwn && FRONT.test(from) && !isTest(from)) return 'a front may not import another front'
  // The workspaces link all our packages; a test may use any of them.
  if (isTest(from) && name.startsWith('@baton/')) return undefined
  if (!isOwn && !declared.has(name)) return `"${name}" is not declared in packages/${home}/package.json`
  const baton = /^@baton\/(.+)$/.exec(name)?.[1]
  if (from.startsWith(WORKFLOW) && baton === 'host') return 'a second engine may not import the first'
  const mayImport = MAY_IMPORT[home] ?? []
  if (baton !== undefined && !isOwn && !mayImport.includes(baton)) return `${home} may not import ${baton}`
  return undefined
}

/** Tests may use packages that only the repository declares. */
function declaredBy(path: string): ReadonlySet<string> {
  const names = (place: string, fields: readonly string[]): readonly string[] => {
    const text = readFileSync(join(REPOSITORY, place, 'package.json'), 'utf8')
    const manifest = JSON.parse(text) as Readonly<Record<string, object | undefined>>
    return fields.flatMap((field) => Object.keys(manifest[field] ?? {}))
  }
  const home = path.split('/').slice(0, 2).join('/')
  const needed = names(home, ['dependencies', 'peerDependencies', 'optionalDependencies'])
  // The console's page is bundled before it is packed, so its libraries are not installed with it.
  const isBuilt = path.startsWith('packages/console/') && !path.startsWith('packages/console/src/')
  return new Set(
    isTest(path) || isBuilt
      ? [...needed, ...names(home, ['devDependencies']), ...names('.', ['devDependencies'])]
      : needed,
  )
}

test('every import follows the layers', () => {
  const paths = sourcePaths().filter((path) => path.startsWith('packages/'))
  expect(paths.flatMap((path) => violations(readSource(path), declaredBy(path)))).toEqual([])
})

test('every package has a place in the layers, and declares no package above it', () => {
  const names = readdirSync(join(REPOSITORY, 'packages')).filter((name) =>
    existsSync(join(REPOSITORY, 'packages', name, 'package.json')),
  )
  expect(names.filter((name) => !Object.hasOwn(MAY_IMPORT, name))).toEqual([])
  const wrong = names.flatMap((name) => {
    const manifest = JSON.parse(readFileSync(join(REPOSITORY, 'packages', name, 'package.json'), 'utf8')) as {
      readonly dependencies?: object
    }
    const needed = Object.keys(manifest.dependencies ?? {}).filter((dependency) => dependency.startsWith('@baton/'))
    return needed
      .filter((dependency) => !MAY_IMPORT[name]?.includes(dependency.slice('@baton/'.length)))
      .map((dependency) => `${name} -> ${dependency}`)
  })
  expect(wrong).toEqual([])
})

test('no folder of the runtime imports one above it', () => {
  const folders = ['work', 'catalog', 'speech', 'session', 'tree', 'listener']
  const rank = (path: string): number => folders.indexOf(path.split('/')[3] ?? '')
  const upward = sourcePaths()
    .filter((path) => path.startsWith('packages/runtime/src/') && !isTest(path) && rank(path) >= 0)
    .flatMap((path) =>
      readSource(path)
        .imports.map(({ module }) => posix.join(posix.dirname(path), module))
        .filter((to) => to.startsWith('packages/runtime/src/') && rank(to) > rank(path))
        .map((to) => `${path} -> ${to}`),
    )
  expect(upward).toEqual([])
})

test.each([
  ['packages/core/src/agent/a.ts', 'node:fs', 'core runs without Node, so not "node:fs"'],
  ['packages/core/src/agent/a.ts', '@baton/host', 'core may not import host'],
  ['packages/models/src/a.ts', '@baton/tools', 'models may not import tools'],
  ['packages/testing/src/workflow/a.ts', '@baton/host', 'a second engine may not import the first'],
  ['packages/models/src/a.ts', 'left-pad', '"left-pad" is not declared in packages/models/package.json'],
  [
    'packages/core/src/machine/a.ts',
    '../agent/tool.ts',
    'the machine may not import "packages/core/src/agent/tool.ts"',
  ],
  ['packages/server/src/websocket/a.ts', '../acp/b.ts', 'a front may not import "packages/server/src/acp/b.ts"'],
  ['packages/server/src/websocket/a.ts', '../shared.ts', 'a front may not import "packages/server/src/shared.ts"'],
  ['packages/server/src/websocket/a.ts', '@baton/server/acp', 'a front may not import another front'],
  ['packages/server/src/websocket/a.ts', '@baton/host', 'server may not import host'],
  ['packages/host/src/a.ts', '@baton/server', 'host may not import server'],
  [
    'packages/tools/src/a.ts',
    '../../core/src/json.ts',
    '"packages/core/src/json.ts" is in another package; import it by the package\'s name',
  ],
])('%s importing %s is refused', (path, module, why) => {
  const declared = new Set(['@baton/host', '@baton/server', '@baton/tools', '@baton/core'])
  for (const text of [
    `import { a } from '${module}'`,
    `export * from '${module}'`,
    `const a = await import('${module}')`,
    `type A = import('${module}').A`,
  ])
    expect(violations(parseSource(path, text), declared)).toEqual([`${path}:1: ${why}`])
})

test('a front may import its own files, the Session API and the wire; its tests a host as well', () => {
  const text = "import './b.ts'\nimport '@baton/core'\nimport '@baton/protocol'"
  const declared = new Set(['@baton/core', '@baton/protocol'])
  expect(violations(parseSource('packages/server/src/websocket/a.ts', text), declared)).toEqual([])
  const inTest = "import './b.ts'\nimport '@baton/host'"
  expect(violations(parseSource('packages/server/src/websocket/a.test.ts', inTest), declared)).toEqual([])
})

test('the table of packages in AGENTS.md says what the layers say', () => {
  const page = agentsPage()
  expect(readFileSync(join(REPOSITORY, 'AGENTS.md'), 'utf8')).toBe(page)
  expect(page).toMatch(/^\| `packages\/client` .* \| core, protocol \|$/m)
})

test('a table that lacks a package is refused', () => {
  expect(() => writeLayers('| `packages/core` | words | nothing |')).toThrow(
    /lists core, not cli, client, console, core/,
  )
})

test('no files of a package import each other in a circle, not even as types', () => {
  const files = sourcePaths().filter((path) => path.startsWith('packages/') && !isTest(path))
  const imports = new Map(
    files.map((path) => [
      path,
      readSource(path)
        .imports.filter(({ module }) => module.startsWith('.'))
        .map(({ module }) => posix.join(posix.dirname(path), module)),
    ]),
  )
  const circles: string[] = []
  const done = new Set<string>()
  const follow = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' > '))
    if (done.has(path) || way.includes(path)) return
    for (const next of imports.get(path) ?? []) follow(next, [...way, path])
    done.add(path)
  }
  for (const path of files) follow(path, [])
  expect(circles).toEqual([])
})
