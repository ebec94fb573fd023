// Tools of published packages for the AI SDK, unchanged: an in-memory shell, a web search over HTTP, the tools of an
// MCP server.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createMCPClient } from '@ai-sdk/mcp'
import { StdioMCPTransport } from '@ai-sdk/mcp/mcp-stdio'
import { webSearch } from '@exalabs/ai-sdk'
import { createBashTool } from 'bash-tool'
import { afterEach, expect, test, vi } from 'vitest'
import { playCalls } from '../shared/played-calls.test-kit.ts'
import { fromAiSdk } from './index.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

test('bash-tool: a shell and files in memory', async () => {
  const { tools } = await createBashTool({ files: { 'notes.txt': 'buy milk\n' } })
  const { calls } = await playCalls(fromAiSdk(tools), [
    ['writeFile', { path: 'more.txt', content: 'call Ann\n' }],
    ['bash', { command: 'cat notes.txt more.txt; exit 3' }],
    ['readFile', { path: 'gone.txt' }],
    ['bash', { line: 'ls' }],
  ])
  expect(calls.slice(0, 2)).toEqual([
    'writeFile ok: {"success":true}',
    'bash ok: {"stdout":"buy milk\\ncall Ann\\n","stderr":"","exitCode":3}',
  ])
  expect(calls[2]).toMatch(/^readFile error tool_failed: .*gone\.txt/)
  expect(calls[3]).toMatch(/^bash error invalid_arguments: .*command/)
})

/** A local search service that answers the first request and is overloaded afterwards. */
async function startSearch() {
  const asked: string[] = []
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const isFirst = asked.push(Buffer.concat(chunks as Buffer[]).toString()) === 1
      response.writeHead(isFirst ? 200 : 429, { 'content-type': 'application/json' })
      response.end(JSON.stringify(isFirst ? { results: [{ title: 'Leases, 1989' }] } : { error: 'too many requests' }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return { asked, server, url: `http://127.0.0.1:${port}` }
}

test('@exalabs/ai-sdk: a search over HTTP, and a service that refuses', async () => {
  const { asked, server, url } = await startSearch()
  const goOn = fetch
  vi.stubGlobal('fetch', (address: string, init: RequestInit) => goOn(address.replace('https://api.exa.ai', url), init))
  try {
    const tools = fromAiSdk(
      { webSearch: webSearch({ apiKey: 'key-of-a-test' }) },
      { trust: 'untrusted', effect: 'pure' },
    )
    const { calls, shown } = await playCalls(tools, [
      ['webSearch', { query: 'leases' }],
      ['webSearch', { query: 'more leases' }],
      ['webSearch', { query: '' }],
    ])
    expect(calls[0]).toBe('webSearch ok: {"results":[{"title":"Leases, 1989"}]}')
    expect(calls[1]).toMatch(/^webSearch error tool_failed: .*429/)
    expect(calls[2]).toMatch(/^webSearch error invalid_arguments: query/)
    expect(asked).toHaveLength(2)
    expect(JSON.parse(asked[0] ?? '')).toMatchObject({ query: 'leases' })
    expect(shown['webSearch']).toMatchObject({ properties: { query: { type: 'string', maxLength: 500 } } })
  } finally {
    server.close()
  }
})

test('@ai-sdk/mcp: texts, images, and what the server refuses', async () => {
  const file = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'))
  const transport = new StdioMCPTransport({ command: process.execPath, args: [file], stderr: 'ignore' })
  const server = await createMCPClient({ transport })
  try {
    const all = await server.tools()
    const tools = fromAiSdk(all, { trust: 'untrusted' })
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(all))
    const { calls } = await playCalls(tools, [
      ['echo', { message: 'Hello!' }],
      ['get-sum', { a: 2, b: 3 }],
      ['get-tiny-image', {}],
      ['get-sum', { a: 'two' }],
    ])
    expect(calls[0]).toContain('Echo: Hello!')
    expect(calls[1]).toMatch(/^get-sum ok: .*5/s)
    expect(calls[2]).toMatch(/^get-tiny-image ok: .*\[image\]/s)
    expect(calls[3]).toMatch(/^get-sum error invalid_arguments: /)
  } finally {
    await server.close()
  }
})
