// A restarted HTTP server no longer knows its earlier sessions: it answers 404, or another status with words about the
// session, and the client starts a new one.
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
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
}

/** The server's answer to an unknown session. */
interface Refusal {
  readonly status: number
  readonly body?: string
}

const COUNTED: ReadonlySet<string> = new Set(['tools/call', 'resources/list', 'resources/read'])
const LISTS: ReadonlySet<string> = new Set(['tools/list'])

/**
 * `forgets` is called before each of the counted requests, by default each call and each use of resources; if it returns
 * true, the server loses all sessions.
 */
async function startServer(
  forgets: (asked: number) => boolean,
  { status, body }: Refusal = { status: 404 },
  counted = COUNTED,
) {
  const sessions = new Set<string>()
  const counts = { begun: 0, asked: 0, done: 0 }
  const take = (asked: string, session: unknown, response: ServerResponse): void => {
    const { id, method } = JSON.parse(asked) as Message
    const answer = (result: object): void => {
      response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `session-${counts.begun}` })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }
    if (method === 'initialize') {
      counts.begun += 1
      sessions.add(`session-${counts.begun}`)
      const serverInfo = { name: 'shop', version: '1' }
      return answer({ protocolVersion: '2025-11-25', capabilities: { tools: {}, resources: {} }, serverInfo })
    }
    if (counted.has(method) && forgets((counts.asked += 1))) sessions.clear()
    if (!sessions.has(String(session))) return void response.writeHead(status).end(body)
    if (id === undefined) return void response.writeHead(202).end()
    if (method === 'tools/list') return answer({ tools: [{ name: 'pay', inputSchema: { type: 'object' } }] })
    counts.done += 1
    if (method === 'resources/list') return answer({ resources: [{ uri: 'shop:bill', name: 'bill' }] })
    if (method === 'resources/read') return answer({ contents: [{ uri: 'shop:bill', text: 'paid' }] })
    return answer({ content: [{ type: 'text', text: 'paid' }] })
  }
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(405).end()
    let asked = ''
    request.on('data', (chunk: Buffer) => (asked += chunk.toString()))
    request.on('end', () => take(asked, request.headers['mcp-session-id'], response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  const { port } = server.address() as AddressInfo // a TCP server
  const url = `http://127.0.0.1:${port}/mcp`
  const { servers, warnings } = createWaitingServers({ shop: { url } })
  ends.push(() => servers.close())
  return { servers, warnings, counts, url }
}

test('a call to a server that has forgotten the session runs once, over a new session', async () => {
  const { servers, counts } = await startServer((asked) => asked === 2)
  const pay = ['pay', {}] as const
  const { calls } = await callTools(servers, [pay, pay, pay])
  expect(calls).toEqual(Array.from(calls, () => expect.stringMatching(/^pay ok: .*paid/) as string))
  expect(calls).toHaveLength(3)
  expect(counts).toMatchObject({ asked: 4, done: 3 })
  expect(servers.status()).toMatchObject([{ state: 'connected', starts: 2 }])
})

test.each([
  ['shop.list_resources', {}, 'shop:bill'],
  ['shop.read_resource', { uri: 'shop:bill' }, 'paid'],
])('%s at a server that has forgotten the session runs once, over a new session', async (name, input, told) => {
  const { servers, counts } = await startServer((asked) => asked === 1)
  const { calls } = await callTools(servers, [[name, input]])
  expect(calls).toEqual([expect.stringMatching(new RegExp(`^${name} ok: .*${told}`))])
  expect(counts).toEqual({ begun: 2, asked: 2, done: 1 })
})

test.each<Refusal>([
  { status: 404, body: '' },
  { status: 400, body: '{"jsonrpc":"2.0","error":{"code":-32000,"message":"No valid session ID"},"id":null}' },
  { status: 410, body: 'this session is gone' },
  { status: 400, body: '{"jsonrpc":"2.0","error":{"code":-32600,"message":"Session terminated"},"id":2}' },
  // The SDK in TypeScript with one transport for all clients, and the SDK in Rust.
  { status: 400, body: '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Server not initialized"},"id":null}' },
  { status: 401, body: 'Unauthorized: Session not found' },
])('a session that is forgotten with %j is begun anew, and the call runs once', async (refusal) => {
  const { servers, counts } = await startServer((asked) => asked === 1, refusal)
  const { calls } = await callTools(servers, [['pay', {}]])
  expect(calls).toEqual([expect.stringMatching(/^pay ok: .*paid/)])
  expect(counts).toEqual({ begun: 2, asked: 2, done: 1 })
})

test.each([400, 410])('%d without a word about a session is an error of the call', async (status) => {
  const { servers, counts } = await startServer((asked) => asked === 1, { status, body: 'no' })
  const { calls } = await callTools(servers, [['pay', {}]])
  expect(calls).toEqual([expect.stringMatching(/^pay error api_refused/)])
  expect(counts).toEqual({ begun: 1, asked: 1, done: 0 })
})

test('404 that answers the call itself is its error, and nothing is asked again', async () => {
  const body = '{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Unknown tool: pay"}}'
  const { servers, counts } = await startServer((asked) => asked === 1, { status: 404, body })
  const { calls } = await callTools(servers, [['pay', {}]])
  expect(calls).toEqual([expect.stringMatching(/^pay error api_refused: .*Unknown tool: pay/)])
  expect(counts).toEqual({ begun: 1, asked: 1, done: 0 })
})

test('a server that forgets each session is asked a few times, and the call ends with its answer', async () => {
  const { servers, counts } = await startServer(() => true)
  const { calls } = await callTools(servers, [['pay', {}]])
  expect(calls).toEqual([expect.stringMatching(/^pay error api_refused: MCP server "shop" answered 404/)])
  expect(counts).toMatchObject({ asked: 5, done: 0 })
})

/** Maximum handshakes for one list: each of its five tries may start another reading with five tries. */
const HANDSHAKES = 25

/** Counts handshakes after other requests, during which a loop would continue. */
async function countHandshakes({ counts, url }: Awaited<ReturnType<typeof startServer>>): Promise<number> {
  for (let visit = 0; visit < 300 && counts.begun <= HANDSHAKES; visit += 1) await (await fetch(url)).text()
  return counts.begun
}

test('a server that forgets each session before its list is read is asked a few times, not in a loop', async () => {
  const server = await startServer(() => true, { status: 404 }, LISTS)
  const [source] = server.servers.sources
  await expect(source?.list()).rejects.toMatchObject({ code: 'api_refused' })
  await expect.poll(() => server.warnings.join()).toContain('the tools of an MCP server could not be listed')
  expect(await countHandshakes(server)).toBeLessThanOrEqual(HANDSHAKES)
})

test('a server that forgets every other session before its list is read is asked a few times, not in a loop', async () => {
  const server = await startServer((asked) => asked % 2 === 1, { status: 404 }, LISTS)
  const [source] = server.servers.sources
  expect((await source?.list())?.map(({ name }) => name)).toContain('pay')
  // The list is read again, because the server was lost.
  await expect.poll(() => server.counts.asked).toBeGreaterThanOrEqual(4)
  expect(await countHandshakes(server)).toBeLessThanOrEqual(HANDSHAKES)
})
