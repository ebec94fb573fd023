// Results of MCP servers: content for the model, and values for programs.
import type { CallToolResult } from '@modelcontextprotocol/client'
import { describe, expect, test } from 'vitest'
import { readCallResult, readResource } from './content.ts'

test('a resource is a picture, however its type is written', () => {
  const resource = { uri: 'file:///a.png', mimeType: 'IMAGE/PNG', blob: 'iVBORw0KGgo=' }
  expect(readResource(resource)).toMatchObject({ type: 'image', source: { type: 'base64', data: 'iVBORw0KGgo=' } })
})

describe('a structured value next to the content', () => {
  const text = (said: string) => ({ type: 'text', text: said }) as const
  const picture = { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' } as const
  const shown = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'iVBORw0KGgo=' } }
  const read = (content: CallToolResult['content'], structuredContent: Record<string, unknown>, issues?: string) =>
    readCallResult('t', { content, structuredContent }, () => Promise.resolve(issues))

  test.each<[string, CallToolResult['content'], Record<string, unknown>, unknown]>([
    ['its JSON alone is the value', [text('{"a": 1}')], { a: 1 }, { a: 1 }],
    [
      'a text under a name is read as it is (server-filesystem)',
      [text('one\r\n"two"')],
      { content: 'one\r\n"two"' },
      { content: [text('one\r\n"two"')], value: { content: 'one\r\n"two"' } },
    ],
    [
      'a list under a name is read once (server-memory)',
      [text('[\n  {"name": "Ann"}\n]')],
      { entities: [{ name: 'Ann' }] },
      { content: [text('[\n  {"name": "Ann"}\n]')], value: { entities: [{ name: 'Ann' }] } },
    ],
    [
      'a number under a name is read once (FastMCP)',
      [text('5')],
      { result: 5 },
      { content: [text('5')], value: { result: 5 } },
    ],
    [
      'a part for each item (FastMCP)',
      [text('a'), text('{"b":2}')],
      { result: ['a', { b: 2 }] },
      { content: [text('a'), text('{"b":2}')], value: { result: ['a', { b: 2 }] } },
    ],
    [
      'a picture comes once, without its bytes as text (server-filesystem)',
      [picture],
      { content: [picture] },
      { content: [shown] },
    ],
    [
      'bytes of a picture beside other fields',
      [picture],
      { width: 1, data: 'iVBORw0KGgo=' },
      { content: [shown, text('{"width":1,"data":"[the image/png of this result]"}')] },
    ],
    [
      'a summary: the model reads both',
      [text('Found 2.')],
      { ids: [1, 2] },
      { content: [text('Found 2.'), text('{"ids":[1,2]}')], value: { ids: [1, 2] } },
    ],
    ['no content', [], { a: 1 }, { a: 1 }],
    [
      'a text that is one field of several',
      [text('hello')],
      { content: 'hello', lines: 1 },
      { content: 'hello', lines: 1 },
    ],
  ])('%s', async (_situation, content, structured, expected) => {
    expect(await read(content, structured)).toEqual(expected)
  })

  test('a value that violates the schema is dropped, and stays in the content', async () => {
    expect(await read([text('5')], { result: 5 }, 'it does not fit')).toEqual({
      content: [text('5'), text('[The result of "t" is shown as text: it does not fit]')],
    })
  })
})
