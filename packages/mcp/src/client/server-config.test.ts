// MCP servers configured in code, in a file, and in one argument.
import { expect, test } from 'vitest'
import { createMcpServers, parseMcpConfig, readServerArgument } from './index.ts'

test.each([
  [
    'npx -y @modelcontextprotocol/server-everything',
    'everything',
    'npx',
    ['-y', '@modelcontextprotocol/server-everything'],
  ],
  ['npx @playwright/mcp@0.0.83 --headless', 'playwright', 'npx', ['@playwright/mcp@0.0.83', '--headless']],
  ['node dist/weather.js', 'weather', 'node', ['dist/weather.js']],
  ['uvx mcp-server-git', 'git', 'uvx', ['mcp-server-git']],
  ['/opt/tools/weather-mcp --units si', 'weather', '/opt/tools/weather-mcp', ['--units', 'si']],
  [`"/opt/my tools/serve.py" 'a b' c="d e"`, 'serve', '/opt/my tools/serve.py', ['a b', 'c=d e']],
])('%s is the server %s', (argument, name, command, args) => {
  expect(readServerArgument(argument)).toEqual({ name, config: { command, args } })
})

test('an address is a server, by its host', () => {
  const { name, config } = readServerArgument('https://mcp.example.com/mcp')
  expect([name, config]).toEqual(['mcp.example.com', { url: 'https://mcp.example.com/mcp' }])
})

test('a file: variables, their defaults, and the types that other programs write', () => {
  const text = JSON.stringify({
    mcpServers: {
      files: { type: 'stdio', command: 'npx', args: ['-y', 'files', '${FOLDER:-/tmp}'], env: { KEY: '${KEY}' } },
      api: { type: 'streamable-http', url: 'https://${HOST}/mcp' },
    },
    other: true,
  })
  expect(parseMcpConfig(text, { KEY: 'k', HOST: 'example.com' })).toEqual({
    files: { command: 'npx', args: ['-y', 'files', '/tmp'], env: { KEY: 'k' } },
    api: { type: 'http', url: 'https://example.com/mcp' },
  })
})

test.each([
  [{ a: {} }, 'it has neither "command" nor "url"'],
  [{ a: { command: 'x', url: 'https://a.b' } }, 'it has both "command" and "url"'],
  [{ a: { command: 'x', arg: [] } }, 'Unrecognized key: "arg"'],
  [{ a: { command: 'x', trust: 'yes' } }, 'trust'],
  [{ a: { url: 'ftp://a.b' } }, 'url must start with https:// or http://'],
  [{ a: { url: 'http://a.b' } }, 'url must start with https:// unless the server runs on this machine'],
  [{ a: { url: 'https://ann:secret@a.b' } }, 'url must not contain credentials'],
  [{ 'a b': { command: 'x' } }, 'its name must be 1 to 64 letters'],
  [{ a: 7 }, 'it must be an object'],
])('%j is refused', (servers, message) => {
  expect(() => createMcpServers(servers as Parameters<typeof createMcpServers>[0])).toThrow(
    expect.objectContaining({
      code: 'invalid_mcp_server',
      message: expect.stringContaining(message) as string,
    }) as Error,
  )
})

test.each([
  [{ a: { command: 'x', timeout: 5 } }, 'timeoutMs'],
  [{ mcpServers: { a: { command: 'x' } } }, 'parseMcpConfig'],
])('%j: the hint says what to write', (servers, hint) => {
  const config = servers as unknown as Parameters<typeof createMcpServers>[0]
  expect(() => createMcpServers(config)).toThrow(
    expect.objectContaining({ hint: expect.stringContaining(hint) as string }) as Error,
  )
})

test('a field that is written wrong is in the error', () => {
  expect(() => parseMcpConfig('{"mcpServers":{"a":{"comand":"x"}}}')).toThrow(
    'it has neither "command" nor "url", but "comand"',
  )
})

test('an address without its scheme is not a program', () => {
  expect(() => readServerArgument('localhost:3000/mcp')).toThrow(
    expect.objectContaining({ code: 'invalid_mcp_server', hint: 'Write http://localhost:3000/mcp.' }) as Error,
  )
})

test('an address of another protocol is not a program', () => {
  expect(() => readServerArgument('ws://localhost:3000/mcp')).toThrow('must start with https:// or http://')
})

test('a secret in an address is never in an error', () => {
  expect(() => createMcpServers({ a: { url: 'https://ann:secret@a.b' } })).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('secret') as string }) as Error,
  )
})

test.each([
  ['{', 'is not JSON'],
  ['{"servers":{}}', 'mcpServers'],
])('the file %s is refused', (text, message) => {
  expect(() => parseMcpConfig(text)).toThrow(message)
})
