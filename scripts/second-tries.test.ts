// Whatever tries again stands in one list, with its bound and the test that plays it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listGone, listNew } from './second-tries.ts'
import { SECOND_TRIES } from './second-try-list.ts'
import { REPOSITORY } from './source-files.ts'

/** May only shrink. */
const UNTESTED = ['#insist']

test('a place that tries again is in the list, and no row is of a place that has gone', () => {
  expect([listNew(), listGone()]).toEqual([[], []])
})

test.each(SECOND_TRIES)('$file, $within: its test is there', ({ within, test: played }) => {
  if (!played) {
    expect(UNTESTED).toContain(within)
    return
  }
  const path = join(REPOSITORY, played.file)
  expect([played.file, existsSync(path) && readFileSync(path, 'utf8').includes(played.name)]).toEqual([
    played.file,
    true,
  ])
})
