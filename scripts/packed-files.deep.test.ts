// Packs every package like npm would, and checks which files a user gets.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { NOT_PACKED } from './packed-files.ts'
import { packagesInOrder } from './packages.ts'

const packages = packagesInOrder()

test.each(packages.map(({ folder, path }) => [folder, path]))('%s names what it leaves out', (_, path) => {
  const { files } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
    readonly files: readonly string[]
  }
  expect(files.filter((name) => name.startsWith('!'))).toEqual(NOT_PACKED.map((glob) => `!${glob}`))
})

test('no pack holds a test, a kit of tests, a situation or a snapshot', async () => {
  const names = packages.flatMap(({ name }) => ['--workspace', name])
  const command = ['pack', '--dry-run', '--json', '--ignore-scripts', ...names]
  const { stdout } = await promisify(execFile)('npm', command, {
    cwd: join(import.meta.dirname, '..'),
    maxBuffer: 2 ** 25,
  })
  const listed = JSON.parse(stdout) as Listed | Readonly<Record<string, Pack>>
  const packs = Array.isArray(listed) ? (listed as Listed) : Object.values(listed)
  expect(packs.map(({ name }) => name).toSorted()).toEqual(packages.map(({ name }) => name).toSorted())
  const paths = packs.flatMap(({ name, files }) => files.map(({ path }) => `${name}/${path}`))
  expect(paths.length).toBeGreaterThan(packages.length * 3)
  expect(
    paths.filter((path) => /\.test[.-]|test-kit|-situations\.|\.snap$|\/test-(?:world|server)\./.test(path)),
  ).toEqual([])
})

type Listed = readonly Pack[]

interface Pack {
  readonly name: string
  readonly files: readonly { readonly path: string }[]
}
