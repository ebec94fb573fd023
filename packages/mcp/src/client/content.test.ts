// What an MCP server says of its pictures, as content of Baton.
import { expect, test } from 'vitest'
import { readResource } from './content.ts'

test('a resource is a picture, however its type is written', () => {
  const resource = { uri: 'file:///a.png', mimeType: 'IMAGE/PNG', blob: 'iVBORw0KGgo=' }
  expect(readResource(resource)).toMatchObject({ type: 'image', source: { type: 'base64', data: 'iVBORw0KGgo=' } })
})
