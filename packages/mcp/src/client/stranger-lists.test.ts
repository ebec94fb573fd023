// Lists of tools as strangers write them: each tool that can be meant is offered and can be called, the log names the
// others, and no list goes on for ever. Calls that are refused until the user has opened a page.
import type { JsonObject, JsonValue } from '@baton/core'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { callTools, createWaitingServers } from './mcp-session.test-kit.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: { readonly cursor?: string; readonly arguments?: JsonValue }
}

type List = (cursor: string | undefined, asked: number) => JsonValue

interface Odd {
  /** Pieces of progress after each result. */
  readonly notes?: number
  /** The error of a call, by its number. */
  readonly refuse?: (call: number) => JsonObject | undefined
}

/** A server whose calls return their arguments. */
async function startServer(list: List, { notes = 0, refuse }: Odd = {}) {
  let asked = 0
  const counts = { calls: 0 }
  const answer = ({ method, params }: Message): JsonValue => {
    if (method === 'tools/list') return list(params?.cursor, (asked += 1))
    if (method === 'tools/call') return { content: [{ type: 'text', text: JSON.stringify(params?.arguments) }] }
    return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } }
  }
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      const message = JSON.parse(body) as Message
      const { id, method } = message
      if (id === undefined) return void response.writeHead(202).end()
      if (method === 'tools/call') counts.calls += 1
      const unknown = method === 'server/discover' ? { code: -32_601, message: 'unknown' } : undefined
      const error = method === 'tools/call' ? refuse?.(counts.calls) : unknown
      const said = error ? { error } : { result: answer(message) }
      const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 99, progress: 1 } }
      const late = method === 'tools/call' ? Array.from({ length: notes }, () => progress) : []
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify([{ jsonrpc: '2.0', id, ...said }, ...late]))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  const { port } = server.address() as AddressInfo // a TCP server
  const { servers, warnings } = createWaitingServers({ odd: { url: `http://127.0.0.1:${port}/mcp` } })
  ends.push(() => servers.close())
  const names = async (): Promise<readonly string[] | undefined> =>
    (await servers.sources[0]?.list())?.map(({ name }) => name)
  return { servers, warnings, names, counts }
}

const INPUT = { type: 'object', properties: { n: { type: 'string' } } }
const toolOf = (name: string, inputSchema: JsonValue = INPUT): JsonObject => ({ name, inputSchema })

const FIELD = { page: { type: 'integer', default: 1 }, n: { type: 'string' } }
const OPTIONS = { type: 'object', properties: FIELD, required: ['page', 'n'], additionalProperties: false }

test.each<[string, JsonValue, JsonObject, JsonObject]>([
  ['a root type in capital letters', { type: 'OBJECT', properties: { n: { type: 'STRING' } } }, { n: 'x' }, { n: 1 }],
  ['a text of JSON', JSON.stringify({ ...INPUT, required: ['n'] }), { n: 'x' }, {}],
  ['a default in an inner object', { type: 'object', properties: { o: OPTIONS } }, { o: { n: 'x' } }, { o: {} }],
  [
    'a default in a definition',
    { type: 'object', properties: { o: { $ref: '#/$defs/O' } }, $defs: { O: OPTIONS } },
    { o: { n: 'x' } },
    { o: { page: 1 } },
  ],
  [
    'a default in an item',
    { type: 'object', properties: { o: { type: 'array', items: OPTIONS } } },
    { o: [{ n: 'x' }] },
    { o: [{ n: 'x', other: 1 }] },
  ],
])('an input schema with %s is the one that is meant', async (_, schema, right, wrong) => {
  const { servers } = await startServer(() => ({ tools: [toolOf('t', schema)] }))
  const { calls } = await callTools(servers, [
    ['t', right],
    ['t', wrong],
  ])
  expect(calls).toEqual([
    `t ok: ${JSON.stringify([{ type: 'text', text: JSON.stringify(right) }])}`,
    expect.stringMatching(/^t error invalid_arguments/),
  ])
})

test('a default that chooses between variants stays required, so that one variant still fits', async () => {
  const variant = (properties: JsonObject): JsonObject => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
  })
  const either = { oneOf: [variant({ a: { type: 'string', default: 'x' } }), variant({ b: { type: 'string' } })] }
  const { servers } = await startServer(() => ({ tools: [toolOf('t', { type: 'object', properties: { e: either } })] }))
  const { calls } = await callTools(servers, [['t', { e: { b: 'y' } }]])
  expect(calls).toEqual([expect.stringMatching(/^t ok/)])
})

test('tools listed by name', async () => {
  const { names } = await startServer(() => ({ tools: { one: { inputSchema: INPUT }, 7: toolOf('two') } }))
  expect(await names()).toEqual(['two', 'one'])
})

test.each<[string, List, readonly string[], number]>([
  [
    'new tools on each page',
    (_, asked) => ({ tools: [toolOf(`t${asked}`)], nextCursor: `c${asked}` }),
    ['t65', 't66'],
    64,
  ],
  [
    'cursors in a circle',
    (cursor) => ({ tools: [toolOf(cursor ?? 'first')], nextCursor: cursor === 'a' ? 'b' : 'a' }),
    ['first', 'a', 'b'],
    3,
  ],
])('a list that does not end, with %s, gives what its first pages have', async (_, list, offered, pages) => {
  const { names, warnings } = await startServer(list)
  expect(await names()).toEqual(expect.arrayContaining([...offered]))
  expect(warnings).toContainEqual(
    `tools of an MCP server may be missing: its list does not end {"server":"odd","pages":${pages}}`,
  )
})

test('a name that cannot be called is named in the log', async () => {
  const { names, warnings } = await startServer(() => ({ tools: [toolOf('two\nlines'), toolOf('ok')] }))
  expect(await names()).toEqual(['ok'])
  expect(warnings).toEqual([expect.stringMatching(/was skipped .*"tool":"two\\nlines".*no control characters/)])
})

test('progress of calls that have ended is logged ten times', async () => {
  const { servers, warnings } = await startServer(() => ({ tools: [toolOf('t')] }), { notes: 500 })
  await callTools(servers, [['t', {}]])
  expect(warnings.filter((told) => told.includes('reported an error'))).toHaveLength(10)
})

const LOGIN = { mode: 'url', elicitationId: 'e1', url: 'https://login.example.com/a', message: 'Log in first' }
const REFUSED = { code: -32_042, message: 'A login is required', data: { elicitations: [LOGIN] } }

test('a call that a server refuses until the user has opened a page is sent again when they have', async () => {
  const refuse = (call: number): JsonObject | undefined => (call < 3 ? REFUSED : undefined)
  const { servers, counts } = await startServer(() => ({ tools: [toolOf('t')] }), { refuse })
  const { calls, asked } = await callTools(servers, [['t', { n: 'x' }]], { onQuestion: () => ({}) })
  expect(asked).toEqual(Array.from({ length: 2 }, () => expect.stringContaining('login.example.com') as string))
  expect(calls).toEqual([expect.stringMatching(/^t ok/)])
  expect(counts.calls).toBe(3)
})

test.each([
  ['the user declines', REFUSED],
  ['it names no page', { ...REFUSED, data: { elicitations: {} } }],
  ['it gives no reason', { code: -32_042, message: 'A login is required' }],
])('a call that needs a page ends with the server’s words if %s', async (_, error) => {
  const { servers, counts } = await startServer(() => ({ tools: [toolOf('t')] }), { refuse: () => error })
  const { calls } = await callTools(servers, [['t', {}]])
  expect(calls).toEqual([expect.stringMatching(/^t error api_failed: .*A login is required/)])
  expect(counts.calls).toBe(1)
})
