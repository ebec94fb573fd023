// Calls each tool of third-party MCP servers over a real connection, with arguments generated from its schema. The
// calls only affect a folder, a page and a service of the test.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { JsonObject, Tool } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost } from '@baton/host'
import type { McpServers } from '@baton/mcp/client'
import { createMcpServers } from '@baton/mcp/client'
import { createArgumentValidator } from '@baton/runtime'
import { findChromium } from '@baton/testing/chromium'
import { generateSync } from 'json-schema-faker'
import { afterAll, beforeAll, expect, test } from 'vitest'

interface Published {
  readonly tools: number
  readonly words?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /**
   * Property values by name, for cases where generated ones would reach outside, wait for long, or miss what the test
   * prepared.
   */
  readonly given?: JsonObject
  /** The tool that runs before all others, and the tool that runs after them. */
  readonly first?: string
  readonly last?: string
  /** Why no call can be sent; then only the arguments are checked. */
  readonly lack?: string
}

const PAGE = 'data:text/html,<button>Buy</button>'
const chromium = findChromium('the tools of @playwright/mcp', (message) => console.warn(message))
const folder = mkdtempSync(join(tmpdir(), 'baton-published-'))
const file = join(folder, 'a.txt')
const table: string[] = []
const service = createServer((_, response) => {
  response.setHeader('content-type', 'application/json').end('{}')
})

beforeAll(async () => {
  writeFileSync(file, 'first line')
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  console.info(['server | tools | calls | answered | failed by the server | not sent', ...table].join('\n'))
  await new Promise((resolve) => service.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})

const SERVERS: Readonly<Record<string, () => Published>> = {
  '@modelcontextprotocol/server-everything': () => ({
    tools: 17,
    given: {
      duration: 0.1,
      steps: 2,
      data: 'data:text/plain,hi',
      uri: 'demo://resource/dynamic/text/1',
      resourceId: 1,
    },
  }),
  '@modelcontextprotocol/server-filesystem': () => ({
    tools: 14,
    words: [folder],
    given: { path: file, paths: [file], source: file, destination: join(folder, 'b.txt') },
    last: 'move_file',
  }),
  '@modelcontextprotocol/server-memory': () => ({
    tools: 11,
    env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
    given: { uri: 'memory://graph' },
  }),
  '@notionhq/notion-mcp-server': () => {
    const address = service.address()
    const port = typeof address === 'object' ? address?.port : undefined
    return { tools: 24, env: { NOTION_TOKEN: 'none', BASE_URL: `http://127.0.0.1:${port}` } }
  },
  '@playwright/mcp': () => ({
    tools: 25,
    words: ['--headless', '--no-sandbox', '--isolated', '--executable-path', chromium ?? ''],
    given: {
      url: PAGE,
      time: 0.1,
      target: 'button',
      startTarget: 'button',
      endTarget: 'body',
      key: 'a',
      function: '() => 1',
      code: 'async () => 1',
      filename: 'out.txt',
      index: 1,
    },
    first: 'browser_navigate',
    last: 'browser_close',
    ...(chromium === undefined && { lack: 'no Chromium' }),
  }),
}

test.each(Object.entries(SERVERS))(
  '%s: each tool takes the arguments that are made from its schema',
  async (name, describe) => {
    const published = describe()
    const { tools: count, words = [], env = {}, lack } = published
    const command = { command: process.execPath, args: [findProgram(name), ...words], env, cwd: folder }
    const told: unknown[] = []
    const log = {
      info: () => {},
      warn: (message: string, data?: JsonObject) => void (message.includes('schema') && told.push(data)),
    }
    const servers = createMcpServers({ stock: command }, { log })
    try {
      const tools = sort((await servers.sources[0]?.list()) ?? [], published)
      const calls = tools.flatMap((tool) => makeArguments(tool, published.given).map((given) => [tool, given] as const))
      for (const [tool, given] of calls) expect(await check(tool, given)).toEqual([])
      const ends = lack === undefined ? await callAll(servers, calls) : []
      const ok = ends.filter(({ type }) => type === 'ok').length
      const unsent = lack === undefined ? '' : `${lack}: ${tools.map((tool) => tool.name).join(', ')}`
      table.push([name, tools.length, ends.length, ok, ends.length - ok, unsent].join(' | '))
      expect(ends.filter(isRefusal)).toEqual([])
      expect({ tools: tools.length, told, calls: ends.length }).toEqual({
        tools: count,
        told: [],
        calls: lack === undefined ? 2 * count : 0,
      })
    } finally {
      await servers.close()
    }
  },
)

function findProgram(name: string): string {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve(`${name}/package.json`)
  const { bin } = require(manifest) as { readonly bin: string | Readonly<Record<string, string>> }
  return join(dirname(manifest), typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? ''))
}

function sort(tools: readonly Tool[], { first, last }: Published): readonly Tool[] {
  const rank = ({ name }: Tool): number => (name === first ? 0 : name === last ? 2 : 1)
  return tools.toSorted((one, other) => rank(one) - rank(other))
}

/** Once without the optional properties, and once with about half of them. */
function makeArguments({ inputSchema }: Tool, given: JsonObject = {}): readonly JsonObject[] {
  return [0, 0.5].map((optionalsProbability) => {
    const made = generateSync(inputSchema as never, { seed: 1, optionalsProbability, maxItems: 1 } as never)
    const entries = Object.entries(made as JsonObject) // the schemas describe objects
    return Object.fromEntries(entries.map(([key, value]) => [key, given[key] ?? value]))
  })
}

async function check({ name, input, schemaWarnings = [] }: Tool, given: JsonObject): Promise<readonly string[]> {
  const checked = await createArgumentValidator().validate({ input }, JSON.stringify(given))
  return [...schemaWarnings, ...(checked.ok ? [] : [`${name}: ${checked.issues}`])]
}

interface End {
  readonly name: string
  readonly given: JsonObject
  readonly type: string
  readonly text: string
}

/** One turn that calls the tools one after another; questions from a server are declined. */
async function callAll(servers: McpServers, calls: readonly (readonly [Tool, JsonObject])[]): Promise<readonly End[]> {
  const steps = calls.map(([{ name }, given]) => ({ calls: [{ name, arguments: given }] }))
  const model = createScriptedModel({ steps: [...steps, { text: 'Done.' }] })
  const agent = defineAgent({
    name: 'caller',
    model,
    sources: servers.sources,
    limits: { toolRounds: steps.length + 1 },
  })
  const host = createHost({ agent })
  const session = await host.session('one')
  const ends: End[] = []
  for await (const event of session.send('Go.')) {
    if (event.type === 'question-asked') void session.answer({ questionId: event.questionId, decline: true })
    if (event.type !== 'call' || !event.call.result) continue
    const { name, result } = event.call
    const text = 'message' in result ? result.message : ''
    ends.push({ name, given: calls[ends.length]?.[1] ?? {}, type: result.type, text })
  }
  await host.stop()
  return ends
}

/** Neither Baton nor the server may reject arguments that match the schema published by the server. */
function isRefusal({ type, text }: End): boolean {
  return type !== 'ok' && /could not be checked|invalid arguments|validation error|not fit/i.test(text)
}
