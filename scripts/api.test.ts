// The public names of each package are those of its `api.txt`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describeApi } from './api.ts'
import { packagesInOrder } from './packages.ts'

test.each(packagesInOrder().map((one) => [one.name, one] as const))('%s has the names of its api.txt', (_, one) => {
  // If a change of names is intended: node scripts/api.ts --write
  expect(describeApi(one)).toBe(readFileSync(join(one.path, 'api.txt'), 'utf8'))
})
