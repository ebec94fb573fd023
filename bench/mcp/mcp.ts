// Compares the cost of an MCP call with the bare SDK client, over a program and over HTTP, and the cost of two hundred
// tools in a turn, shown or behind `tools.search`. Both variants alternate each round; the table has the medians of the
// rounds, and the ratio within a round.
import type { ChildProcess } from 'node:child_process'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { JsonObject, Tool } from '@baton/core'
import { createToolContext } from '@baton/core/testing'
import { createHost, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/host/testing'
import type { McpServerConfig } from '@baton/mcp/client'
import { createMcpServers } from '@baton/mcp/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, calls: { type: 'string', default: '200' } },
})
const rounds = Number(values.rounds)
const calls = Number(values.calls)
if (![rounds, calls].every((value) => Number.isSafeInteger(value) && value > 0))
  throw new Error('--rounds and --calls take whole numbers above 0')

const print = (text: string): void => void process.stdout.write(`${text}\n`)
const SERVER = join(import.meta.dirname, 'echo-server.ts')
const ARGS = ['--no-warnings', '--conditions=@baton/source', SERVER]

interface Cost {
  /** Duration of a call in milliseconds, and this process's CPU time during it. */
  readonly waitMs: number
  readonly cpuMs: number
}

async function measure(call: (index: number) => Promise<unknown>, times = calls): Promise<Cost> {
  const before = process.cpuUsage()
  const begun = performance.now()
  for (let index = 0; index < times; index += 1) await call(index)
  const waitMs = (performance.now() - begun) / times
  const { user, system } = process.cpuUsage(before)
  return { waitMs, cpuMs: (user + system) / 1_000 / times }
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0
const show = (ms: number): string => `${(ms * 1_000).toFixed(0)} µs`

interface Way {
  readonly call: (index: number) => Promise<unknown>
  close(): Promise<void>
}

async function openBaton(config: McpServerConfig): Promise<Way> {
  const servers = createMcpServers({ echo: config })
  const [echo] = (await servers.sources[0]?.list()) ?? []
  if (!echo?.execute) throw new Error('the server has no tool')
  const context = createToolContext({ signal: new AbortController().signal })
  return { call: async (index) => echo.execute?.({ text: `${index}` }, context), close: () => servers.close() }
}

async function openBare(port: number | undefined): Promise<Way> {
  const client = new Client({ name: 'bare', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(
    port === undefined
      ? new StdioClientTransport({ command: process.execPath, args: ARGS })
      : new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)),
  )
  await client.listTools()
  return {
    call: async (index) => client.callTool({ name: 'echo', arguments: { text: `${index}` } }),
    close: () => client.close(),
  }
}

/** Compares the first way with the second one. */
async function compare(name: string, ways: readonly [Way, Way]): Promise<string> {
  for (const { call } of ways) await measure(call)
  const costs: [Cost, Cost][] = []
  for (let round = 0; round < rounds; round += 1) {
    const first = await measure(ways[0].call)
    costs.push([first, await measure(ways[1].call)])
  }
  const of = (read: (pair: [Cost, Cost]) => number): number => median(costs.map(read))
  const row = [
    name,
    show(of(([one]) => one.cpuMs)),
    show(of(([, other]) => other.cpuMs)),
    of(([one, other]) => one.cpuMs / other.cpuMs).toFixed(2),
    of(([one, other]) => one.waitMs / other.waitMs).toFixed(2),
  ]
  return `| ${row.join(' | ')} |`
}

async function compareCalls(): Promise<void> {
  const child: ChildProcess = fork(SERVER, ['http'], { execArgv: ['--no-warnings', '--conditions=@baton/source'] })
  const [{ port }] = (await once(child, 'message')) as [{ readonly port: number }] // by the server's protocol
  print('| A call over | Baton | The SDK’s client | Ratio of processor time | of time |\n|---|---|---|---|---|')
  const pairs = [
    ['a program', { command: process.execPath, args: ARGS }, undefined],
    ['HTTP', { url: `http://127.0.0.1:${port}/mcp` }, port],
  ] as const
  for (const [name, config, at] of pairs) {
    const ways = [await openBaton(config), await openBare(at)] as const
    print(await compare(name, [...ways]))
    for (const way of ways) await way.close()
  }
  child.kill()
}

/** Tools like those of an API: short descriptions, three arguments. */
function createTools(defer: boolean): readonly Tool[] {
  const text = { type: 'string', description: 'As the service knows it' }
  const input: JsonObject = {
    type: 'object',
    properties: { owner: text, repository: text, limit: { type: 'integer' } },
  }
  return Array.from({ length: 200 }, (_, index) =>
    tool({
      name: `service${index % 10}.act${index}_item`,
      description: `Acts number ${index} on items of the service ${index % 10}, with paging and filters, and returns what it changed.`,
      input,
      effect: 'pure',
      defer,
      execute: () => 'done',
    }),
  )
}

async function openTurns(defer: boolean): Promise<Way & { readonly readChars: () => number }> {
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'Done.' }
        : {
            calls: [
              {
                name: defer ? 'tools.search' : 'service1.act1_item',
                arguments: defer ? { query: 'act 117 items' } : {},
              },
            ],
          },
  })
  const host = createHost({
    agent: defineAgent({ name: 'many', model, tools: createTools(defer), window: { exchanges: 2 } }),
  })
  const session = await host.session('one')
  return {
    call: async () => session.send('Go.').answer,
    close: () => host.stop(),
    readChars: () => JSON.stringify(model.requests[0]?.tools ?? []).length,
  }
}

async function compareTools(): Promise<void> {
  const ways = [await openTurns(true), await openTurns(false)] as const
  print(
    '\n| A turn with 200 tools | behind `tools.search`, one search | all shown, one call | Ratio of processor time | of time |\n|---|---|---|---|---|',
  )
  print(await compare('of two steps', [...ways]))
  print(`\nCharacters of tools in a request: ${ways.map((way) => way.readChars()).join(' behind a search, ')} shown.`)
  for (const way of ways) await way.close()
}

await compareCalls()
await compareTools()
