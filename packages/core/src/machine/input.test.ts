// Speakers of inputs: every input type has exactly one speaker.
import { expect, test } from 'vitest'
import type { InputType } from './input.ts'
import { CLIENT_REPORTS, HOST_REPORTS, USER_COMMANDS } from './input.ts'
import { SESSION_TABLE } from './table.ts'

const TYPES = Object.keys(SESSION_TABLE) as InputType[] // the table's own keys

test('every kind of input is said by people, by clients or by the host, and by one of them alone', () => {
  const speakers = TYPES.map((type) => [USER_COMMANDS, CLIENT_REPORTS, HOST_REPORTS].filter((set) => set.has(type)))
  expect(speakers.map((sets) => sets.length)).toEqual(TYPES.map(() => 1))
  expect(USER_COMMANDS.size + CLIENT_REPORTS.size + HOST_REPORTS.size).toBe(TYPES.length)
})

test('what only the host knows is no word of people or clients', () => {
  for (const type of ['tool-finished', 'model-finished', 'host-restarted', 'timer-fired', 'agent-changed'] as const)
    expect([USER_COMMANDS.has(type), CLIENT_REPORTS.has(type), HOST_REPORTS.has(type)]).toEqual([false, false, true])
})
