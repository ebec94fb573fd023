// Addresses in an MCP server's responses, such as login pages and redirects, are fetched only if they are public.
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { McpServers } from './index.ts'
import { createMcpServers, createMemoryTokenStore } from './index.ts'
import { createServerFetch } from './server-fetch.ts'

let ends: (() => Promise<unknown> | void)[] = []

afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

const LIMITS = { connections: 1, waiting: 1, tools: 1, messageBytes: 1000, connectMs: 20_000, idleMs: 60_000 }

async function listen(handle: Parameters<typeof createServer>[1] & object): Promise<string> {
  const server: Server = createServer(handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // a TCP server
}

function connect(url: string): McpServers {
  const auth = {
    store: createMemoryTokenStore(),
    redirectUrl: 'http://127.0.0.1:1/callback',
    authorize: () => Promise.resolve(new URLSearchParams()),
  }
  const servers = createMcpServers({ odd: { url, auth } })
  ends.push(() => servers.close())
  return servers
}

/** Starts a server that requires a login and whose metadata names this authorization server. */
function wantLogin(issuer: string, onAsked: (url: string) => void): Promise<string> {
  const started = listen((request, response) => {
    onAsked(request.url ?? '')
    const own = `http://${request.headers.host}`
    if (!request.url?.startsWith('/.well-known/oauth-protected-resource')) {
      const challenge = `Bearer resource_metadata="${own}/.well-known/oauth-protected-resource"`
      response.writeHead(401, { 'www-authenticate': challenge }).end()
      return
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ resource: `${own}/mcp`, authorization_servers: [issuer] }))
  })
  return started
}

test.each([
  'http://169.254.169.254',
  'https://10.0.0.1',
  'https://[fd00:ec2::254]',
  'https://metadata.google.internal',
])('a server that names %s as the place to log in: nothing is sent there', async (issuer) => {
  const asked: string[] = []
  const url = await wantLogin(issuer, (path) => asked.push(path))
  const [source] = connect(`${url}/mcp`).sources
  await expect(source?.list()).rejects.toMatchObject({
    code: 'url_refused',
    message: expect.stringContaining(issuer) as string,
  })
  expect(asked).toContain('/.well-known/oauth-protected-resource')
})

test('a redirect of the server leads to no place that is not public', async () => {
  const url = await listen((_, response) => void response.writeHead(307, { location: 'http://169.254.169.254/' }).end())
  const { fetch, close } = createServerFetch({ url }, LIMITS)
  ends.push(close)
  await expect(fetch(`${url}/mcp`)).rejects.toMatchObject({ code: 'url_refused' })
})

test('the server itself may be anywhere; of what it names, a server of this machine may name this machine', async () => {
  const other = await listen((_, response) => void response.end('other'))
  const url = await listen((_, response) => void response.end('own'))
  const local = createServerFetch({ url }, LIMITS)
  ends.push(() => local.close())
  expect(await (await local.fetch(url)).text()).toBe('own')
  expect(await (await local.fetch(other)).text()).toBe('other')
  await expect(local.fetch('http://10.0.0.1/')).rejects.toMatchObject({ code: 'url_refused' })
  const remote = createServerFetch({ url: 'https://mcp.example.com/mcp' }, LIMITS)
  ends.push(() => remote.close())
  await expect(remote.fetch(other)).rejects.toMatchObject({ code: 'url_refused' })
  await expect(remote.fetch('https://localhost/')).rejects.toMatchObject({ code: 'url_refused' })
})

test('an event stream of the server may be longer than a message; another answer may not', async () => {
  const url = await listen((request, response) => {
    response.writeHead(200, { 'content-type': request.url === '/events' ? 'text/event-stream' : 'application/json' })
    response.end('data: 0\n\n'.repeat(1000))
  })
  const { fetch, close } = createServerFetch({ url }, LIMITS)
  ends.push(close)
  expect((await (await fetch(`${url}/events`)).text()).length).toBe(9000)
  await expect((await fetch(`${url}/mcp`)).text()).rejects.toMatchObject({ code: 'api_malformed' })
})
