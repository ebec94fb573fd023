// MCP servers that die, hang, flood, lie and change: each call settles, and the session continues.
import { afterEach, expect, test } from 'vitest'
import type { McpServers, McpServersOptions } from './index.ts'
import { callTools, createMcpHost, createWaitingServers, describeOddServer, play } from './mcp-session.test-kit.ts'
import type { McpServerConfig } from './index.ts'

const open: McpServers[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((servers) => servers.close()))
})

function serve(
  mode: string,
  config?: Partial<McpServerConfig>,
  options?: McpServersOptions,
): ReturnType<typeof createWaitingServers> {
  const made = createWaitingServers({ odd: describeOddServer(mode, config) }, options)
  open.push(made.servers)
  return made
}

test('a server that dies in a call: the call says so, the next one waits for the restart', async () => {
  const { servers, pass } = serve('dies-once')
  const first = await callTools(servers, [
    ['echo', { text: 'a' }],
    ['echo', { text: 'b' }],
  ])
  expect(first.calls[0]).toMatch(
    /^echo unknown tool_result_unknown: MCP server "odd" ended the connection.*may have run$/,
  )
  expect(first.calls[1]).toMatch(/^echo error api_unavailable: .*it will be restarted soon/)
  expect(first.calls[1]).not.toContain('may have taken effect') // the call was not sent
  pass(60_000)
  const second = await callTools(servers, [['echo', { text: 'c' }]], { id: 'two' })
  expect(second.calls).toEqual(['echo ok: [{"type":"text","text":"start 2: c"}]'])
  expect(servers.status()).toMatchObject([{ state: 'connected', starts: 2 }])
})

test('a server that cannot start: the session continues without its tools, and the log has its last output', async () => {
  const { servers, warnings } = serve('dies-at-start')
  await expect(servers.sources[0]?.list()).rejects.toMatchObject({
    code: 'api_unavailable',
    message: expect.stringContaining('no license found') as string,
  })
  const { calls } = await callTools(servers, [['echo', { text: 'a' }]])
  expect(calls).toEqual([expect.stringContaining('echo error tool_not_found') as string])
  expect(servers.status()).toMatchObject([
    { state: 'waiting', problem: expect.stringContaining('no license found') as string },
  ])
  expect(warnings).toEqual([])
})

test('a missing program is named in the error', async () => {
  const { servers } = createWaitingServers({ none: { command: '/no/such/program' } })
  open.push(servers)
  await expect(servers.sources[0]?.list()).rejects.toMatchObject({
    code: 'api_unavailable',
    message: expect.stringContaining('/no/such/program') as string,
  })
})

test('content that is a text in place of a list is the text', async () => {
  const { servers } = serve('garbage')
  const { calls } = await callTools(servers, [['echo', { text: 'a' }]])
  expect(calls).toEqual([`echo ok: ${JSON.stringify([{ type: 'text', text: 'no array' }])}`])
})

test('a failure that the server tells reaches the model in its words', async () => {
  const { servers } = serve('fails')
  const { calls } = await callTools(servers, [['echo', { text: 'a' }]])
  expect(calls).toEqual(['echo error tool_failed: there is no such file'])
})

test('a thousand tools: the first 256 are offered, and the log says so', async () => {
  const { servers, warnings } = serve('many')
  expect(await servers.sources[0]?.list()).toHaveLength(256)
  expect(warnings).toEqual([
    expect.stringContaining('there are too many {"server":"odd","tools":1000,"limit":256}') as string,
  ])
})

test('tools added by a restart reach the open session', async () => {
  const { servers, pass } = serve('grows')
  const host = createMcpHost(servers, [
    ['echo', { text: 'die' }],
    ['shout', { text: 'a' }],
  ])
  const session = await host.session('one')
  const isChanged = new Promise<void>((resolve) => servers.sources[0]?.onChange?.(resolve))
  const turn = play(session)
  await expect.poll(() => servers.status()).toMatchObject([{ state: 'waiting' }])
  pass(60_000)
  await isChanged
  expect((await turn).calls).toHaveLength(2)
  expect((await servers.sources[0]?.list())?.map(({ name }) => name)).toEqual(['echo', 'shout'])
  await host.stop()
})

test('two sessions asked at once: each answers its own question', async () => {
  const { servers } = serve('asks')
  let waiting = 0
  let release = (): void => {}
  const bothAreAsked = new Promise<void>((resolve) => (release = resolve))
  const results = await Promise.all(
    ['ann', 'bob'].map(async (id) =>
      callTools(servers, [['echo', { text: id }]], {
        id,
        onQuestion: async () => {
          waiting += 1
          if (waiting === 2) release()
          await bothAreAsked
          return { who: `${id} says it` }
        },
      }),
    ),
  )
  expect(results.map(({ asked }) => asked)).toEqual([
    ['The MCP server "odd" asks: Who says ann?'],
    ['The MCP server "odd" asks: Who says bob?'],
  ])
  expect(results.map(({ calls }) => calls[0])).toEqual([
    expect.stringContaining('ann says it') as string,
    expect.stringContaining('bob says it') as string,
  ])
  expect(servers.status()).toMatchObject([{ connections: 2 }])
})

test('a question that the user declines is told to the server', async () => {
  const { servers } = serve('asks')
  const { calls } = await callTools(servers, [['echo', { text: 'a' }]])
  expect(calls).toEqual([expect.stringContaining('decline') as string])
})

test('a question that nobody can be asked is cancelled, not declined', async () => {
  const { servers } = serve('asks')
  const host = createMcpHost(servers, [['echo', { text: 'a' }]])
  const results: unknown[] = []
  for await (const event of (await host.session('one')).send('Go.', { asks: false }))
    if (event.type === 'call' && event.call.result) results.push(event.call.result)
  await host.stop()
  expect(results).toMatchObject([{ content: [{ text: '{"action":"cancel"}' }] }])
})

test('without a session and a call for five minutes, the server is left', async () => {
  const { servers, pass } = serve('plain')
  await callTools(servers, [['echo', { text: 'a' }]])
  expect(servers.status()).toMatchObject([{ state: 'connected' }])
  pass(300_000)
  await expect.poll(() => servers.status()).toMatchObject([{ state: 'idle' }])
  const { calls } = await callTools(servers, [['echo', { text: 'b' }]], { id: 'two' })
  expect(calls).toEqual(['echo ok: [{"type":"text","text":"b"}]'])
})
