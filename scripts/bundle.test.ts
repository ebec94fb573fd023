// Bundles of a package: entries share what they import, and files that are found by their path stay there.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundlePackage } from './bundle.ts'

const BUILT: Readonly<Record<string, string>> = {
  'a.js':
    "import { Kept } from './shared/kept.js'\nexport { place } from './deep/placed.js'\nexport const made = new Kept()\n",
  'b.js': "import { basename } from 'node:path'\nimport { Kept } from './shared/kept.js'\nexport { Kept, basename }\n",
  'shared/kept.js': 'export class Kept {}\n//# sourceMappingURL=kept.js.map\n',
  'shared/kept.js.map': JSON.stringify({
    version: 3,
    sources: ['../../src/shared/kept.ts'],
    names: [],
    mappings: 'AAAA',
  }),
  'deep/placed.js': 'export const place = import.meta.url\n',
}

const path = mkdtempSync(join(tmpdir(), 'baton-bundle-'))
const dist = join(path, 'dist')

beforeAll(async () => {
  for (const [name, code] of Object.entries(BUILT)) {
    mkdirSync(dirname(join(dist, name)), { recursive: true })
    writeFileSync(join(dist, name), code)
  }
  writeFileSync(join(path, 'package.json'), '{ "type": "module" }')
  mkdirSync(join(path, 'dist-bundled'))
  writeFileSync(join(path, 'dist-bundled/leftover.js'), 'export {}\n')
  const entries = ['a', 'b'].map((name) => ({
    subpath: `./${name}`,
    source: `src/${name}.ts`,
    built: `dist/${name}.js`,
  }))
  await bundlePackage({ path, folder: 'tried', name: 'tried', entries, needs: [], bins: {} })
})
afterAll(() => rmSync(path, { recursive: true, force: true }))

interface Built {
  readonly made: object
  readonly place: string
  readonly Kept: new () => object
}

/** Imports by Node itself. */
async function load(name: string): Promise<Built> {
  return (await import(/* @vite-ignore */ pathToFileURL(join(dist, name)).href)) as Built // as written above
}

test('two entries have one copy of a class that both import', async () => {
  const [{ made }, { Kept }] = await Promise.all([load('a.js'), load('b.js')])
  expect(made).toBeInstanceOf(Kept)
  expect(existsSync(join(dist, 'shared/kept.js'))).toBe(false)
})

test('a module that asks where it is stays where it was', async () => {
  const { place } = await load('a.js')
  expect(place).toMatch(/\/dist\/deep\/placed\.js$/)
  // Next.js and other bundlers fail where this form names a file that does not exist.
  expect(readFileSync(join(dist, 'a.js'), 'utf8')).not.toMatch(/new URL\("[^"]+", import\.meta\.url\)/)
})

test('an entry exports its own names alone, and maps lead to the source', async () => {
  expect(Object.keys(await load('b.js')).toSorted()).toEqual(['Kept', 'basename'])
  const chunk = /from "\.\/(chunks\/[^"]+)"/.exec(readFileSync(join(dist, 'b.js'), 'utf8'))?.[1] ?? 'no chunk'
  const { sources } = JSON.parse(readFileSync(join(dist, `${chunk}.map`), 'utf8')) as { readonly sources: string[] }
  expect(sources).toEqual(['../../src/shared/kept.ts'])
})

test('files of a build that crashed do not come into the next one', () => {
  expect(existsSync(join(dist, 'leftover.js'))).toBe(false)
})

test.each([
  ["new URL('./thread.js', import.meta.url)"],
  ['new URL("./thread.js", import.meta.url)'],
  ['new URL(`./th${name}.js`, import.meta.url)'],
  ['new URL(`./thread${extname(import.meta.url)}`, import.meta.url)'],
])('a build that would lose a file started by %s fails', async (starts) => {
  const lost = mkdtempSync(join(tmpdir(), 'baton-bundle-'))
  try {
    mkdirSync(join(lost, 'dist'))
    writeFileSync(join(lost, 'dist/a.js'), `export const started = () => ${starts}\n`)
    writeFileSync(join(lost, 'dist/thread.js'), 'export {}\n')
    const entries = [{ subpath: '.', source: 'src/a.ts', built: 'dist/a.js' }]
    const built = bundlePackage({ path: lost, folder: 'tried', name: 'tried', entries, needs: [], bins: {} })
    await expect(built).rejects.toThrow(/a\.js starts \.\/th.*, which STARTED lacks/)
    expect(existsSync(join(lost, 'dist/thread.js'))).toBe(true)
  } finally {
    rmSync(lost, { recursive: true })
  }
})

test('a file that is named as started and does not exist fails the build', async () => {
  const entries = [{ subpath: './a', source: 'src/a.ts', built: 'dist/a.js' }]
  const built = bundlePackage({ path, folder: 'kits', name: 'kits', entries, needs: [], bins: {} })
  await expect(built).rejects.toThrow(/html-worker\.js: STARTED names a file that does not exist/)
})
