// Stock MCP SDK clients that start an agent as a program.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, test } from 'vitest'
import { ERAS, tell } from './mcp-client.test-kit.ts'

const ARGS = [
  '--no-warnings',
  '--conditions=@baton/source',
  fileURLToPath(new URL('stdio-server.test-kit.ts', import.meta.url)),
]

test.each(ERAS)('a client of %s calls a tool that asks, and the agent', async (era) => {
  const mode = era === '2026-07-28' ? { pin: era } : 'legacy'
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  )
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { name: 'Ann' } }))
  const transport = new StdioClientTransport({ command: process.execPath, args: ARGS })
  await client.connect(transport)
  try {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['greet', 'ask_shop'])
    expect(tell(await client.callTool({ name: 'greet', arguments: { greeting: 'Hello' } }))).toBe('Hello, Ann!')
    const answer = await client.callTool({ name: 'ask_shop', arguments: { message: 'When do you open?' } })
    expect(tell(answer)).toBe('We open at nine.')
  } finally {
    await client.close()
  }
})

test('the program ends when its client leaves, after nonsense too', async () => {
  const child = spawn(process.execPath, ARGS, { stdio: ['pipe', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  child.stdin.write('{"jsonrpc":\nnonsense\n{"jsonrpc":"2.0","id":1,"method":"no/such/method"}\n')
  while (!said.includes('\n')) await new Promise((resolve) => child.stdout.once('data', resolve))
  child.stdin.end()
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0)
  // The output contains only protocol messages.
  for (const line of said.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
})
