// `baton mcp` as a separate process, used by stock MCP SDK clients.
import { startCommand } from '@baton/testing/start-command'
import type { StartedCommand } from '@baton/testing/start-command'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'

const BATON = fileURLToPath(new URL('../../bin/baton.mjs', import.meta.url))
const HOST = import.meta.resolve('@baton/host')

/** Prints at startup; the output must not end up in the protocol. */
const AGENT = `import { defineAgent, tool } from ${JSON.stringify(HOST)}
console.log('the agent is loaded')
const add = tool({
  name: 'add',
  description: 'Adds two numbers.',
  input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
  effect: 'pure',
  execute: ({ a, b }) => {
    console.log('adding')
    return { sum: a + b }
  },
})
export default defineAgent({ name: 'adder', model: 'offline', tools: [add] })
`

let folder: string
let commands: StartedCommand[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-mcp-'))
  writeFileSync(join(folder, 'agent.ts'), AGENT)
  commands = []
})
afterEach(async () => {
  for (const command of commands) {
    command.kill('SIGKILL')
    await command.ended
  }
  rmSync(folder, { recursive: true })
})

const connect = async (transport: Parameters<Client['connect']>[0]): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  return client
}

test('over standard input and output, what the agent prints goes elsewhere', async () => {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BATON, 'mcp', 'agent.ts', '--expose', 'both'],
    cwd: folder,
    env: { HOME: folder, PATH: process.env['PATH'] ?? '' },
    stderr: 'pipe',
  })
  let printed = ''
  transport.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const client = await connect(transport)
  try {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['add', 'ask_adder'])
    const result = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })
    expect(result.structuredContent).toEqual({ sum: 5 })
    expect(printed).toContain('the agent is loaded')
  } finally {
    await client.close()
  }
})

test('over HTTP, a token opens', async () => {
  const words = [BATON, 'mcp', 'agent.ts', '--http', '--port', '0', '--token', 'key-of-a-test', '--json']
  const command = startCommand(process.execPath, { words, folder, variables: { HOME: folder } })
  commands.push(command)
  const line = await command.untilLine((said) => said.includes('"listening"'))
  const { url } = JSON.parse(line) as { readonly url: string }
  expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(401)
  const headers = { authorization: 'Bearer key-of-a-test' }
  const client = await connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  expect((await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })).structuredContent).toEqual({ sum: 5 })
  await client.close()
  command.kill('SIGTERM')
  expect(await command.ended).toEqual({ code: 0, signal: null })
})

test('options without effect are refused unless --http is given', async () => {
  const command = startCommand(process.execPath, { words: [BATON, 'mcp', '--port', '1'], folder, variables: {} })
  commands.push(command)
  expect(await command.ended).toEqual({ code: 2, signal: null })
  expect(command.errors()).toContain('--port requires --http')
})
