// A 2026-07-28 server: questions as rounds of one call, and calls that run as tasks.
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { McpServers } from './index.ts'
import { createMcpServers } from './index.ts'
import type { AnswerQuestion, Results } from './mcp-session.test-kit.ts'
import { callTools } from './mcp-session.test-kit.ts'

const SERVER = fileURLToPath(new URL('modern-server.test-kit.ts', import.meta.url))
let log: string
let servers: McpServers
beforeEach(() => {
  log = join(mkdtempSync(join(tmpdir(), 'baton-mcp-')), 'acts')
  const server = { command: process.execPath, args: ['--no-warnings', SERVER, 'plain', log], timeoutMs: 20_000 }
  servers = createMcpServers({ modern: server, brief: { ...server, timeoutMs: 500, allow: ['task-hangs'] } })
})
afterEach(() => servers.close())

const call = (name: string, onQuestion?: AnswerQuestion): Promise<Results> =>
  callTools({ ...servers, sources: servers.sources.slice(0, 1) }, [[name, {}]], onQuestion && { onQuestion })
const acts = (): readonly string[] => readFileSync(log, 'utf8').trim().split('\n')

test('a question is a round of the same call, and the state goes back as it came', async () => {
  const { calls, asked } = await call('asks', () => ({ size: 'm' }))
  expect(asked).toEqual(['The MCP server "modern" asks: Which size?'])
  expect(calls).toEqual([expect.stringMatching(/^asks ok: .*accept.*m/) as string])
  expect(acts()).toEqual(['asks - null', 'asks state 1 {"size":{"action":"accept","content":{"size":"m"}}}'])
  expect(servers.status()).toMatchObject([{ version: '2026-07-28' }, {}])
})

test('two rounds, and a user who declines', async () => {
  const { calls, asked } = await call('asks-twice')
  expect(asked).toEqual(['The MCP server "modern" asks: Which size?', 'The MCP server "modern" asks: Are you sure?'])
  expect(calls).toEqual([expect.stringContaining('decline') as string])
})

test('a server that asks forever, or for an unsupported feature, fails its call', async () => {
  const forever = await call('asks-for-ever', () => ({ size: 'm' }))
  expect(forever.asked).toHaveLength(10)
  expect(forever.calls).toEqual([
    expect.stringContaining(
      'asks-for-ever error api_malformed: MCP server "modern": it requested input 10 times',
    ) as string,
  ])
  const samples = await call('samples')
  expect(samples.calls).toEqual([expect.stringContaining('requested sampling/createMessage from the client') as string])
})

test('a task is polled until it ends', async () => {
  const { calls } = await call('task')
  expect(calls).toEqual(['task ok: [{"type":"text","text":"after 3 looks: null"}]'])
})

test('a task that asks gets its answer, once', async () => {
  const { calls, asked } = await call('task-asks', () => ({ size: 'm' }))
  expect(asked).toHaveLength(1)
  expect(calls).toEqual([expect.stringMatching(/^task-asks ok: .*accept.*m/) as string])
})

test('a task that fails says why', async () => {
  const { calls } = await call('task-fails')
  expect(calls).toEqual(['task-fails error api_failed: the task failed: out of paper'])
})

test('a task that takes too long is cancelled at the server', async () => {
  const { calls } = await callTools({ ...servers, sources: servers.sources.slice(1) }, [['task-hangs', {}]])
  expect(calls).toEqual([
    'task-hangs unknown tool_result_timeout: no result came in the time of the call: it may have run',
  ])
  await expect.poll(() => acts()).toContain('cancelled task-hangs')
})
