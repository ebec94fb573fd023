// A server built with the official SDK's first major version and Zod 3: valid arguments reach it, invalid ones are
// rejected with their location.
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '@baton/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { McpServers } from './index.ts'
import { callTools, createWaitingServers } from './mcp-session.test-kit.ts'

const SERVER = fileURLToPath(new URL('first-sdk-server.test-kit.ts', import.meta.url))

let servers: McpServers
let warnings: readonly string[]
beforeAll(() => {
  const made = createWaitingServers({ stock: { command: process.execPath, args: ['--no-warnings', SERVER] } })
  servers = made.servers
  warnings = made.warnings
})
afterAll(() => servers.close())

interface Calls {
  readonly right: readonly JsonObject[]
  /** Arguments, and the location in them named by the error. */
  readonly wrong: readonly (readonly [JsonObject, string])[]
}

const TOOLS: Readonly<Record<string, Calls>> = {
  slice: {
    right: [{ pages: [1, 2] }],
    wrong: [
      [{ pages: [1, 'x'] }, 'pages.1'],
      [{ pages: [1] }, 'pages'],
      [{ pages: [1, 2, 3] }, 'pages'],
    ],
  },
  mark: {
    right: [{ point: [1.5, 'a'] }, { point: [1.5, 'a', true, false] }],
    wrong: [
      [{ point: ['a', 1] }, 'point.0'],
      [{ point: [1, 'a', 'b'] }, 'point.2'],
    ],
  },
  open: { right: [{ url: 'https://example.com' }], wrong: [[{ url: 'http://example.com' }, 'url']] },
  tag: { right: [{ name: 'my-lib.js@v12' }], wrong: [[{ name: 'my lib' }, 'name']] },
  pay: {
    right: [{ amount: 19.99 }, { amount: 0.07 }, { amount: 1_000_000.01 }],
    wrong: [[{ amount: 19.999 }, 'amount']],
  },
  weigh: {
    right: [{ kilos: 2.675 }, { kilos: 0.001 }],
    wrong: [
      [{ kilos: 2.6751 }, 'kilos'],
      [{ kilos: 0 }, 'kilos'],
    ],
  },
  mail: {
    right: [{ to: 'ann@example.com' }, { to: 'ann@example.com', at: '2026-11-28T12:00:00Z' }],
    wrong: [[{ to: 'ann@example.com', at: 5 }, 'at']],
  },
  draw: {
    right: [{ shape: { kind: 'circle', radius: 1 } }, { shape: { kind: 'line', ends: [0, 1] } }],
    wrong: [[{ shape: { kind: 'line', ends: [0, 'x'] } }, 'shape.ends.1']],
  },
  count: {
    right: [{ words: { a: 1 }, note: null }],
    wrong: [[{ words: { a: -1 }, note: 'x' }, 'words.a']],
  },
}

test.each(Object.entries(TOOLS))('%s: right arguments reach the server as they are', async (name, { right }) => {
  const { calls } = await callTools(
    servers,
    right.map((given) => [name, given] as const),
    { id: `${name} right` },
  )
  const said = (given: JsonObject): string => JSON.stringify([{ type: 'text', text: JSON.stringify(given) }])
  expect(calls).toEqual(right.map((given) => `${name} ok: ${said(given)}`))
})

test.each(Object.entries(TOOLS))('%s: wrong arguments are refused with their place', async (name, { wrong }) => {
  const { calls } = await callTools(
    servers,
    wrong.map(([given]) => [name, given] as const),
    { id: `${name} wrong` },
  )
  expect(calls).toHaveLength(wrong.length)
  for (const [index, [, place]] of wrong.entries())
    expect(calls[index]).toMatch(
      new RegExp(`^${name} error invalid_arguments: .*\\b${place.replaceAll('.', '[./]')}\\b`),
    )
})

test('a format is checked by the server alone, and its words reach the model', async () => {
  const { calls } = await callTools(servers, [['mail', { to: 'ann@example.com', at: 'tomorrow' }]], { id: 'format' })
  expect(calls).toEqual([expect.stringMatching(/^mail error tool_failed: .*Invalid datetime at at$/)])
})

test('each of its schemas can be checked whole', async () => {
  const tools = (await servers.sources[0]?.list()) ?? []
  expect(tools.map(({ name }) => name)).toEqual(Object.keys(TOOLS))
  expect(warnings).toEqual([])
})
