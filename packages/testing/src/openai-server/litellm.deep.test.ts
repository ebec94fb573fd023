// Turns of the local host through the third-party LiteLLM proxy: Baton speaks Chat Completions or Responses to it, and
// it calls our fakes of Anthropic, OpenAI and Gemini, which reject what the real ones reject.
import type { Model } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { Fact, FactOf, SessionRecord } from '@baton/core/machine'
import { createHost, createMemoryStore, createNodeEnvironment } from '@baton/host'
import { createModelOf } from '@baton/models/choose-model'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Behind } from './behind.ts'
import { startClaude, startGemini, startGpt, startGptResponses } from './behind.ts'
import type { LiteLlm } from './litellm.ts'
import { findLiteLlm, startLiteLlm } from './litellm.ts'

const program = findLiteLlm('turns through LiteLLM’s proxy', console.warn)
const STARTING_MS = 180_000

/** The protocol that Baton speaks, and the model behind the proxy. */
const WAYS = [
  ['openai-compatible', 'claude-sonnet-4-5'],
  ['openai-compatible', 'gpt-4.1'],
  ['openai-compatible', 'gemini-2.5-flash'],
  ['openai', 'gpt-5-mini'],
  ['openai', 'claude-sonnet-4-5'],
  ['openai', 'gemini-2.5-flash'],
] as const

const LONG = 'A text that is long enough to be in its middle after eight pieces of seven characters, in every protocol.'

describe.skipIf(program === undefined)('through LiteLLM’s proxy', () => {
  const transport = createUndiciTransport({ variables: {} })
  const behind = new Map<string, Behind>()
  const counts = { turns: 0, retries: 0, cuts: 0, aborts: 0 }
  let proxy: LiteLlm | undefined
  let modelOf: (id: string) => Model
  let ends: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    for (const start of [startClaude, startGpt, startGptResponses, startGemini]) {
      const server = await start()
      behind.set(server.name, server)
    }
    proxy = await startLiteLlm(
      program ?? '',
      [...behind.values()].map(({ place }) => place),
    )
    modelOf = makeModelOf(proxy.key)
  }, STARTING_MS)
  afterEach(async () => {
    for (const end of ends.reverse()) await end()
    ends = []
    const wrong = [...behind.values()].flatMap(({ name, queue, takeRefusals }) => [
      ...queue.splice(0).map((said) => `${name} was not asked for ${JSON.stringify(said)}`),
      ...takeRefusals().map((message) => `${name} refused: ${message}`),
    ])
    if (wrong.length > 0) throw new Error(wrong.join('\n'))
  })
  afterAll(async () => {
    await transport.close()
    await proxy?.close()
    const servers = [...behind.values()]
    for (const server of servers) await server.close()
    const requests = servers.reduce((sum, { asked }) => sum + asked.length, 0)
    const { turns, retries, cuts, aborts } = counts
    console.log(
      `LiteLLM: ${WAYS.length} ways, ${requests} requests behind it, ${turns} turns, ${retries} retries after a 429, ` +
        `${cuts} cut streams, ${aborts} aborts`,
    )
  })

  function makeModelOf(key: string): (id: string) => Model {
    const { clock } = createNodeEnvironment(transport)
    return createModelOf({ variables: { OPENAI_BASE_URL: proxy?.url, OPENAI_API_KEY: key }, transport, clock })
  }

  function find(name: string): Behind {
    const server = behind.get(name)
    if (!server) throw new Error(`${name} was not started`)
    return server
  }

  /** A session with a tool, and the contents of its log. */
  async function open(model: Model, settings: Parameters<typeof defineAgent>[0]['settings'] = {}) {
    const look = tool({
      name: 'sky.look',
      description: 'Looks at a place',
      input: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
      effect: 'pure',
      execute: (input) => `blue over ${(input as { readonly place: string }).place}`,
    })
    const store = createMemoryStore()
    const agent = defineAgent({
      name: 'proxied',
      instructions: 'Be brief.',
      model,
      tools: [look],
      settings,
      retry: { attempts: 2, baseMs: 1 },
    })
    const host = createHost({ agent, store })
    ends.push(() => host.stop())
    const facts = async (): Promise<readonly Fact[]> => {
      const all: SessionRecord[] = []
      for await (const record of store.read('s', 0)) all.push(record)
      return all.flatMap((record) => record.facts)
    }
    counts.turns++
    return { session: await host.session('s'), facts }
  }

  describe.each(WAYS)('%s/%s', (protocol, name) => {
    const id = `${protocol}/${name}`

    test('calls one after another, and a text in pieces', async () => {
      const server = find(name)
      server.queue.push({ text: 'I look.', places: ['the "sky" 🦀'] }, { places: ['the sea'] }, { text: LONG })
      const { session } = await open(modelOf(id))
      const turn = session.send('Look')
      const deltas: string[] = []
      for await (const event of turn) if (event.type === 'text') deltas.push(event.text)
      const { text, usage } = await turn.answer
      expect(text).toBe(`I look.\n\n${LONG}`)
      expect(deltas.join('')).toBe(`I look.${LONG}`)
      expect(usage).toMatchObject({ inputTokens: expect.any(Number), outputTokens: expect.any(Number) })
      expect(server.asked.slice(-3).map(({ results }) => results)).toEqual([
        [],
        ['blue over the "sky" 🦀'],
        ['blue over the sea'],
      ])
    })

    test('parallel calls', async () => {
      const server = find(name)
      server.queue.push({ places: ['sky', 'sea', 'hill'] }, { text: 'All are blue.' })
      const { session } = await open(modelOf(id))
      expect((await session.send('Look').answer).text).toBe('All are blue.')
      expect(server.asked.at(-1)?.results).toEqual(['blue over sky', 'blue over sea', 'blue over hill'])
    })

    test('a 429 is asked again once, and not before its retry-after', async () => {
      find(name).queue.push('busy', { text: 'Now.' })
      const { session, facts } = await open(modelOf(id))
      expect((await session.send('Now?').answer).text).toBe('Now.')
      const error = { code: 'model_rate_limited', retryAfterMs: 1000 }
      expect(listFacts(await facts(), 'attempt-superseded')).toMatchObject([{ attempt: 1, reason: 'failed', error }])
      expect(listFacts(await facts(), 'step-finished')).toMatchObject([{ attempt: 2 }])
      counts.retries++
    })

    test.each([
      ['overflow', 'context_overflow'],
      ['wrong key', 'model_auth_failed'],
    ] as const)('%s of the provider is %s, and not asked again', async (refusal, code) => {
      find(name).queue.push(refusal)
      const { session } = await open(modelOf(id))
      await expect(session.send('Now?').answer).rejects.toMatchObject({ code })
    })

    test('an overloaded provider is asked again', async () => {
      find(name).queue.push('overloaded', { text: 'Now.' })
      const { session, facts } = await open(modelOf(id))
      expect((await session.send('Now?').answer).text).toBe('Now.')
      // For a response converted from another protocol's answer, the proxy reports only `server_error`.
      const isMade = protocol === 'openai' && name.startsWith('gemini')
      const error = { code: isMade ? 'model_provider_failed' : 'model_overloaded', retryable: true }
      expect(listFacts(await facts(), 'attempt-superseded')).toMatchObject([{ attempt: 1, reason: 'failed', error }])
    })

    test('a stream that is cut: no call of it is executed, and the second attempt is the answer', async () => {
      find(name).queue.push({ text: LONG, places: ['sky'], isCut: true }, { text: 'Whole.' })
      const { session, facts } = await open(modelOf(id))
      expect((await session.send('Look').answer).text).toBe('Whole.')
      const error = { code: 'model_provider_failed', retryable: true }
      expect(listFacts(await facts(), 'attempt-superseded')).toMatchObject([{ attempt: 1, reason: 'failed', error }])
      expect(listFacts(await facts(), 'call-started')).toEqual([])
      counts.cuts++
    })

    test('an interrupt closes the connection of the server behind the proxy', async () => {
      const server = find(name)
      server.queue.push({ text: LONG, stalls: true }, { text: 'Here.' })
      const { session } = await open(modelOf(id))
      const before = server.aborted()
      const turn = session.send('Tell')
      for await (const event of turn) if (event.type === 'text') break
      await session.interrupt()
      expect((await turn.answer).outcome).toBe('interrupted')
      await expect.poll(() => server.aborted() - before).toBe(1)
      expect((await session.send('Are you there?').answer).text).toBe('Here.')
      counts.aborts++
    })
  })

  test.each(['openai-compatible', 'openai'])('%s: a key that the proxy does not know', async (protocol) => {
    const { session } = await open(makeModelOf('sk-of-somebody-else')(`${protocol}/claude-sonnet-4-5`))
    await expect(session.send('Now?').answer).rejects.toMatchObject({ code: 'model_auth_failed' })
  })

  test.each(['openai-compatible', 'openai'])('%s: a model that the proxy does not know', async (protocol) => {
    const { session } = await open(modelOf(`${protocol}/nobody`))
    await expect(session.send('Now?').answer).rejects.toMatchObject({ code: 'model_not_found' })
  })

  test('thoughts of Claude are shown, and go back signed with its calls', async () => {
    const server = find('claude-sonnet-4-5')
    server.queue.push({ reasoning: 'I must look.', text: 'I look.', places: ['sky'] }, { text: 'Blue.' })
    const { session } = await open(modelOf('openai-compatible/claude-sonnet-4-5'), {
      effort: 'low',
      maxOutputTokens: 4096,
    })
    const turn = session.send('Look')
    const thoughts: string[] = []
    for await (const event of turn) if (event.type === 'reasoning') thoughts.push(event.text)
    expect((await turn.answer).text).toBe('I look.\n\nBlue.')
    expect(thoughts.join('')).toBe('I must look.')
    expect(JSON.stringify(server.asked.at(-1)?.body)).toContain('"thinking":"I must look."')
  })

  test('the signature of Gemini goes back with its call', async () => {
    const server = find('gemini-2.5-flash')
    server.queue.push({ places: ['sky'] }, { text: 'Blue.' })
    const { session } = await open(modelOf('openai-compatible/gemini-2.5-flash'))
    expect((await session.send('Look').answer).text).toBe('Blue.')
    expect(JSON.stringify(server.asked.at(-1)?.body)).toMatch(/"thought_?signature":"signature-of-answer-/i)
  })
})

function listFacts<T extends Fact['type']>(facts: readonly Fact[], type: T): readonly FactOf<T>[] {
  return facts.filter((fact): fact is FactOf<T> => fact.type === type)
}
