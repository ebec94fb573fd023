// Errors for an operator when PostgreSQL cannot be used.
import { expect, test } from 'vitest'
import { toStoreError } from './postgres-errors.ts'

test.each([
  ['ECONNREFUSED', 'Start PostgreSQL, or correct the host and port in its address.'],
  ['ENOTFOUND', 'Start PostgreSQL, or correct the host and port in its address.'],
  ['3D000', 'Create the database, or name another one.'],
])('%s says what to do', (code, hint) => {
  const cause = Object.assign(new Error('it went wrong'), { code })
  const { message, hint: told } = toStoreError(cause)
  expect([message, told]).toEqual([`the PostgreSQL store failed: it went wrong (${code})`, hint])
})
