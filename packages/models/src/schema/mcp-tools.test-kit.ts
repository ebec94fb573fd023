// The tools of MCP servers on npm, for the tests of the dialects: what their authors let a model send.
import type { JsonObject } from '@baton/core'
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

const SERVERS: readonly (readonly [name: string, ...words: string[]])[] = [
  ['@modelcontextprotocol/server-everything'],
  ['@modelcontextprotocol/server-filesystem', tmpdir()],
  ['@modelcontextprotocol/server-memory'],
  ['@notionhq/notion-mcp-server'],
  ['@playwright/mcp'],
]

/** Name and input schema of each tool of every server. @throws Error if a server exits before listing its tools */
export async function listMcpTools(): Promise<readonly (readonly [string, JsonObject])[]> {
  return (await Promise.all(SERVERS.map(([name, ...words]) => listTools(name, words)))).flat()
}

interface Answer {
  readonly id?: number
  readonly result?: { readonly tools?: readonly { readonly name: string; readonly inputSchema: JsonObject }[] }
}

async function listTools(name: string, words: readonly string[]): Promise<readonly (readonly [string, JsonObject])[]> {
  const env = { PATH: process.env['PATH'] ?? '', NOTION_TOKEN: 'none' }
  const child = spawn(process.execPath, [findProgram(name), ...words], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const clientInfo = { name: 'baton-tests', version: '0' }
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } })
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      const { id, result } = JSON.parse(line) as Answer
      if (id === 1) {
        send({ method: 'notifications/initialized' })
        send({ id: 2, method: 'tools/list' })
      }
      if (id === 2) return (result?.tools ?? []).map((tool) => [`${name} ${tool.name}`, tool.inputSchema])
    }
    throw new Error(`${name} ended before it told its tools`)
  } finally {
    child.kill()
  }
}

function findProgram(name: string): string {
  const require = createRequire(import.meta.url)
  const file = require.resolve(`${name}/package.json`)
  const { bin } = require(file) as { readonly bin: string | Readonly<Record<string, string>> }
  return join(dirname(file), typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? ''))
}
