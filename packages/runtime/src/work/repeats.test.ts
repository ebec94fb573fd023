// Calls that a model repeats: what counts as the same call, and what ends a streak.
import type { Message, Tool } from '@baton/core'
import { expect, test } from 'vitest'
import { countRepeats, denyRepeat, describeRepeats } from './repeats.ts'

let serial = 0

function call(given: string, result = 'same', name = 'act'): readonly Message[] {
  const callId = `c${(serial += 1)}`
  const isError = result.startsWith('Error: ')
  return [
    { role: 'assistant', parts: [{ type: 'call', callId, name, arguments: given }] },
    { role: 'tool', parts: [{ type: 'result', callId, name, isError, content: [{ type: 'text', text: result }] }] },
  ]
}

const asked: Message = { role: 'user', parts: [{ type: 'text', text: 'go' }] }
const count = (...messages: readonly (readonly Message[])[]) => countRepeats([asked, ...messages.flat()], [])

test.each<[string, readonly (readonly Message[])[], number]>([
  ['the same arguments in another order', [call('{"a":1,"b":2}'), call('{"b":2,"a":1}'), call('{"a": 1, "b": 2}')], 3],
  ['calls of another tool between them', [call('{}'), call('{}', 'x', 'other'), call('{}')], 2],
  ['another result', [call('{}'), call('{}', 'other')], 1],
  ['other arguments', [call('{}'), call('{"a":1}')], 1],
  ['what the user says', [call('{}'), call('{}'), [asked], call('{}')], 1],
])('a row of the same calls, with %s', (_, messages, most) => {
  expect(count(...messages).get('act')?.count).toBe(most)
})

test('the third is told, the fifth is denied, and so is each later one', () => {
  const three = count(call('{}'), call('{}'), call('{}'))
  expect(describeRepeats(three)).toMatch(/"act" 3 times/)
  expect(denyRepeat(three, 'act', '{}')).toBeUndefined()
  const row = [call('{}'), call('{}'), call('{}'), call('{}')]
  const why = denyRepeat(count(...row), 'act', '{}')
  expect(why).toMatch(/4 times in a row/)
  expect(denyRepeat(count(...row), 'act', '{"a":1}')).toBeUndefined()
  // The model reads the denial as the result, which does not end the streak.
  expect(denyRepeat(count(...row, call('{}', `Error: ${why}`)), 'act', '{}')).toBe(why)
})

test('a tool that polls may be called as often as it likes', () => {
  const messages = [asked, ...call('{}'), ...call('{}'), ...call('{}')]
  expect(describeRepeats(countRepeats(messages, [{ name: 'act', polls: true } as Tool]))).toBeUndefined()
})
