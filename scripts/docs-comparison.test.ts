// Baton's programs do not have more statements than the others, except where the page explains why.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LIBRARIES, TASKS } from '../bench/programs/tasks.ts'
import { countPrograms } from './docs-comparison.ts'
import { REPOSITORY } from './source-files.ts'

test('ten programs are compared, each in all libraries', () => {
  expect(TASKS).toHaveLength(10)
  const missing = TASKS.flatMap(({ name }) =>
    LIBRARIES.map((library) => join(REPOSITORY, 'bench/programs', name, `${library}.ts`)),
  ).filter((path) => !existsSync(path))
  expect(missing).toEqual([])
})

test('none of them is longer with Baton', () => {
  const longer = countPrograms().filter(({ statements: { baton, 'ai-sdk': sdk, pi } }) => baton > sdk || baton > pi)
  expect(longer.map(({ task }) => task.name)).toEqual([])
})
