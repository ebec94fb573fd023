// The tests that the table of situations of trees and tasks names.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REPOSITORY } from './source-files.ts'

const PAGE = 'docs/decisions/2026-11-30-tree-situations.md'

test('every situation of trees and tasks names tests that exist', () => {
  const rows = readFileSync(join(REPOSITORY, PAGE), 'utf8').match(/^\| \d+ \|.*$/gm) ?? []
  expect(rows).toHaveLength(70)
  const missing = rows.flatMap((row) =>
    [...row.matchAll(/`([^`]+\.ts)`(?:: ([^;|]+))?/g)].flatMap(([, file = '', name = '']) =>
      readFileSync(join(REPOSITORY, file), 'utf8').includes(name.trim()) ? [] : [`${file}: ${name.trim()}`],
    ),
  )
  expect(missing).toEqual([])
})
