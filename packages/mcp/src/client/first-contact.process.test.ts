// Failures at the first use of a server, and the messages for its user.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import type { McpServerConfig, McpServers, McpServersOptions } from './index.ts'
import { createMcpServers, createMemoryTokenStore } from './index.ts'

const open: McpServers[] = []
const LOGIN = {
  store: createMemoryTokenStore(),
  redirectUrl: 'http://127.0.0.1:1/callback',
  authorize: () => Promise.reject(new Error('nobody is there')),
}
afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(open.splice(0).map((servers) => servers.close()))
})

async function list(config: McpServerConfig, options?: McpServersOptions): Promise<unknown> {
  const servers = createMcpServers({ tried: config }, options)
  open.push(servers)
  try {
    return (await servers.sources[0]?.list())?.map(({ name }) => name)
  } catch (cause) {
    return cause
  }
}

test('a program that is not there', async () => {
  expect(await list({ command: 'no-such-program', args: ['-y'] })).toMatchObject({
    code: 'api_unavailable',
    message: expect.stringContaining('cannot be started: there is no program "no-such-program"') as string,
    hint: 'Install the program, or give its full path.',
  })
})

test('a command with its arguments in one text', async () => {
  expect(await list({ command: 'npx -y some-server' })).toMatchObject({
    code: 'api_unavailable',
    hint: 'Put only the program into "command", and each of its arguments into "args".',
  })
})

test('a missing file: the error has the message of Node, not its stack', async () => {
  const { message } = (await list({ command: process.execPath, args: ['/no/such/server.js'] })) as Error
  expect(message).toContain("Cannot find module '/no/such/server.js'")
  expect(message).not.toContain('    at ')
})

test('a program that writes a lot before it dies: the error has whole lines from its end', async () => {
  const write = "for (let line = 0; line < 100; line += 1) console.error('line', line, 'of the reasons')"
  const { message } = (await list({ command: process.execPath, args: ['-e', write] })) as Error
  expect(message).toMatch(/it wrote: line \d+ of the reasons\n[^]*line 99 of the reasons$/)
})

test('a program that ends silently is not an MCP server: the error says how to check that', async () => {
  expect(await list({ command: process.execPath, args: ['-e', '1'] })).toMatchObject({
    code: 'api_unavailable',
    hint: 'Run its command by itself: an MCP server waits for requests on standard input and does not exit.',
  })
})

test('servers in an array: the error says how they are written', () => {
  expect(() => createMcpServers([] as never)).toThrow(
    expect.objectContaining({
      code: 'invalid_mcp_server',
      message: 'createMcpServers takes an object of servers by name',
    }),
  )
})

test('a server that says nothing: the error names it and its limit', async () => {
  const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] }
  expect(await list(silent, { limits: { connectMs: 200 } })).toMatchObject({
    code: 'api_unavailable',
    message: expect.stringMatching(/^MCP server "tried" did not answer/) as string,
  })
})

test('an address without MCP: the error has the response, and where to look', async () => {
  const web = createServer((_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('Not here'))
  await once(web.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/`
  expect(await list({ url })).toMatchObject({
    code: 'api_refused',
    message: expect.stringContaining('answered 404') as string,
    hint: expect.stringContaining('MCP endpoint') as string,
  })
  web.close()
})

test.each([
  ['nothing is given', {}],
  ['a wrong token is given', { headers: { Authorization: 'Bearer wrong' } }],
  ['a login is tried that the server does not have', { auth: LOGIN }],
])('a server that wants a token, where %s', async (_, config) => {
  const web = createServer((request, response) =>
    response.writeHead(request.url === '/mcp' ? 401 : 404, { 'www-authenticate': 'Bearer' }).end(),
  )
  await once(web.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/mcp`
  expect(await list({ url, ...config })).toMatchObject({
    code: 'api_unauthorized',
    message: expect.stringMatching(/^MCP server "tried" (requires a login|answered 401)/) as string,
    hint: expect.stringContaining('headers: { Authorization: "Bearer …" }') as string,
  })
  web.close()
})

test('certificates of a company reach the server, and other variables do not', async () => {
  vi.stubEnv('SSL_CERT_FILE', '/etc/company.pem')
  vi.stubEnv('COMPANY_SECRET', 'secret')
  const tell = 'console.error(`${process.env.SSL_CERT_FILE} ${process.env.COMPANY_SECRET}`)'
  const { message } = (await list({ command: process.execPath, args: ['-e', tell] })) as Error
  expect(message).toContain('it wrote: /etc/company.pem undefined')
})
