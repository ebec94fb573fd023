// Builds docs/ and the API reference into a static site: `npm run docs:site`. It requires `npm install --no-save
// --prefix site` once, and no network afterwards. Pages are copied first, because the site must not link to files of
// the repository; some pages are generated during the copy.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { createLlmsFull, createLlmsIndex, leaveRepository } from './docs-pages.ts'
import { packagesInOrder } from './packages.ts'
import { REPOSITORY } from './source-files.ts'

const SITE = join(REPOSITORY, 'site')
const PAGES = join(SITE, 'pages')
const ENTRIES = join(SITE, 'entries')
/** Entries only for contributors to Baton. */
const INTERNAL = /^@baton\/(core\/machine|testing\/|runtime$|cli$)/

if (!existsSync(join(SITE, 'node_modules'))) {
  console.error('the site needs its tools: npm install --no-save --prefix site --ignore-scripts')
  process.exit(1)
}
rmSync(PAGES, { recursive: true, force: true })
copyPages()
writeEntries()
run('tsc', ['-p', 'tsconfig.json'])
run('typedoc', [])
rmSync(ENTRIES, { recursive: true })
run('vitepress', ['build', '.'])
const dist = join(SITE, 'dist')
writeFileSync(join(dist, 'llms.txt'), createLlmsIndex())
writeFileSync(join(dist, 'llms-full.txt'), createLlmsFull())
// The addresses in llms.txt: each page as Markdown next to its HTML.
for (const name of readdirSync(PAGES)) if (name.endsWith('.md')) cpSync(join(PAGES, name), join(dist, name))
console.log(`site: ${readdirSync(dist).filter((name) => name.endsWith('.html')).length} pages in ${dist}`)

function copyPages(): void {
  for (const path of readdirSync(join(REPOSITORY, 'docs'), { recursive: true, encoding: 'utf8' })) {
    const from = join(REPOSITORY, 'docs', path)
    const to = join(PAGES, path)
    mkdirSync(dirname(to), { recursive: true })
    if (path.endsWith('.md')) writeFileSync(to, leaveRepository(readFileSync(from, 'utf8')))
    else if (/\.\w+$/.test(path)) cpSync(from, to)
  }
}

/** A module for each entry that users import, at the path of its name, which TypeDoc uses as its title. */
function writeEntries(): void {
  rmSync(ENTRIES, { recursive: true, force: true })
  for (const { name, path, entries } of packagesInOrder())
    for (const { subpath, source } of entries) {
      const entry = name + subpath.slice(1)
      if (INTERNAL.test(entry)) continue
      const module = join(ENTRIES, `${entry}.ts`)
      mkdirSync(dirname(module), { recursive: true })
      const target = relative(dirname(module), join(path, source))
      writeFileSync(module, `export * from '${target.replaceAll('\\', '/')}'\n`)
    }
}

function run(command: string, args: readonly string[]): void {
  const bin = join(SITE, 'node_modules/.bin', command)
  const ran = spawnSync(bin, args, { cwd: SITE, encoding: 'utf8', shell: process.platform === 'win32' })
  if (ran.status !== 0) throw new Error(`${command} failed:\n${ran.stdout}${ran.stderr}`)
}
