// A tool asks its user with a library's schema: the user sees the JSON Schema, and the tool gets the answer as parsed
// by the library.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createHost } from './create-host.ts'
import { noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

const schema = z.object({
  seats: z.number().refine((seats) => seats < 5, 'we have four seats'),
  note: z.string().default('none'),
})

async function ask(answer: { readonly seats: number }, asked: unknown = schema) {
  const book = tool({
    name: 'book',
    description: 'Books',
    input: { type: 'object' },
    execute: async (_, context) => await context.ask({ message: 'How many seats?', schema: asked as typeof schema }),
  })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'book', arguments: {} }] }, { text: 'Booked.' }] })
  await using host = createHost({ agent: defineAgent({ name: 'a', model, tools: [book] }) })
  const session = await host.session()
  const turn = session.send('Book a table')
  let shown: unknown
  for await (const event of turn) {
    if (event.type !== 'question-asked') continue
    shown = event.schema
    expect(await session.answer({ questionId: event.questionId, value: { ...answer } })).toMatchObject({
      type: 'accepted',
    })
  }
  const told = model.requests[1]?.messages.at(-1)?.parts[0]
  return { shown, result: told?.type === 'result' ? told.content : undefined }
}

test('the answer has its defaults', async () => {
  const { shown, result } = await ask({ seats: 2 })
  expect(shown).toMatchObject({ type: 'object', properties: { seats: { type: 'number' } } })
  expect(result).toEqual([{ type: 'text', text: '{"seats":2,"note":"none"}' }])
})

test('an answer that the library refuses is an error of the tool', async () => {
  const { result } = await ask({ seats: 9 })
  expect(result).toEqual([{ type: 'text', text: expect.stringContaining('we have four seats') }])
})

test('a schema that cannot describe itself cannot be asked', async () => {
  const { '~standard': standard } = schema
  const bare = { '~standard': { version: 1, vendor: 'own', validate: standard.validate } }
  const { shown, result } = await ask({ seats: 2 }, bare)
  expect([shown, result]).toEqual([
    undefined,
    [{ type: 'text', text: expect.stringContaining('does not implement ~standard.jsonSchema') }],
  ])
})
