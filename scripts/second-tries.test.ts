// Every place that retries is listed, with its bound and the test that plays it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listGone, listNew } from './second-tries.ts'
import { SECOND_TRIES } from './second-try-list.ts'
import { REPOSITORY } from './source-files.ts'

test('a place that tries again is in the list, and no row is of a place that has gone', () => {
  expect([listNew(), listGone()]).toEqual([[], []])
})

const PLAYED = SECOND_TRIES.map(({ within, test: played }) => ({ within, ...played }))

test.each(PLAYED)('$within: $file has its test', ({ file, name }) => {
  const path = join(REPOSITORY, file)
  expect([file, existsSync(path) && readFileSync(path, 'utf8').includes(name)]).toEqual([file, true])
})
