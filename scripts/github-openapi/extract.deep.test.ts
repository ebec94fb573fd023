// The description that the fake GitHub checks requests against matches what GitHub publishes.
import { readFileSync } from 'node:fs'
import { leaveOut } from '@baton/testing/left-out'
import { expect, test } from 'vitest'
import { OPERATIONS_FILE, extractOperations } from './extract.ts'

const lack = {
  why: 'it is not installed',
  remedy: 'Run npm ci --prefix scripts/github-openapi --ignore-scripts.',
}
const extracted = extractOperations() ?? leaveOut("GitHub's description of its API", lack, console.warn)

test.skipIf(extracted === undefined)('the operations of the fake GitHub are those that GitHub describes', () => {
  expect(readFileSync(OPERATIONS_FILE, 'utf8')).toBe(extracted)
})
