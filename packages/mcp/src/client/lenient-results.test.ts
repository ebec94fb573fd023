// Results as written by servers in other languages: what the model reads, and which tools exist.
import type { JsonObject, JsonValue } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { readCall } from './lenient-calls.ts'
import { readQuestion, readResult } from './lenient-results.ts'

const PNG = 'iVBORw0KGgo='
const INPUT = { type: 'object', properties: {} }

describe('a list of tools', () => {
  const list = (...tools: readonly unknown[]) => readResult({ id: 1, method: 'tools/list' }, { tools } as JsonValue)

  test.each([
    [
      'null where absent is meant',
      { name: 'a', description: null, title: null, annotations: null, icons: null, _meta: null, inputSchema: INPUT },
      { name: 'a', inputSchema: INPUT },
    ],
    [
      'a hint that is no boolean',
      { name: 'a', inputSchema: INPUT, annotations: { readOnlyHint: 'yes', title: 'A' } },
      { name: 'a', inputSchema: INPUT, annotations: { title: 'A' } },
    ],
  ])('%s', (_situation, tool, read) => {
    expect(list(tool, { name: 'b', inputSchema: INPUT })).toEqual({ tools: [read, { name: 'b', inputSchema: INPUT }] })
  })
})

describe('a result of a call', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['no content', { structuredContent: { ok: 1 } }, { content: [], structuredContent: { ok: 1 } }],
    ['null', { content: null }, { content: [] }],
    ['a text in place of parts', { content: 'plain' }, { content: [{ type: 'text', text: 'plain' }] }],
    ['the form of 2024', { toolResult: { ok: 1 } }, { content: [{ type: 'text', text: '{"ok":1}' }] }],
    ['a number as text', { content: [{ type: 'text', text: 5 }] }, { content: [{ type: 'text', text: '5' }] }],
    [
      'a part that MCP does not know, beside a known one',
      {
        content: [
          { type: 'chart', data: [1] },
          { type: 'text', text: 'x' },
        ],
      },
      {
        content: [
          { type: 'text', text: '{"type":"chart","data":[1]}' },
          { type: 'text', text: 'x' },
        ],
      },
    ],
    [
      'a failure said by a text',
      { isError: 'true', content: [{ type: 'text', text: 'bad' }] },
      { isError: true, content: [{ type: 'text', text: 'bad' }] },
    ],
    [
      'a list as structured value',
      { structuredContent: [1, 2], content: [{ type: 'text', text: '[1,2]' }] },
      { content: [{ type: 'text', text: '[1,2]' }] },
    ],
    [
      'a picture without a type',
      { content: [{ type: 'image', data: PNG }] },
      { content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] },
    ],
    [
      'a picture as data URL',
      { content: [{ type: 'image', data: `data:image/png;base64,${PNG}` }] },
      { content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] },
    ],
    [
      'base64 with line breaks',
      { content: [{ type: 'image', mimeType: 'image/png', data: 'iVBORw0K\nGgo=' }] },
      { content: [{ type: 'image', mimeType: 'image/png', data: PNG }] },
    ],
    [
      'base64 without padding',
      { content: [{ type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo' }] },
      { content: [{ type: 'image', mimeType: 'image/png', data: PNG }] },
    ],
    [
      'base64 for URLs',
      { content: [{ type: 'image', mimeType: 'image/png', data: 'ab-_' }] },
      { content: [{ type: 'image', mimeType: 'image/png', data: 'ab+/' }] },
    ],
    [
      'data that is no base64',
      { content: [{ type: 'image', mimeType: 'image/png', data: '***' }] },
      { content: [{ type: 'text', text: '[The server sent image data that cannot be read: ***]' }] },
    ],
    [
      'null inside of parts',
      { content: [{ type: 'text', text: 'ok', annotations: null, _meta: null }] },
      { content: [{ type: 'text', text: 'ok' }] },
    ],
  ])('%s', (_situation, result, read) => {
    expect(readCall(result)).toEqual(read)
  })

  test.each([`data:${'A'.repeat(1_000_000)}`, `${'='.repeat(1_000_000)}A`])(
    'hostile data is refused at once',
    (data) => {
      expect(readCall({ content: [{ type: 'image', mimeType: 'image/png', data }] })).toMatchObject({
        content: [{ type: 'text' }],
      })
    },
  )

  test('correct messages are not changed', () => {
    const right = {
      content: [
        { type: 'text', text: 'x' },
        { type: 'image', data: PNG, mimeType: 'image/png' },
      ],
      structuredContent: { a: null },
      isError: true,
    }
    expect(readCall(right)).toEqual(right)
  })
})

test('a media type of blanks is none, however many', () => {
  const [part] = readCall({ content: [{ type: 'image', data: PNG, mimeType: `${' '.repeat(300_000)}x` }] })[
    'content'
  ] as readonly JsonObject[]
  expect(part).toEqual({ type: 'image', data: PNG, mimeType: 'image/png' })
})

test('a question is asked without optional fields that no form has', () => {
  const properties = {
    name: { type: 'string' },
    colours: { type: 'array', items: { enum: ['red', 'blue'] } },
    tags: { type: 'array', items: { type: 'string' } },
    place: { type: 'object', properties: {} },
    must: { type: 'array', items: { type: 'string' } },
  }
  const read = readQuestion({ message: 'Who?', requestedSchema: { type: 'object', properties, required: ['must'] } })
  const { properties: asked } = read['requestedSchema'] as JsonObject
  expect(Object.keys(asked as JsonObject)).toEqual(['name', 'colours', 'must'])
})
