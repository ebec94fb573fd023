// First lines of errors for calls as programs of other libraries write them.
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createHost, defineAgent, readOutput } from '../index.ts'

const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: 'Hello.' }) }) })

test('decide with the id and the word is told the form of a decision', async () => {
  await using host = createHost({ agent })
  const session = await host.session()
  await expect(session.decide('x' as never, 'approve' as never)).rejects.toMatchObject({
    message: `the decision must be a plain object, not "x"; a decision is { approvalId, decision: 'approve' }`,
  })
})

test('an id in place of the principal who decides is told the form of a principal', async () => {
  await using host = createHost({ agent })
  const session = await host.session()
  const decided = session.decide({ approvalId: 'x', decision: 'approve' }, { principal: 'mod' as never })
  await expect(decided).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'principal must be an object with an id, not "mod"',
    hint: 'Write principal: { id: userId }.',
  })
})

test('handlers in a field of their own are told where they belong', async () => {
  await using host = createHost({ agent })
  const session = await host.session()
  await expect(session.attach({ tools: { place: () => 'Oslo' } } as never)).rejects.toMatchObject({
    message: 'the handler of "tools" must be a function, not object',
    hint: "Write attach({ 'app.place': () => ({ city: 'Oslo' }) }), with the names of your client tools.",
  })
})

test('readOutput with an answer and a schema says what it takes', () => {
  expect(() => readOutput({ outcome: 'end' } as never, { type: 'object' } as never)).toThrow(
    'readOutput needs an agent and an answer of it',
  )
})
