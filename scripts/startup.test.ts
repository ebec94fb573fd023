// Libraries that a start loads at once. Everything else waits until a program needs it, so that an import of the host
// and a start of the command stay as cheap as docs/performance.md says.
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { REPOSITORY, readSource } from './source-files.ts'

/** The source of a package's entry. */
function findEntry(module: string): string {
  const [scope, name = '', ...rest] = module.split('/')
  const home = `packages/${name}`
  const manifest = JSON.parse(readFileSync(join(REPOSITORY, home, 'package.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, { readonly '@baton/source': string }>>
  }
  const entry = manifest.exports[rest.length === 0 ? '.' : `./${rest.join('/')}`]
  if (!entry) throw new Error(`${scope}/${name} has no entry "${module}"`)
  return posix.join(home, entry['@baton/source'])
}

/** Libraries reached from a file by imports that are neither of types nor dynamic, each with the file that imports it. */
function findLibraries(from: string): ReadonlyMap<string, string> {
  const libraries = new Map<string, string>()
  const seen = new Set([from])
  for (const path of seen)
    for (const { module, isTypeOnly, isDynamic } of readSource(path).imports) {
      if (isTypeOnly || isDynamic || module.startsWith('node:')) continue
      if (module.startsWith('.')) seen.add(posix.join(posix.dirname(path), module))
      else if (module.startsWith('@baton/')) seen.add(findEntry(module))
      else libraries.set(module, path)
    }
  return libraries
}

/** Small libraries of the model adapters: signatures for AWS, and server-sent events. */
const ADAPTERS = ['@noble/hashes/sha2.js', 'aws4fetch', 'eventsource-parser']

test.each([
  ['an import of the host', 'packages/host/src/index.ts', ADAPTERS],
  ['an import of the handler for chat pages', 'packages/server/src/http/index.ts', []],
  ['an import of the WebSocket front', 'packages/server/src/websocket/index.ts', ['ws']],
  ['a start of baton run', 'packages/cli/src/commands/run-command.ts', [...ADAPTERS, 'env-paths', 'string-width']],
  ['a start of baton serve', 'packages/cli/src/commands/serve.ts', [...ADAPTERS, 'env-paths', 'ws']],
])('%s', (_start, from, libraries) => {
  expect([...findLibraries(from).keys()].toSorted()).toEqual(libraries.toSorted())
})
