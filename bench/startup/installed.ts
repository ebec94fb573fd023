// The size of an installation: the packs of the host in an empty folder, next to the smallest set of other libraries
// that answers with one provider.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packagesInOrder } from '../../scripts/packages.ts'

const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
}
const pinned = (name: string): string => `${name}@${dependencies[name]}`

/** Megabytes of `node_modules`. @throws Error if npm cannot install one */
export function measureInstalled(): ReadonlyMap<string, readonly number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-installed-'))
  try {
    const sets: Readonly<Record<string, readonly string[]>> = {
      'ai, Anthropic': ['ai', '@ai-sdk/anthropic', 'zod'].map(pinned),
      'pi-agent-core, pi-ai': ['@earendil-works/pi-agent-core', '@earendil-works/pi-ai'].map(pinned),
      '@baton/host': packHost(folder),
    }
    return new Map(
      Object.entries(sets).map(([name, wanted], index) => [name, [install(join(folder, String(index)), wanted)]]),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The packs of the host and of what it depends on. */
function packHost(folder: string): readonly string[] {
  const all = packagesInOrder()
  const needed = new Set(['@baton/host'])
  for (const { name, needs } of all.toReversed()) if (needed.has(name)) for (const other of needs) needed.add(other)
  for (const { name, path } of all)
    if (needed.has(name)) execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: path })
  return readdirSync(folder)
    .filter((name) => name.endsWith('.tgz'))
    .map((name) => join(folder, name))
}

function install(folder: string, wanted: readonly string[]): number {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  execFileSync('npm', ['install', ...quiet, ...wanted], { cwd: folder })
  return countBytes(join(folder, 'node_modules')) / 1e6
}

function countBytes(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
