// Published servers, unmodified: `server-everything` over all three transports, `server-filesystem`, `@playwright/mcp`.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { findChromium } from '@baton/testing/chromium'
import { afterEach, expect, test } from 'vitest'
import type { McpServerConfig, McpServers } from './index.ts'
import { createMcpServers } from './index.ts'
import type { Step } from './mcp-session.test-kit.ts'
import { callTools } from './mcp-session.test-kit.ts'

const require = createRequire(import.meta.url)
const EVERYTHING = require.resolve('@modelcontextprotocol/server-everything/dist/index.js')
const FILESYSTEM = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js')
const PLAYWRIGHT = join(dirname(require.resolve('@playwright/mcp/package.json')), 'cli.js')
const chromium = findChromium('the browser of @playwright/mcp', (message) => console.warn(message))

const open: McpServers[] = []
const children: ChildProcess[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((servers) => servers.close()))
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function serve(name: string, config: McpServerConfig): McpServers {
  const servers = createMcpServers({ [name]: config })
  open.push(servers)
  return servers
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function describeEverything(transport: string): Promise<McpServerConfig> {
  if (transport === 'stdio') return { command: process.execPath, args: [EVERYTHING] }
  const port = await freePort()
  const env = { ...process.env, PORT: String(port) }
  const child = spawn(process.execPath, [EVERYTHING, transport], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  await new Promise<void>((resolve) => {
    const look = (chunk: Buffer): void => {
      if (chunk.toString().includes(String(port))) resolve()
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
  })
  return { url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}` }
}

const STEPS: readonly Step[] = [
  ['echo', { message: 'hi' }],
  ['get-tiny-image', {}],
  ['get-structured-content', { location: 'Chicago' }],
  ['trigger-long-running-operation', { duration: 1, steps: 4 }],
  ['trigger-elicitation-request', {}],
  ['get-resource-links', { count: 2 }],
  ['everything.read_resource', { uri: 'demo://resource/dynamic/text/1' }],
  ['simulate-research-query', { topic: 'bees', ambiguous: false }],
]

test.each(['stdio', 'streamableHttp', 'sse'])('server-everything over %s', async (transport) => {
  const servers = serve('everything', await describeEverything(transport))
  const onQuestion = (): object => ({ name: 'Ann', check: true, integer: 5 })
  const { calls, asked, notes } = await callTools(servers, STEPS, { onQuestion: () => ({ ...onQuestion() }) })
  expect(calls.map((call) => call.split(':')[0])).toEqual(STEPS.map(([name]) => `${name} ok`))
  expect(calls[1]).toContain('"mediaType":"image/png"')
  expect(calls[2]).toContain('temperature')
  expect(calls[4]).toContain('Ann')
  expect(calls[6]).toContain('Resource demo://resource/dynamic/text/1')
  expect(calls[7]).toContain('Research Report')
  expect(asked).toHaveLength(1)
  expect(notes).toBeGreaterThan(0)
})

test('server-filesystem reads, writes, and refuses what is outside', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-files-')))
  writeFileSync(join(folder, 'a.txt'), 'first line')
  const servers = serve('files', { command: process.execPath, args: [FILESYSTEM, folder] })
  const { calls } = await callTools(servers, [
    ['read_text_file', { path: join(folder, 'a.txt') }],
    ['write_file', { path: join(folder, 'b.txt'), content: 'second' }],
    ['read_text_file', { path: '/etc/passwd' }],
  ])
  expect(calls[0]).toContain('first line')
  expect(calls[1]).toMatch(/^write_file ok/)
  expect(calls[2]).toMatch(/^read_text_file error tool_failed: .*denied/i)
})

test.skipIf(chromium === undefined)('@playwright/mcp opens a page and reads it', async () => {
  const args = ['--headless', '--no-sandbox', '--isolated', '--executable-path', chromium ?? '']
  // It writes its snapshots into its folder.
  const cwd = mkdtempSync(join(tmpdir(), 'baton-browser-'))
  const servers = serve('browser', { command: process.execPath, args: [PLAYWRIGHT, ...args], cwd })
  const { calls } = await callTools(servers, [
    ['browser_navigate', { url: 'data:text/html,<h1>Ready</h1><button>Buy</button>' }],
    ['browser_snapshot', {}],
    ['browser_take_screenshot', {}],
  ])
  expect(calls.map((call) => call.split(':')[0])).toEqual([
    'browser_navigate ok',
    'browser_snapshot ok',
    'browser_take_screenshot ok',
  ])
  expect(calls[1]).toContain('Buy')
})
