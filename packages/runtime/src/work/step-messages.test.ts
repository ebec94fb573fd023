// Messages that `prepareStep` may give to one request: each result follows its call, and each call has its result.
import type { Message } from '@baton/core'
import { expect, test } from 'vitest'
import { findWrongMessage } from './step-plan.ts'

const user: Message = { role: 'user', parts: [{ type: 'text', text: 'go' }] }
const calls = (...ids: readonly string[]): Message => ({
  role: 'assistant',
  parts: ids.map((callId) => ({ type: 'call', callId, name: 'act', arguments: '{}' })),
})
const results = (...ids: readonly string[]): Message => ({
  role: 'tool',
  parts: ids.map((callId) => ({ type: 'result', callId, name: 'act', isError: false, content: [] })),
})

test.each<[string, readonly Message[]]>([
  ['one message', [user]],
  ['a call and its result', [user, calls('a'), results('a')]],
  ['two calls, and their results in another order', [user, calls('a', 'b'), results('b', 'a'), user]],
  ['an answer at the end', [user, calls()]],
])('%s can be asked', (_, messages) => {
  expect(findWrongMessage(messages)).toBeUndefined()
})

test.each<[string, unknown, string]>([
  ['no list', 'go', 'must be a list of messages, not "go"'],
  ['no message', [], 'must have at least one message'],
  ['a role that does not exist', [{ role: 'system', parts: [] }], 'role must be "user", "assistant" or "tool"'],
  ['content in place of parts', [{ role: 'user', content: 'go' }], 'parts must be a list, not undefined'],
  ['a part of another role', [{ role: 'user', parts: [{ type: 'call' }] }], 'a user message has parts of type text'],
  ['a part without its field', [{ role: 'user', parts: [{ type: 'text' }] }], 'type "text" lacks a field'],
  ['a result without its call', [user, results('a')], 'at index 1: the calls none'],
  [
    'a call without its result',
    [user, calls('a'), user],
    'the calls a of the assistant message before need their results',
  ],
  ['one result of two', [user, calls('a', 'b'), results('a')], 'and this has a'],
  ['a call at the end', [user, calls('a')], 'ends with the calls a, which have no results'],
])('%s is refused', (_, messages, why) => {
  expect(findWrongMessage(messages)).toContain(why)
})
