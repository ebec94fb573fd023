// The public names of each package are those of its `api.txt`; users' doors have few of them, with one meaning each and in
// one grammar.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeApi } from './api.ts'
import { ADDED_DOORS, ADDED_NAMES_MAX, USER_DOORS, USER_NAMES_MAX } from './doors.ts'
import { packagesInOrder } from './packages.ts'
import { isTest, REPOSITORY, sourcePaths } from './source-files.ts'

interface Door {
  readonly name: string
  readonly source: string
  /** `function createHost` */
  readonly exported: readonly string[]
}

const DOORS: readonly Door[] = packagesInOrder().flatMap((one) => {
  const parts = describeApi(one).trim().split('\n\n')
  return one.entries.map(({ subpath, source }, index) => ({
    name: join(one.name, subpath),
    source: join(one.path, source),
    exported: (parts[index] ?? '')
      .split('\n')
      .slice(1)
      .map((line) => line.trim()),
  }))
})

function listNames(doors: readonly string[]): readonly string[] {
  return [...new Set(DOORS.filter(({ name }) => doors.includes(name)).flatMap(({ exported }) => exported))]
}

test.each(packagesInOrder().map((one) => [one.name, one] as const))('%s has the names of its api.txt', (_, one) => {
  // If a change of names is intended: node scripts/api.ts --write
  expect(describeApi(one)).toBe(readFileSync(join(one.path, 'api.txt'), 'utf8'))
})

test('every door of a list exists', () => {
  const known = new Set(DOORS.map(({ name }) => name))
  expect([...USER_DOORS, ...ADDED_DOORS].filter((name) => !known.has(name))).toEqual([])
})

test('users have few names to learn', () => {
  expect(listNames(USER_DOORS).length).toBeLessThanOrEqual(USER_NAMES_MAX)
  const large = DOORS.filter(({ name, exported }) => ADDED_DOORS.includes(name) && exported.length > ADDED_NAMES_MAX)
  expect(large.map(({ name }) => name)).toEqual([])
})

test('the host has every name of core, so that programs need one import', () => {
  const host = new Set(listNames(['@baton/host']))
  expect(listNames(['@baton/core']).filter((name) => !host.has(name))).toEqual([])
})

test('every public name says in a comment what it is', () => {
  const texts = sourcePaths()
    .filter((path) => path.startsWith('packages/') && !isTest(path))
    .map((path) => readFileSync(join(REPOSITORY, path), 'utf8'))
  const silent = listNames([...USER_DOORS, ...ADDED_DOORS]).filter((exported) => {
    const [kind = '', name = ''] = exported.split(' ')
    const declared = new RegExp(
      `(\\*/\n)?^export (?:declare )?(?:async )?(?:abstract )?(?:${kind}|const)\\*? ${name}\\b`,
      'gm',
    )
    const found = texts.flatMap((text) => [...text.matchAll(declared)])
    return found.length > 0 && found.every(([, comment]) => comment === undefined)
  })
  expect(silent).toEqual([])
})

test('every other door says that it is internal', () => {
  const users = new Set([...USER_DOORS, ...ADDED_DOORS])
  const silent = DOORS.filter(({ name, source }) => {
    if (users.has(name) || name.startsWith('@baton/testing/')) return false
    return !readFileSync(source, 'utf8').slice(0, 400).includes('@internal')
  })
  expect(silent.map(({ name }) => name)).toEqual([])
})

test('no name means two things to users', () => {
  const kinds = new Map<string, Set<string>>()
  for (const line of listNames([...USER_DOORS, ...ADDED_DOORS])) {
    const [kind = '', name = ''] = line.split(' ')
    kinds.set(name, (kinds.get(name) ?? new Set()).add(kind))
  }
  expect([...kinds].filter(([, seen]) => seen.size > 1).map(([name]) => name)).toEqual([])
  const shared = ['ToolSettings', 'ToolsSettings'] // one declaration, which the kits for the AI SDK and Effect both export
  const core = new Set(listNames(['@baton/core']))
  const seen = new Map<string, string>()
  const twice: string[] = []
  for (const { name: door, exported } of DOORS.filter(({ name }) => [...USER_DOORS, ...ADDED_DOORS].includes(name)))
    for (const line of exported) {
      const name = line.split(' ')[1] ?? ''
      if (core.has(line) && (door === '@baton/host' || door === '@baton/core')) continue
      if (seen.has(name) && !shared.includes(name)) twice.push(`${name}: ${seen.get(name)}, ${door}`)
      seen.set(name, door)
    }
  expect(twice).toEqual([])
})

test('functions that users call are named as docs/naming.md says', () => {
  const page = readFileSync(join(REPOSITORY, 'docs', 'naming.md'), 'utf8')
  const table = page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|')[1] ?? '')
  const verbs = [...table.join().matchAll(/`(\w+)X`/g)].map(([, verb = '']) => verb)
  const nouns = [...page.slice(page.indexOf('Definitions that')).matchAll(/`(\w+)`/g)].map(([, noun = '']) => noun)
  const odd = listNames([...USER_DOORS, ...ADDED_DOORS])
    .filter((line) => line.startsWith('function '))
    .map((line) => line.slice('function '.length))
    .filter((name) => !nouns.includes(name) && !verbs.some((verb) => new RegExp(`^${verb}[A-Z]`).test(name)))
    .filter((name) => !name.startsWith('baton.')) // workflows by type
  expect(odd).toEqual([])
})

test('callers give options', () => {
  const inits = DOORS.flatMap(({ name, exported }) => exported.map((line) => `${name} ${line}`)).filter((line) =>
    line.endsWith('Init'),
  )
  expect(inits).toEqual([])
})
