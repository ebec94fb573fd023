// A task instead of a result, as a 2026-07-28 server may answer.
import type { CallToolResult } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { carryTask, readCarriedTask } from './tasks.ts'

function carry(task: object): CallToolResult {
  const message = { result: { resultType: 'task', ...task } }
  carryTask(message)
  return message.result as unknown as CallToolResult // the SDK reads it as a result
}

test('a task passes through the SDK, and a result without one has none', () => {
  expect(readCarriedTask(carry({ taskId: 't', status: 'working' }))).toMatchObject({ taskId: 't', status: 'working' })
  expect(readCarriedTask({ content: [] })).toBeUndefined()
})

test.each([
  {},
  { taskId: '', status: 'working' },
  { taskId: 't', status: 1 },
  { taskId: 't', status: 'working', pollIntervalMs: 'x' },
])('a task that cannot be followed is no result: %o', (task) => {
  expect(() => readCarriedTask(carry(task))).toThrow(/answered with an invalid task/)
})
