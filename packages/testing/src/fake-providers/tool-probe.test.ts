// Servers that support, omit or reject tools, over real HTTP under the host: turns with tools work on all of them, and
// the log is the same.
import { defineAgent, tool } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { canonicalLog } from '@baton/core/machine'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { createModelOf } from '@baton/models/choose-model'
import { COMPATIBLE_QUIRKS, createOpenAiChatModel } from '@baton/models/openai-chat'
import type { ToolProbeOptions } from '@baton/models/internal'
import { describeToolVerdict, withToolProbe } from '@baton/models/internal'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { afterEach, expect, test, vi } from 'vitest'
import type { FakeOpenAiChatOptions } from './fake-openai-chat.ts'
import { startFakeOpenAiChat } from './fake-openai-chat.ts'
import type { FakeAnswer, FakeRequest } from './fake-server.ts'

let ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const end of ends.reverse()) await end()
  ends = []
})

const look = tool({
  name: 'sky.look',
  description: 'Looks at a place',
  input: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  effect: 'pure',
  execute: (input) => `blue over ${(input as { readonly place: string }).place}`,
})

interface Setup extends Pick<FakeOpenAiChatOptions, 'tools' | 'script'> {
  /** Options with which the library creates the model. */
  readonly options?: ToolProbeOptions
}

/** A host with a model of an Ollama that behaves as scripted. */
async function setUp({ tools = 'native', script, options }: Setup) {
  const server = await startFakeOpenAiChat({ tools, script })
  const transport = createUndiciTransport({ variables: {} })
  const { clock } = createNodeEnvironment(transport)
  const variables = { OLLAMA_BASE_URL: server.url, OLLAMA_API_KEY: 'key-of-a-test' }
  const found: string[] = []
  const onToolVerdict: Parameters<typeof createModelOf>[0]['onToolVerdict'] = (verdict, model) =>
    found.push(describeToolVerdict(model, verdict))
  const plain = { model: 'gemma', apiKey: 'key-of-a-test', baseUrl: server.url, quirks: COMPATIBLE_QUIRKS }
  const model = options
    ? withToolProbe(createOpenAiChatModel({ ...plain, transport, clock }), options)
    : createModelOf({ variables, transport, clock, onToolVerdict })('ollama/small')
  const store = createMemoryStore()
  const host = createHost({
    agent: defineAgent({ name: 'a', model, tools: [look], retry: { attempts: 1 } }),
    store,
  })
  ends.push(server.close, transport.close, () => host.stop())
  const createLog = async (session: string): Promise<unknown> => {
    const records: SessionRecord[] = []
    for await (const record of store.read(session, 0)) records.push(record)
    // Sizes differ, since the tools are in a different place, and so does a provider's state: words have none.
    const marks = new Set(['chars', 'state'])
    const kept = JSON.stringify(canonicalLog(records), (key, value: unknown) => (marks.has(key) ? undefined : value))
    return JSON.parse(kept)
  }
  const probes = (): number => server.requests.filter(({ isToolProbe }) => isToolProbe).length
  return { server, host, found, createLog, probes, session: await host.session('s') }
}

function written(place: string): string {
  return `<tool_call>\n${JSON.stringify({ name: 'sky.look', arguments: { place } })}\n</tool_call>`
}

const PLACES = ['the sea', 'the "city" 🦀']

/** A model trained for calls: through the server if that offers tools, in words if the prompt explains how. */
function taught(request: FakeRequest): FakeAnswer {
  const said = JSON.stringify(request.body['messages'])
  const hasTools = request.body['tools'] !== undefined
  if (request.isToolProbe && hasTools)
    return { calls: [{ name: request.toolLike(/repeat/), input: { word: 'copper' } }] }
  if (request.isToolProbe) return { text: 'I do not know that tool.' }
  if (said.includes('blue over the sea') && said.includes('🦀')) return { text: 'Both are blue.' }
  if (hasTools)
    return { text: 'I look.', calls: PLACES.map((place) => ({ name: request.toolLike(/sky/), input: { place } })) }
  const isTold = said.includes('<tool_call></tool_call>')
  return { text: isTold ? `I look.\n${PLACES.map(written).join('\n')}` : 'I would need a tool for that.' }
}

const IN_WORDS = 'so tools are described in the prompt (hermes)'

test('a turn with tools leaves the same log on a server that takes tools, ignores them or refuses them', async () => {
  const logs: unknown[] = []
  for (const [tools, line, requests, refusals] of [
    ['native', 'the server supports tools', 3, 0],
    ['ignored', `the server ignores tools, ${IN_WORDS}`, 3, 0],
    ['refused', `the server rejects tools, ${IN_WORDS}`, 2, 1],
  ] as const) {
    const { session, server, found, createLog } = await setUp({ tools, script: taught })
    expect((await session.send('Look twice', { inputId: 'i' }).answer).text).toBe('I look.\n\nBoth are blue.')
    expect([found, server.requests.length, server.refusals.length]).toEqual([
      [`ollama/small: ${line}`],
      requests,
      refusals,
    ])
    logs.push(await createLog('s'))
  }
  expect(JSON.stringify(logs[0])).toContain('blue over the sea')
  expect([logs[1], logs[2]]).toEqual([logs[0], logs[0]])
})

test('sessions that begin at once wait for one probe, and later ones for none', async () => {
  const { session, host, probes } = await setUp({ tools: 'ignored', script: taught })
  const other = await host.session('other')
  const answers = await Promise.all([session.send('Look').answer, other.send('Look').answer])
  const later = await (await host.session('later')).send('Look').answer
  expect([...answers, later].map(({ text }) => text)).toEqual(Array(3).fill('I look.\n\nBoth are blue.'))
  expect(probes()).toBe(1)
})

test('an interrupt while the probe hangs closes its connection and decides nothing', async () => {
  const { session, server, probes, found } = await setUp({
    tools: 'ignored',
    script: (request) => (request.index === 0 ? { text: 'I do not', stallAfter: 2 } : taught(request)),
  })
  const turn = session.send('Look')
  await expect.poll(probes).toBe(1)
  await session.interrupt()
  expect((await turn.answer).outcome).toBe('interrupted')
  await expect.poll(server.aborted).toBe(1)
  expect(found).toEqual([])
  expect((await session.send('Look').answer).text).toBe('I look.\n\nBoth are blue.')
  expect([probes(), found.length]).toEqual([2, 1])
})

test('a connection that breaks during the probe decides nothing: the turn goes on, and the next one probes', async () => {
  const { session, server, probes, found } = await setUp({
    tools: 'ignored',
    script: (request) => (request.index === 0 ? { text: 'I do not', cutAfter: 2 } : taught(request)),
  })
  expect((await session.send('Look').answer).text).toBe('I would need a tool for that.')
  expect([probes(), server.requests.length, found]).toEqual([1, 2, []])
  expect((await session.send('Look').answer).text).toBe('I look.\n\nBoth are blue.')
  expect([probes(), found.length]).toEqual([2, 1])
})

test('a server that is too slow for the probe is asked as if it took tools', async () => {
  const deadline = new AbortController()
  const start = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(deadline.signal)
  const { session, server, probes } = await setUp({
    script: (request) => {
      if (!request.isToolProbe) return taught(request)
      deadline.abort(new DOMException('50 ms have passed', 'TimeoutError'))
      return { text: 'I', stallAfter: 1 }
    },
    options: { deadlineMs: 50 },
  })
  expect((await session.send('Look').answer).text).toBe('I look.\n\nBoth are blue.')
  expect(start).toHaveBeenCalledExactlyOnceWith(50)
  // The call that arrived shows that tools work.
  expect([probes(), server.requests.length]).toEqual([1, 3])
  await expect.poll(server.aborted).toBe(1)
})

test('a server that refuses the key says so to the turn', async () => {
  const { session, found } = await setUp({
    script: () => ({ status: 401, message: 'no such key', code: 'invalid_api_key' }),
  })
  await expect(session.send('Look').answer).rejects.toMatchObject({ code: 'model_auth_failed' })
  expect(found).toEqual([])
})

test('the probe is one small request: temperature 0, a harmless tool, and no tokens of a session', async () => {
  const { session, server } = await setUp({ tools: 'native', script: taught })
  const { usage } = await session.send('Look').answer
  const asked = server.requests.filter(({ isToolProbe }) => !isToolProbe).length
  const later = await session.send('Look').answer
  const probes = server.requests.filter(({ isToolProbe }) => isToolProbe)
  expect([probes.length, server.requests.length]).toEqual([1, 1 + asked + 1])
  expect(probes[0]?.body).toMatchObject({ temperature: 0, tools: [expect.anything()] })
  expect(Number(probes[0]?.body['max_tokens'] ?? probes[0]?.body['max_completion_tokens'])).toBeLessThanOrEqual(1024)
  // Each request costs the same here, and the second turn makes one.
  expect(usage.inputTokens).toBe(asked * (later.usage.inputTokens ?? 0))
})
