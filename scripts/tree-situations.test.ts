// Tests in the table of situations of trees and tasks, and the engines over which they run.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REPOSITORY } from './source-files.ts'

const PAGE = 'docs/decisions/2026-11-30-tree-situations.md'
const ROWS = readFileSync(join(REPOSITORY, PAGE), 'utf8').match(/^\| \d+ \|.*$/gm) ?? []

const ENGINES = ['memory', 'SQLite', 'PostgreSQL', 'Temporal']
/** Engines by the beginning of a test's path, as the page says. */
const PLAYED: readonly (readonly [string, readonly string[]])[] = [
  ['packages/core/src/machine/', ENGINES],
  ['packages/testing/src/tree/', ENGINES],
  ['packages/testing/src/host-contract/', ENGINES],
  ['packages/client/src/kill-trees', ['SQLite', 'PostgreSQL']],
  ['packages/testing/src/temporal-chaos/', ['Temporal']],
  ['packages/temporal/', ['Temporal']],
  ['packages/host/src/local/tree-crashes', ['memory', 'SQLite']],
  ['packages/host/src/local/', ['memory']],
]

const readTests = (row: string) => [...row.matchAll(/`([^`]+\.ts)`(?:: ([^;|]+))?/g)]

test('every situation of trees and tasks names tests that exist', () => {
  expect(ROWS).toHaveLength(70)
  const missing = ROWS.flatMap((row) =>
    readTests(row).flatMap(([, file = '', name = '']) =>
      readFileSync(join(REPOSITORY, file), 'utf8').includes(name.trim()) ? [] : [`${file}: ${name.trim()}`],
    ),
  )
  expect(missing).toEqual([])
})

test('every situation is played over each engine, or says why not', () => {
  const silent = ROWS.flatMap((row) => {
    const [, number, , tests = '', reason = ''] = row.split('|')
    const files = readTests(tests).map(([, file = '']) => file)
    const played = new Set(files.flatMap((file) => PLAYED.find(([begin]) => file.startsWith(begin))?.[1] ?? []))
    const left = ENGINES.filter((engine) => !played.has(engine))
    return left.length === 0 || reason.trim() !== '' ? [] : [`${number?.trim()}: ${left.join(', ')}`]
  })
  expect(silent).toEqual([])
})
