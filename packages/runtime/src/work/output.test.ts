// Typed answers are found in the text that a model writes around them, in linear time.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createArgumentValidator } from './arguments.ts'
import { createOutputReader } from './output.ts'

const agent = defineAgent({
  name: 'a',
  model: createScriptedModel({ steps: [] }),
  output: { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] },
})
const reader = createOutputReader(agent.output!, createArgumentValidator())

test.each([
  '{"a":1}',
  'Here: {"a":1}.',
  'So:\n```json\n{"a":1}\n```\nDone {x}.',
  '```\n\n{"a":1}```',
  '```ts\n{"b":2}\n``` and\n```json  \n{"a":1}\n```',
])('the value of %j is read', async (text) => {
  expect(await reader?.read(text)).toEqual({ a: 1 })
})

test.each(['\n', '```\n', '```json\n', ' '])(
  'many of %j are looked at once',
  async (unit) => {
    const check = await reader?.check(`\`\`\`${unit.repeat(1_000_000 / unit.length)}`)
    expect(check?.issue).toContain('not JSON')
  },
  20_000,
)

test('of an answer that is not JSON it is said that the answer is not', async () => {
  expect(await reader.check('Hello')).toEqual({ issue: 'the answer is not JSON' })
})
