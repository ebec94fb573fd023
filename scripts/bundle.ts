// Bundles the built files of a package: one build for all its entries, whose shared code is in common chunks, so that a
// module and its state exist once. Fewer files load faster: a start read four hundred of them. Types stay as tsc wrote
// them.
import { cpSync, existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import type { Plugin } from 'rolldown'
import { rolldown } from 'rolldown'
import type { Package } from './packages.ts'

/** Files that a path starts, in addition to the entries of the manifest: threads, and the command. */
const STARTED: Readonly<Record<string, readonly string[]>> = {
  cli: ['main.js'],
  host: ['stores/sqlite/worker.js', 'stores/sqlite/checkpointer.js'],
  kits: ['shared/pages/html-worker.js'],
}
/**
 * Packages that stay as tsc wrote them. Programs of `testing` find each other by path. A page that loads the client
 * needs two decoders of `protocol`, and its bundler drops unused files, but not unused parts of one file.
 */
const WHOLE: ReadonlySet<string> = new Set(['protocol', 'testing'])

/**
 * Replaces the JavaScript in `dist`. A module that asks where it is still gets the path where tsc wrote it, because files
 * that it starts are there. @throws Error if an import cannot be resolved, or if a file that a path starts is missing
 */
export async function bundlePackage({ path, folder, entries }: Package): Promise<void> {
  if (WHOLE.has(folder)) return
  const dist = join(path, 'dist')
  const bundled = join(path, 'dist-bundled') // as deep as dist, because source maps have relative paths
  const nameOf = (file: string): string => relative(dist, file).replaceAll('\\', '/')
  const started = (STARTED[folder] ?? []).map((name) => join(dist, name))
  const inputs = [...entries.map(({ built }) => join(path, built)), ...started]
  for (const file of started)
    if (!existsSync(file)) throw new Error(`${file}: STARTED names a file that does not exist`)
  const scripts = listScripts(dist)
  checkStarted(scripts, new Set(inputs))
  rmSync(bundled, { recursive: true, force: true }) // of a build that crashed
  const build = await rolldown({
    input: Object.fromEntries(inputs.map((file) => [nameOf(file).replace(/\.js$/, ''), file])),
    external: (id) => !id.startsWith('.') && !id.startsWith(dist),
    platform: 'neutral',
    plugins: [createPlaces(nameOf)],
  })
  await build.write({
    dir: bundled,
    format: 'es',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  await build.close()
  for (const file of listScripts(bundled))
    writeFileSync(file, placeIn(relative(bundled, file), readFileSync(file, 'utf8')))
  for (const file of scripts) for (const one of [file, `${file}.map`]) rmSync(one, { force: true })
  cpSync(bundled, dist, { recursive: true })
  rmSync(bundled, { recursive: true })
}

function listScripts(dist: string): readonly string[] {
  return readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .map((name) => join(dist, name))
}

/**
 * Compares the files that modules start by path with the kept ones. A path with parts to fill in needs one of those that
 * it may mean. @throws Error if a file is not kept
 */
function checkStarted(scripts: readonly string[], kept: ReadonlySet<string>): void {
  for (const script of scripts)
    for (const path of findPaths(readFileSync(script, 'utf8'))) {
      const named = scripts.filter((file) => fits(join(dirname(script), path), file))
      const isLost = named.length > 0 ? !named.some((file) => kept.has(file)) : path.endsWith('.js')
      if (isLost) throw new Error(`${script} starts ${path}, which STARTED lacks`)
    }
}

/** Paths of `new URL('./x', import.meta.url)`; expressions in a template become `*`. */
function findPaths(code: string): readonly string[] {
  const found = code.matchAll(/new URL\((?:'([^']+)'|"([^"]+)"|`((?:\$\{[^`]*?\}|[^`])+)`), import\.meta\.url\)/g)
  return [...found].flatMap(([, single, double, template]) => {
    const path = single ?? double ?? template?.replaceAll(/\$\{[^}]*\}/g, '*') ?? ''
    return path.startsWith('.') ? [path] : []
  })
}

/** Whether a file is one that a path with `*` for parts of a name may mean. */
function fits(path: string, file: string): boolean {
  const [first = '', ...rest] = path.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${[first, ...rest].join('[^/\\\\]*')}$`).test(file)
}

/** Writes the places that modules ask for, relative to the file where their code ended up. */
function placeIn(fileName: string, code: string): string {
  return code.replaceAll(/"place:([^"]+)"/g, (_, name: string) => {
    const path = posix.relative(posix.dirname(fileName.replaceAll('\\', '/')), name)
    return JSON.stringify(path.startsWith('.') ? path : `./${path}`)
  })
}

/**
 * An expression for the URL where tsc wrote a file. It avoids the form `new URL('./x', import.meta.url)`: app bundlers
 * resolve that form, and the file no longer exists.
 */
function writePlace(name: string): string {
  return `new URL(import.meta.url.replace(/[^/]*$/, "place:${name}")).href`
}

/** Passes tsc's maps on, so that those of the bundles lead to the source, and marks the modules that ask for their place. */
function createPlaces(nameOf: (file: string) => string): Plugin {
  return {
    name: 'places',
    load: (id) => {
      const code = readFileSync(id, 'utf8')
        .replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
        .replaceAll(/\bimport\.meta\.url\b/g, () => writePlace(nameOf(id)))
      if (/\bimport\.meta\.(dirname|filename)\b/.test(code)) throw new Error(`${id}: ask import.meta.url for the place`)
      return existsSync(`${id}.map`) ? { code, map: readFileSync(`${id}.map`, 'utf8') } : { code }
    },
  }
}
