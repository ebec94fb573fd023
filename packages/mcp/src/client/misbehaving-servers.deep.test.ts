// Servers that die, flood, lie, change, never answer and send 100 MiB, as programs and over HTTP: each call settles.
import { afterEach, describe, expect, test } from 'vitest'
import type { McpServerConfig, McpServers, McpServersOptions } from './index.ts'
import { createMemoryPinStore } from './index.ts'
import { callTools, createWaitingServers, describeOddServer, startOddServer } from './mcp-session.test-kit.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const PLACES: Readonly<Record<string, (mode: string) => Promise<McpServerConfig>>> = {
  'as a program': (mode) => Promise.resolve(describeOddServer(mode)),
  'over HTTP': async (mode) => {
    const { url, stop } = await startOddServer(mode)
    ends.push(stop)
    return { url }
  },
}

function open(config: McpServerConfig, options?: McpServersOptions) {
  const made = createWaitingServers({ odd: config }, options)
  ends.push(() => made.servers.close())
  return made
}

const callOnce = (servers: McpServers): ReturnType<typeof callTools> => callTools(servers, [['echo', { text: 'a' }]])

test('a call over HTTP whose server dies may have had its effect; one that finds nobody has not', async () => {
  const { url, stop } = await startOddServer('dies')
  ends.push(stop)
  const { servers } = open({ url })
  const echo = ['echo', { text: 'a' }] as const
  const { calls } = await callTools(servers, [echo, echo])
  expect(calls[0]).toMatch(/^echo unknown tool_result_unknown: MCP server "odd".*: it may have run$/)
  expect(calls[1]).toMatch(/^echo error api_unavailable: MCP server "odd".*ECONNREFUSED/)
  expect(calls[1]).not.toContain('may have')
})

describe.each(Object.entries(PLACES))('%s', (_, place) => {
  test.each(['dies', 'dies-late'])('a server that %s in a call: the call says so', async (mode) => {
    const { servers } = open(await place(mode))
    expect((await callOnce(servers)).calls).toEqual([
      expect.stringMatching(/^echo unknown tool_result_unknown: MCP server "odd".*: it may have run$/),
    ])
  })

  test('a server that never answers: the call ends at its time-out, and the server goes on for others', async () => {
    const { servers } = open({ ...(await place('hangs')), timeoutMs: 300 })
    expect((await callOnce(servers)).calls).toEqual([
      'echo unknown tool_result_timeout: no result came in the time of the call: it may have run',
    ])
    expect(servers.status()).toMatchObject([{ state: 'connected', starts: 1 }])
  })

  test('a message of 100 MiB fails the call, not the process', async () => {
    const { servers } = open(await place('huge'), { limits: { messageBytes: 1024 * 1024 } })
    expect((await callOnce(servers)).calls).toEqual([expect.stringMatching(/^echo unknown tool_result_unknown/)])
  })

  test('twenty thousand notes of progress and changed lists: few are passed on, and the answer arrives', async () => {
    const { servers } = open(await place('floods'))
    const { calls, notes } = await callOnce(servers)
    expect(calls).toEqual(['echo ok: [{"type":"text","text":"flooded"}]'])
    expect(notes).toBeGreaterThan(0)
    expect(notes).toBeLessThan(100)
  })

  test('a server that lies about its schemas: what is not a tool is left out, and a wrong result says so', async () => {
    const { servers, warnings } = open(await place('lies'))
    const tools = (await servers.sources[0]?.list()) ?? []
    expect(tools.map(({ name }) => name)).toEqual(['echo', 'bad-pattern'])
    // One has a schema that is not an object, one a duplicate name, one a name that is too long.
    expect(warnings.filter((line) => line.includes('a tool of an MCP server was skipped'))).toHaveLength(3)
    expect(warnings.filter((line) => line.includes('not fully checked'))).toEqual([
      expect.stringContaining('properties.a: pattern \\"(\\" is not a pattern (a group has no end)'),
    ])
    expect((await callOnce(servers)).calls).toEqual([
      expect.stringMatching(/^echo ok: .*no number.*does not match the tool.s output schema/),
    ])
  })

  test('a server that changes a tool: the call asks, and is denied where the user declines', async () => {
    const config = await place('changes')
    const pins = createMemoryPinStore()
    const first = open(config, { pins })
    await first.servers.sources[0]?.list()
    await first.servers.close()
    const { calls, asked } = await callOnce(open(config, { pins }).servers)
    expect(asked).toEqual([expect.stringContaining('changed its tool "echo" (description)')])
    expect(calls).toEqual([expect.stringMatching(/^echo error call_denied/)])
  })
})
