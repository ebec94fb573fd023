// The user implied by the address of a PostgreSQL server.
import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { nameUser } from './connections.ts'

const own = userInfo().username

test.each([
  ['postgres://localhost/baton', `postgres://localhost/baton?user=${own}`],
  ['postgres:///baton?host=/run/postgresql', `postgres:///baton?host=%2Frun%2Fpostgresql&user=${own}`],
  ['postgres://ann:secret@localhost/baton', 'postgres://ann:secret@localhost/baton'],
  ['postgres://localhost/baton?user=ann', 'postgres://localhost/baton?user=ann'],
  ['no address', 'no address'],
])('%s without variables is taken as %s', (url, meant) => {
  expect(nameUser(url, {})).toBe(meant)
})

test.each([{ PGUSER: 'ann' }, { USER: 'ann' }])(
  'the variables %o win over the user of the operating system',
  (variables) => {
    expect(nameUser('postgres://localhost/baton', variables)).toBe('postgres://localhost/baton')
  },
)
