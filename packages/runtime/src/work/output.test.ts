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
  '```python\nprint({})\n```\nIt prints {}, so:\n```json\n{"a":1}\n```',
  '```python\nprint({})\n```\nIt prints {}, so:\n```\n{"a":1}\n```\nDone {x}.',
  'Use ```x``` as in {x}:\n```json\n{"a":1}\n```',
  'So, {x}: ```json\n{"a":1}\n```\nDone {x}.',
  '```sh\necho {\n```json\n{"a":1}\n```',
  '```json\r\n{"a":1}\r\n```\r\nDone {x}.',
])('the value of %j is read', async (text) => {
  expect(await reader?.read(text)).toEqual({ a: 1 })
})

test.each(['\n', '```\n', '```json\n', ' ', '``` ', 'x', '```ts\n', '`'])(
  'many of %j are looked at once',
  async (unit) => {
    const check = await reader?.check(`\`\`\`${unit.repeat(1_000_000 / unit.length)}`)
    expect(check?.issue).toContain('not JSON')
  },
)

test('fences within the texts of a value are parts of it', async () => {
  const text = '```json\n{"a":1,\n"one":"```",\n"two":"```js\\nx\\n```"}\n```\nDone {x}.'
  expect(await reader.read(text)).toEqual({ a: 1, one: '```', two: '```js\nx\n```' })
})

test('of an answer that is not JSON it is said that the answer is not', async () => {
  expect(await reader.check('Hello')).toEqual({ issue: 'the answer is not JSON' })
})
