// The packages of the repository for the build and the pack check, in dependency order.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { REPOSITORY } from './source-files.ts'

/** An entry that users import: `.` or `./machine`, with its source and its built file. */
export interface PackageEntry {
  readonly subpath: string
  readonly source: string
  readonly built: string
}

export interface Package {
  /** `core` */
  readonly folder: string
  /** `@baton/core` */
  readonly name: string
  readonly path: string
  readonly entries: readonly PackageEntry[]
  /** Names of the Baton packages that it depends on, including optional ones: it compiles against their types. */
  readonly needs: readonly string[]
  readonly bins: Readonly<Record<string, string>>
}

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, { readonly '@baton/source': string; readonly default: string }>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
}

/** Packages with source, dependencies first. Entries whose source does not exist yet are left out. */
export function packagesInOrder(): readonly Package[] {
  const all = readdirSync(join(REPOSITORY, 'packages'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(REPOSITORY, 'packages', entry.name, 'package.json')))
    .map((entry) => readPackage(entry.name))
    .filter(({ entries, bins }) => entries.length > 0 || Object.keys(bins).length > 0)
  const sorted: Package[] = []
  const place = (one: Package): void => {
    if (sorted.includes(one)) return
    for (const other of all) if (one.needs.includes(other.name)) place(other)
    sorted.push(one)
  }
  for (const one of all) place(one)
  return sorted
}

function readPackage(folder: string): Package {
  const path = join(REPOSITORY, 'packages', folder)
  const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest
  const entries = Object.entries(manifest.exports ?? {}).map(([subpath, conditions]) => ({
    subpath,
    source: conditions['@baton/source'],
    built: conditions.default,
  }))
  return {
    folder,
    name: manifest.name,
    path,
    entries: entries.filter(({ source }) => existsSync(join(path, source))),
    needs: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).filter((name) =>
      name.startsWith('@baton/'),
    ),
    bins: Object.fromEntries(Object.entries(manifest.bin ?? {}).filter(([, file]) => existsSync(join(path, file)))),
  }
}
