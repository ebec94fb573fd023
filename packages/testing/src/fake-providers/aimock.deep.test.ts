// Turns of the local host against aimock, a third-party mock server, in each protocol that both support: it parses our
// requests into messages of a common shape, which are compared. It rejects almost nothing, hides signatures and
// encrypted reasoning of a request, cuts Gemini only between parts, and ends Gemini's calls with FUNCTION_CALL, which
// Gemini does not have: calls of such an answer are not executed (pinned below), so the other fixtures set its real
// reason.
import type { JsonObject, Model, ModelEvent } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { Fact, FactOf, SessionRecord } from '@baton/core/machine'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { createModelOf } from '@baton/models/choose-model'
import { createUndiciTransport } from '@baton/models/transport/undici'
import type { ChatCompletionRequest, ChatMessage, FixtureResponse } from '@copilotkit/aimock'
import { LLMock } from '@copilotkit/aimock'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const KEY = 'key-of-a-test'
interface Server {
  readonly modelId: string
  readonly variables: (url: string) => Readonly<Record<string, string>>
  /**
   * Cuts an answer of a short text and a call after this many events: within the call's arguments, or within the text
   * for Google.
   */
  readonly cutAfter: number
}

const SERVERS: Readonly<Record<string, Server>> = {
  anthropic: {
    modelId: 'anthropic/claude-sonnet-4-5',
    variables: (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url }),
    cutAfter: 9,
  },
  openai: {
    modelId: 'openai/gpt-5-mini',
    variables: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` }),
    cutAfter: 15,
  },
  'openai-chat': {
    modelId: 'openai-chat/gpt-4.1',
    variables: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` }),
    cutAfter: 7,
  },
  gemini: {
    modelId: 'gemini/gemini-3-pro-preview',
    variables: (url) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url }),
    cutAfter: 2,
  },
  vertex: {
    modelId: 'gemini/gemini-2.5-flash',
    variables: (url) => ({
      GOOGLE_CLOUD_PROJECT: 'p-1',
      GOOGLE_CLOUD_LOCATION: 'europe-west4',
      GOOGLE_CLOUD_ACCESS_TOKEN: KEY,
      GOOGLE_GEMINI_BASE_URL: url,
    }),
    cutAfter: 2,
  },
  bedrock: {
    modelId: 'bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0',
    variables: (url) => ({ AWS_BEARER_TOKEN_BEDROCK: KEY, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url }),
    cutAfter: 9,
  },
}
const NAMES = Object.keys(SERVERS)
const isGoogle = (name: string): boolean => name === 'gemini' || name === 'vertex'

/** A server's answer, independent of the protocol. */
interface Said {
  readonly reasoning?: string
  readonly text?: string
  /** Matches part of the tool's name. */
  readonly calls?: readonly { readonly tool: RegExp; readonly input: JsonObject }[]
}

interface Party {
  readonly name: string
  readonly mock: LLMock
  readonly model: Model
  /** The next answers; a short text once it is empty. */
  readonly queue: (Said | FixtureResponse)[]
  /** Requests as parsed by aimock. */
  readonly asked: ChatCompletionRequest[]
}

// Idle connections are not reused: a machine that pauses for seconds would run into the servers closing them after
// five.
const transport = createUndiciTransport({ variables: {}, keepAliveMs: 1 })
const parties = new Map<string, Party>()
const counts = { turns: 0, retries: 0, cuts: 0, handOffs: 0 }

async function startParty(name: string): Promise<Party> {
  const mock = new LLMock({ port: 0, chunkSize: 7 })
  const queue: Party['queue'] = []
  const asked: ChatCompletionRequest[] = []
  mock.on({ predicate: () => true }, (request) => {
    asked.push(structuredClone(request))
    return responseTo(queue.shift() ?? { text: 'Fine.' }, request, isGoogle(name) ? { finishReason: 'stop' } : {})
  })
  const url = await mock.start()
  const server = readServer(name)
  const { clock } = createNodeEnvironment(transport)
  const model = createModelOf({ variables: server.variables(url), transport, clock })(server.modelId)
  return { name, mock, model, queue, asked }
}

function responseTo(said: Said | FixtureResponse, request: ChatCompletionRequest, end: object): FixtureResponse {
  if ('error' in said) return said
  const { reasoning, text, calls } = said as Said
  const toolCalls = calls?.map(({ tool: like, input }) => ({
    name: request.tools?.find((each) => like.test(each.function.name))?.function.name ?? 'not offered',
    arguments: JSON.stringify(input),
  }))
  const thought = reasoning === undefined ? {} : { reasoning }
  if (toolCalls && text !== undefined) return { content: text, toolCalls, ...thought, ...end }
  return toolCalls ? { toolCalls, ...thought, ...end } : { content: text ?? '', ...thought }
}

function readServer(name: string): Server {
  const server = SERVERS[name]
  if (!server) throw new Error(`no server is named ${name}`)
  return server
}

function findParty(name: string): Party {
  const party = parties.get(name)
  if (!party) throw new Error(`${name} was not started`)
  return party
}

beforeAll(async () => {
  for (const name of NAMES) parties.set(name, await startParty(name))
})
afterAll(async () => {
  const requests = [...parties.values()].reduce((sum, { mock }) => sum + mock.getRequests().length, 0)
  await transport.close()
  for (const { mock } of parties.values()) await mock.stop()
  const { turns, retries, cuts, handOffs } = counts
  console.log(
    `aimock: ${NAMES.length} protocols, ${requests} requests, ${turns} turns, ${retries} retries after a 429, ` +
      `${cuts} cut streams, ${handOffs} hand-offs between ${NAMES.length * (NAMES.length - 1)} pairs`,
  )
})

const look = tool({
  name: 'sky.look',
  description: 'Looks at a place',
  input: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  effect: 'pure',
  execute: (input) => `blue over ${(input as { readonly place: string }).place}`,
})

/** A session of the local host, and the contents of its log. */
async function open(models: readonly Model[]) {
  const store = createMemoryStore()
  const agent = defineAgent({
    name: 'aimock',
    instructions: 'Be brief.',
    model: models,
    tools: [look],
    settings: { reasoningTokens: 1024, maxOutputTokens: 4096 },
    retry: { attempts: 2, baseMs: 1 },
  })
  const host = createHost({ agent, store })
  const session = await host.session('s')
  const records = async (): Promise<readonly SessionRecord[]> => {
    const all: SessionRecord[] = []
    for await (const record of store.read('s', 0)) all.push(record)
    return all
  }
  return { session, records, [Symbol.asyncDispose]: () => host.stop() }
}

function listFacts<T extends Fact['type']>(records: readonly SessionRecord[], type: T): readonly FactOf<T>[] {
  return records.flatMap(({ facts }) => facts).filter((fact): fact is FactOf<T> => fact.type === type)
}

/** The conversation as aimock parsed its last request: one entry per text, call and result; calls by position. */
function listConversation({ asked }: Party): readonly (readonly unknown[])[] {
  // Google's calls have no ids here; aimock renumbers them in each message.
  const ids: string[] = []
  return (asked.at(-1)?.messages ?? []).flatMap((message) => {
    const text = readText(message)
    if (message.role === 'tool')
      return [['result of call', ids.lastIndexOf(message.tool_call_id ?? ''), readOutput(text)]]
    const calls = (message.tool_calls ?? []).map((call) => {
      ids.push(call.id)
      return ['call', call.function.name, JSON.parse(call.function.arguments) as unknown]
    })
    return [...(text === '' ? [] : [[message.role, text]]), ...calls]
  })
}

/** Gemini's results are objects. */
function readOutput(result: string): string {
  return result.startsWith('{"output":') ? (JSON.parse(result) as { readonly output: string }).output : result
}

function readText({ content }: ChatMessage): string {
  return typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('')
}

/** Wire name of `sky.look`: none of these protocols allows the dot. */
const WIRE_NAME = 'sky_-dot-look'
const SKY = { tool: /sky/, input: { place: 'the "sky" 🦀' } }
const SEA = { tool: /sky/, input: { place: 'the sea' } }

describe.each(NAMES)('%s', (name) => {
  test('a text, in pieces', async () => {
    const party = findParty(name)
    party.queue.push({ text: 'Hello to you, from a stream of many pieces. 🦀' })
    await using opened = await open([party.model])
    const turn = opened.session.send('Hello')
    const deltas: string[] = []
    for await (const event of turn) if (event.type === 'text') deltas.push(event.text)
    expect((await turn.answer).text).toBe('Hello to you, from a stream of many pieces. 🦀')
    expect(deltas.join('')).toBe('Hello to you, from a stream of many pieces. 🦀')
    expect(listConversation(party)).toEqual([
      ['system', 'Be brief.'],
      ['user', 'Hello'],
    ])
    counts.turns++
  })

  test('calls one after another', async () => {
    const party = findParty(name)
    party.queue.push({ text: 'One moment.', calls: [SKY] }, { calls: [SEA] }, { text: 'Both are blue.' })
    await using opened = await open([party.model])
    expect((await opened.session.send('Look').answer).text).toBe('One moment.\n\nBoth are blue.')
    expect(listConversation(party)).toEqual([
      ['system', 'Be brief.'],
      ['user', 'Look'],
      ['assistant', 'One moment.'],
      ['call', WIRE_NAME, SKY.input],
      ['result of call', 0, 'blue over the "sky" 🦀'],
      ['call', WIRE_NAME, SEA.input],
      ['result of call', 1, 'blue over the sea'],
    ])
    counts.turns++
  })

  test('parallel calls', async () => {
    const party = findParty(name)
    party.queue.push({ calls: [SKY, SEA, SKY] }, { text: 'All are blue.' })
    await using opened = await open([party.model])
    expect((await opened.session.send('Look').answer).text).toBe('All are blue.')
    expect(listConversation(party)).toEqual([
      ['system', 'Be brief.'],
      ['user', 'Look'],
      ['call', WIRE_NAME, SKY.input],
      ['call', WIRE_NAME, SEA.input],
      ['call', WIRE_NAME, SKY.input],
      ['result of call', 0, 'blue over the "sky" 🦀'],
      ['result of call', 1, 'blue over the sea'],
      ['result of call', 2, 'blue over the "sky" 🦀'],
    ])
    counts.turns++
  })

  test('a 429 is asked again once, and not before its retry-after', async () => {
    const party = findParty(name)
    party.queue.push(
      { error: { message: 'slow down', type: 'rate_limit_error' }, status: 429, retryAfter: 1 },
      { text: 'Now.' },
    )
    await using opened = await open([party.model])
    const before = party.mock.getRequests().length
    expect((await opened.session.send('Now?').answer).text).toBe('Now.')
    expect(
      party.mock
        .getRequests()
        .slice(before)
        .map(({ response }) => response.status),
    ).toEqual([429, 200])
    const records = await opened.records()
    const [superseded, ...others] = listFacts(records, 'attempt-superseded')
    expect(others).toEqual([])
    expect(superseded).toMatchObject({
      attempt: 1,
      reason: 'failed',
      error: { code: 'model_rate_limited', retryAfterMs: 1000 },
    })
    const failed = records.find(({ facts }) => facts.some((fact) => fact === superseded))
    expect(superseded?.retryAtMs).toBe((failed?.nowMs ?? 0) + 1000)
    expect(listFacts(records, 'step-finished')).toMatchObject([{ attempt: 2 }])
    counts.retries++
  })

  test('a stream that is cut: no call of it is executed, and the second attempt is the answer', async () => {
    const party = findParty(name)
    party.mock.prependFixture({
      match: { userMessage: 'cut', sequenceIndex: 0 },
      response: { content: 'Half of it.', toolCalls: [{ name: WIRE_NAME, arguments: JSON.stringify(SKY.input) }] },
      truncateAfterChunks: readServer(name).cutAfter,
      // Without this, aimock closes the connection before sending anything.
      latency: 5,
    })
    party.queue.push({ text: 'Whole.' })
    const before = party.mock.getRequests().length
    const attempts: ModelEvent['type'][][] = []
    const watched: Model = {
      ...party.model,
      run: (request, sink, signal) => {
        const events: ModelEvent['type'][] = []
        attempts.push(events)
        const noted = (event: ModelEvent): void => {
          events.push(event.type)
          sink(event)
        }
        return party.model.run(request, noted, signal)
      },
    }
    await using opened = await open([watched])
    expect((await opened.session.send('cut').answer).text).toBe('Whole.')
    expect(
      party.mock
        .getRequests()
        .slice(before)
        .map(({ response }) => response.interrupted === true),
    ).toEqual([true, false])
    expect(attempts[0]).toContain(isGoogle(name) ? 'text-delta' : 'call-delta')
    expect(attempts[0]).not.toContain('call-end')
    const records = await opened.records()
    const error = { code: 'model_network_failed', retryable: true }
    expect(listFacts(records, 'attempt-superseded')).toMatchObject([{ attempt: 1, reason: 'failed', error }])
    expect(listFacts(records, 'call-started')).toEqual([])
    counts.cuts++
  })
})

test.each(NAMES.filter(isGoogle))('%s: calls that end with the reason of another API are executed', async (name) => {
  const party = findParty(name)
  party.mock.prependFixture({
    match: { userMessage: 'end as you like', hasToolResult: false },
    response: { toolCalls: [{ name: WIRE_NAME, arguments: JSON.stringify(SKY.input) }] },
  })
  party.queue.push({ text: 'It was executed.' })
  await using opened = await open([party.model])
  expect((await opened.session.send('end as you like').answer).text).toBe('It was executed.')
  expect(listFacts(await opened.records(), 'call-started')).toHaveLength(1)
  counts.turns++
})

/** Answers of every source before another one takes over. */
const PAST: readonly Said[] = [
  { reasoning: 'Two places.', text: 'I look.', calls: [SKY, SEA] },
  { reasoning: 'Both are known.', text: 'Blue, twice.' },
]

test('one conversation, handed on by every protocol to every other one, is read alike by all', async () => {
  const read = new Map<string, unknown>()
  for (const source of parties.values())
    for (const target of parties.values()) {
      if (source === target) continue
      source.queue.push(...PAST)
      target.queue.push({ text: 'I know.' })
      await using opened = await open([source.model, target.model])
      const { session, records } = opened
      const first = session.send('Look twice')
      const reasoning: string[] = []
      for await (const event of first) if (event.type === 'reasoning') reasoning.push(event.text)
      expect((await first.answer).text).toBe('I look.\n\nBlue, twice.')
      expect({ source: source.name, reasoning: reasoning.join('') }).toEqual({
        source: source.name,
        reasoning: 'Two places.Both are known.',
      })
      expect((await session.send('And now?', { model: target.model.id }).answer).text).toBe('I know.')
      expect(listFacts(await records(), 'attempt-superseded')).toEqual([])
      read.set(`${source.name} → ${target.name}`, listConversation(target))
      counts.handOffs++
    }
  const told = [
    ['system', 'Be brief.'],
    ['user', 'Look twice'],
    ['assistant', 'I look.'],
    ['call', WIRE_NAME, SKY.input],
    ['call', WIRE_NAME, SEA.input],
    ['result of call', 0, 'blue over the "sky" 🦀'],
    ['result of call', 1, 'blue over the sea'],
    ['assistant', 'Blue, twice.'],
    ['user', 'And now?'],
  ]
  for (const [pair, conversation] of read) expect({ pair, conversation }).toEqual({ pair, conversation: told })
})
