// Builds every package into its dist/: `npm run build`. Packages import each other through dist, as they do for users,
// so they are built in dependency order. tsc checks and writes the types, rolldown bundles. Packages without source are
// skipped.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePage } from '../packages/console/build-page.ts'
import { bundlePackage } from './bundle.ts'
import { writePackedPages } from './docs-pages.ts'
import { NOT_PACKED } from './packed-files.ts'
import type { Package } from './packages.ts'
import { packagesInOrder } from './packages.ts'
import { REPOSITORY } from './source-files.ts'

/** Packages that must compile without Node's types. */
const WITHOUT_NODE: ReadonlySet<string> = new Set(['core', 'protocol'])
const CONFIG = 'tsconfig.build.json'
/** The package that contains the documentation pages: every program that uses Baton installs it. */
const WITH_PAGES = 'host'
/** The package whose server has a page for browsers. */
const WITH_BROWSER_PAGE = 'console'

/** @throws Error with the compiler's output when a package does not compile, or when an entry is missing afterwards */
export async function buildPackages(): Promise<readonly Package[]> {
  const built = packagesInOrder().filter(({ entries }) => entries.length > 0)
  for (const one of built) await buildPackage(one)
  return built
}

async function buildPackage(one: Package): Promise<void> {
  const config = join(one.path, CONFIG)
  // A pack contains only files from its own folder.
  copyFileSync(join(REPOSITORY, 'LICENSE'), join(one.path, 'LICENSE'))
  if (one.folder === WITH_PAGES) writePackedPages(join(one.path, 'docs'))
  rmSync(join(one.path, 'dist'), { recursive: true, force: true })
  // Written only for the duration of the build: the configurations of the packages differ only in two words.
  writeFileSync(config, JSON.stringify(readConfig(one)))
  try {
    const compiler = join(REPOSITORY, 'node_modules/.bin/tsc')
    const ran = spawnSync(compiler, ['-p', config], { encoding: 'utf8', shell: process.platform === 'win32' })
    if (ran.status !== 0) throw new Error(`${one.name} does not compile:\n${ran.stdout}${ran.stderr}`)
  } finally {
    rmSync(config)
  }
  await bundlePackage(one)
  if (one.folder === WITH_BROWSER_PAGE) await writePage(join(one.path, 'dist/page'))
  for (const { subpath, built } of one.entries)
    if (!existsSync(join(one.path, built)))
      throw new Error(`${one.name}: the entry "${subpath}" should be at ${built}, but is missing`)
}

function readConfig(one: Package): object {
  const hasNode = !WITHOUT_NODE.has(one.folder)
  return {
    extends: '../../tsconfig.base.json',
    compilerOptions: {
      rootDir: 'src',
      outDir: 'dist',
      declaration: true,
      sourceMap: true,
      declarationMap: true,
      noEmitOnError: true,
      lib: hasNode ? ['es2024', 'esnext.disposable'] : ['es2023'],
      types: hasNode ? ['node'] : [],
    },
    include: ['src/**/*.ts'],
    exclude: NOT_PACKED,
  }
}

if (process.argv[1] === import.meta.filename) {
  const built = await buildPackages()
  const entries = built.flatMap((one) => one.entries)
  console.log(
    `build: ${built.length} packages with ${entries.length} entries: ${built.map(({ folder }) => folder).join(', ')}`,
  )
}
