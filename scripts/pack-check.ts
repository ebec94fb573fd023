// Proves that the published packages work outside this repository: builds, packs every package, sets up an empty folder
// as described in the README, installs the packs there, compiles against their types, imports every entry under plain
// Node, and lets an agent answer. `npm run pack:check`; it uses the registry for the packages' dependencies.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { buildPackages } from './build.ts'
import { declareResults } from './declare-results.ts'
import type { Package } from './packages.ts'
import { packagesInOrder } from './packages.ts'
import { REPOSITORY } from './source-files.ts'

/** Typical configurations of user projects. */
const RESOLUTIONS = ['--module nodenext', '--module esnext --moduleResolution bundler'] as const
/** Arguments for programs that need them: any file will do as a picture. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = { 'library/picture.ts': ['package.json'] }
const EXAMPLES = ['library', 'guide', 'migrate'] as const
/** Programs that call a provider: they are only compiled. */
const WITH_KEY = /^(migrate\/.*|guide\/first\.ts)$/
/** Imports of large third-party libraries, and servers that npm would fetch: such programs run in the deep tests. */
const OTHERS = /from '(ai|effect4?|bash-tool|@effect\/|@ai-sdk\/|@exalabs\/|effect4\/)|'npx'/

/** Maximum bytes of a session's client in a page, minified. The source has 21 KiB; packed files may repeat a little. */
const PAGE_BYTES_MAX = 22.25 * 1024

const place = mkdtempSync(join(tmpdir(), 'baton-packs-'))
try {
  await checkPacks(place)
} finally {
  rmSync(place, { recursive: true, force: true })
}

async function checkPacks(folder: string): Promise<void> {
  const isComplete = new Set((await buildPackages()).map(({ name }) => name))
  // A bin without its source cannot be installed, and neither can a package whose dependency does not exist yet.
  const packed = packagesInOrder().filter(
    ({ name, needs }) => isComplete.has(name) && needs.every((other) => isComplete.has(other)),
  )
  const packs = join(folder, 'packs')
  const consumer = join(folder, 'consumer')
  mkdirSync(packs)
  mkdirSync(consumer)
  for (const one of packed) run('npm', ['pack', '--silent', '--pack-destination', packs], one.path)
  const tarballs = readdirSync(packs).map((name) => join(packs, name))
  for (const [command, ...args] of listFirstCommands(readFileSync(join(REPOSITORY, 'README.md'), 'utf8')))
    run(command, args, consumer)
  // Subpaths that need an optional peer are imported too.
  const peers = ['@opentelemetry/api@1.9', 'react@19.2']
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...tarballs, ...peers], consumer)
  checkLicenses(packed, consumer)
  const pages = checkPages(join(consumer, 'node_modules/@baton/host/docs'))
  const entries = packed.flatMap(entryNames)
  const exported = importEntries(entries, consumer)
  compileAgainst(entries, consumer)
  declareAgainst(consumer)
  const bins = packed.flatMap(({ bins: own }) => Object.keys(own))
  for (const bin of bins) run(join(consumer, 'node_modules/.bin', bin), ['--help'], consumer)
  answerFromPacks(consumer)
  const bundleBytes = bundleFromPacks(consumer)
  const pageBytes = await bundlePage(consumer)
  const modules = countModules(consumer)
  beginFromPacks(folder, { baton: join(consumer, 'node_modules/.bin/baton'), tarballs })
  const programs = compileExamples(consumer)
  console.log(
    `packs: ${tarballs.length} installed, each with its licence, ${pages} pages, ${entries.length} entries imported with ${exported} exports and compiled, ${bins.length} bins run, an agent answered from a program and from the command, Temporal's workflows bundled into ${bundleBytes} bytes, a page's client into ${pageBytes}, ${programs} examples compiled, and run but for those that ask a provider, --version loads ${modules} modules, "baton init" began a package whose test passes`,
  )
}

/** The README's commands that precede the package installation, as a newcomer types them. @throws Error */
function listFirstCommands(readme: string): readonly (readonly [string, ...string[]])[] {
  const line = /^(npm init -y.*)\nnpm install @baton\/host/m.exec(readme)?.[1]
  if (line === undefined) throw new Error('the README does not say how a package begins: npm init -y, then npm install')
  return line.split(' && ').map((command) => command.split(' ') as [string, ...string[]]) // a line has a word
}

/** Every pack must include its licence. @throws Error */
function checkLicenses(packed: readonly Package[], consumer: string): void {
  const ours = readFileSync(join(REPOSITORY, 'LICENSE'), 'utf8')
  for (const { name } of packed) {
    const file = join(consumer, 'node_modules', name, 'LICENSE')
    if (!existsSync(file) || readFileSync(file, 'utf8') !== ours) throw new Error(`the pack of ${name} has no LICENSE`)
  }
}

/** Returns how many pages the pack has: its list names all of them, and their links stay within them. @throws Error */
function checkPages(folder: string): number {
  const files = new Set(readdirSync(folder))
  for (const file of files) {
    if (file.endsWith('.png')) continue
    const links = readFileSync(join(folder, file), 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)
    for (const [, target = ''] of links)
      if (!files.has(target)) throw new Error(`${file} of the packed pages links to ${target}, which is not there`)
  }
  const listed = readFileSync(join(folder, 'llms.txt'), 'utf8').match(/^- \[/gm) ?? []
  if (listed.length === 0) throw new Error('the packed pages have no list')
  return listed.length
}

function entryNames({ name, entries }: Package): readonly string[] {
  return entries.map(({ subpath }) => name + subpath.slice(1))
}

/** Returns how many names the entries export at run time. */
function importEntries(entries: readonly string[], consumer: string): number {
  const program = `let count = 0
for (const entry of ${JSON.stringify(entries)}) {
  const names = Object.keys(await import(entry))
  if (import.meta.resolve(entry).includes('/src/')) throw new Error(entry + ' is source, not built')
  count += names.length
}
console.log(count)
`
  writeFileSync(join(consumer, 'import-all.js'), program)
  return Number(run(process.execPath, ['import-all.js'], consumer))
}

/** Runs the README's program unchanged, and the command on the program's folder. */
function answerFromPacks(consumer: string): void {
  copyFileSync(join(REPOSITORY, 'examples/library/answer.ts'), join(consumer, 'answer.ts'))
  const answered = run(process.execPath, ['answer.ts'], consumer)
  if (!answered.includes('717710')) throw new Error(`the example answered: ${answered}`)
  const found = run(
    join(consumer, 'node_modules/.bin/baton'),
    ['chat', '--once', 'which files here mention Oslo?'],
    consumer,
  )
  if (!found.includes('answer.ts')) throw new Error(`the command answered: ${found}`)
}

/** Bundles the workflows of Temporal's worker from the built files. Returns the bundle's size. @throws Error */
function bundleFromPacks(consumer: string): number {
  const program = `import { bundleWorkflows, GOAL_WORKFLOW, SESSION_WORKFLOW } from '@baton/temporal'
const { code } = await bundleWorkflows()
for (const type of [SESSION_WORKFLOW, GOAL_WORKFLOW])
  if (!code.includes(JSON.stringify(type)) && !code.includes("'" + type + "'")) throw new Error('the bundle lacks ' + type)
console.log(code.length)
`
  writeFileSync(join(consumer, 'bundle.js'), program)
  return Number(run(process.execPath, ['bundle.js'], consumer))
}

/** Bundles the client as a page would load it. Returns its bytes. @throws Error if they are more than its own code */
async function bundlePage(consumer: string): Promise<number> {
  const input = join(consumer, 'page.js')
  writeFileSync(input, "export { openSession } from '@baton/client'\n")
  const build = await rolldown({ input, platform: 'browser' })
  const { output } = await build.generate({ format: 'esm', minify: true })
  await build.close()
  const bytes = Buffer.byteLength(output[0].code)
  if (bytes > PAGE_BYTES_MAX) throw new Error(`a page loads ${bytes} bytes for a session: more than ${PAGE_BYTES_MAX}`)
  return bytes
}

/** Returns how many modules "baton --version" loads: it must not wait for libraries. @throws Error */
function countModules(consumer: string): number {
  const counter = `import { registerHooks } from 'node:module'
let count = 0
registerHooks({ load: (url, context, next) => { if (!url.startsWith('node:')) count += 1; return next(url, context) } })
process.on('exit', () => process.stdout.write('modules ' + count))
`
  writeFileSync(join(consumer, 'counter.js'), counter)
  const bin = join(consumer, 'node_modules/@baton/cli/bin/baton.mjs')
  const told = run(process.execPath, ['--import', join(consumer, 'counter.js'), bin, '--version'], consumer)
  const count = Number(/modules (\d+)/.exec(told)?.[1])
  const most = 12
  if (!(count <= most)) throw new Error(`"baton --version" loads ${count} modules: ${told}`)
  return count
}

interface Began {
  readonly baton: string
  readonly tarballs: readonly string[]
}

/**
 * Fills an empty folder with "baton init", then runs its test, its agent, and the command that it names. @throws Error
 */
function beginFromPacks(folder: string, { baton, tarballs }: Began): void {
  const starter = join(folder, 'starter')
  mkdirSync(starter)
  run(baton, ['init'], starter)
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...tarballs], starter)
  run('npm', ['test'], starter)
  run('npx', ['tsc'], starter)
  const said = run('npx', ['baton', 'run', 'agent.ts', 'What is the population of the city "Oslo"?'], starter)
  if (!said.includes('717710')) throw new Error(`the agent of "baton init" answered: ${said}`)
}

/**
 * Compiles the programs that the pages show in both ways, with the libraries that they use, and runs them. Returns how
 * many.
 */
function compileExamples(consumer: string): number {
  const { devDependencies } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  const libraries = ['zod', 'valibot', 'arktype', '@valibot/to-json-schema']
  const wanted = libraries.map((name) => `${name}@${devDependencies[name] ?? 'latest'}`)
  // A development dependency of the host's package, for the traces example.
  wanted.push('@opentelemetry/sdk-trace-base@2')
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...wanted], consumer)
  for (const folder of EXAMPLES)
    cpSync(join(REPOSITORY, 'examples', folder), join(consumer, folder), { recursive: true })
  const programs = EXAMPLES.flatMap((folder) =>
    readdirSync(join(consumer, folder))
      .filter((name) => !/\.test(-kit)?\.ts$/.test(name))
      .map((name) => `${folder}/${name}`)
      .filter((name) => !OTHERS.test(readFileSync(join(consumer, name), 'utf8'))),
  )
  const options =
    '--ignoreConfig --noEmit --allowImportingTsExtensions --strict --exactOptionalPropertyTypes --target es2023 --skipLibCheck'
  const types = [
    '--lib',
    'es2023,esnext.disposable',
    '--typeRoots',
    join(REPOSITORY, 'node_modules/@types'),
    '--types',
    'node',
  ]
  for (const resolution of RESOLUTIONS)
    run(
      join(REPOSITORY, 'node_modules/.bin/tsc'),
      [...options.split(' '), ...resolution.split(' '), ...types, ...programs],
      consumer,
    )
  for (const name of programs)
    if (!WITH_KEY.test(name)) run(process.execPath, [name, ...(ARGUMENTS[name] ?? [])], consumer)
  return programs.length
}

function compileAgainst(entries: readonly string[], consumer: string): void {
  const lines = entries.map(
    (entry, index) =>
      `import type * as entry${index} from '${entry}'\nexport type Entry${index} = keyof typeof entry${index}\n`,
  )
  writeFileSync(join(consumer, 'compile-all.ts'), lines.join(''))
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2023',
    '--lib',
    'es2023,esnext.disposable',
    '--skipLibCheck',
    'compile-all.ts',
  ]
  const types = ['--typeRoots', join(REPOSITORY, 'node_modules/@types'), '--types', 'node']
  run(join(REPOSITORY, 'node_modules/.bin/tsc'), [...options, ...types], consumer)
}

/** Fails if a result of a user's function has no public name, or only an internal one. */
function declareAgainst(consumer: string): void {
  writeFileSync(join(consumer, 'results.ts'), declareResults())
  const options =
    '--ignoreConfig --declaration --emitDeclarationOnly --outDir declared --strict --target es2023 --skipLibCheck'
  const types = ['--lib', 'es2023,dom,esnext.disposable', '--typeRoots', join(REPOSITORY, 'node_modules/@types')]
  for (const resolution of RESOLUTIONS) {
    const words = [...options.split(' '), ...resolution.split(' '), ...types, '--types', 'node', 'results.ts']
    run(join(REPOSITORY, 'node_modules/.bin/tsc'), words, consumer)
    const hidden = readFileSync(join(consumer, 'declared', 'results.d.ts'), 'utf8').match(
      /import\("[^"]*(?:internal|node_modules)[^"]*"\)\.\w+/g,
    )
    if (hidden) throw new Error(`results of users' functions have no public name: ${[...new Set(hidden)].join(', ')}`)
  }
}

function run(command: string, args: readonly string[], cwd: string): string {
  const ran = spawnSync(command, args, { cwd, encoding: 'utf8', shell: process.platform === 'win32' })
  if (ran.status !== 0) throw new Error(`${command} ${args.join(' ')} failed in ${cwd}:\n${ran.stdout}${ran.stderr}`)
  return ran.stdout
}
