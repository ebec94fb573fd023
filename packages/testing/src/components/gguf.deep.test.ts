// A real language model in this process, under the real host: tests the mechanics, not the quality of answers.
import type { ModelRequest, Session, SessionEvent } from '@baton/core'
import { defineAgent, readOutput, tool } from '@baton/core'
import type { LocalHost } from '@baton/host'
import { createHost } from '@baton/host'
import type { GgufModel } from '@baton/models/gguf'
import { loadGgufModel } from '@baton/models/gguf'
import { withPromptedTools } from '@baton/models/prompted'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { findGguf } from './gguf.ts'

const path = findGguf('conversations with a local model', console.warn)
const TIMEOUT_MS = 120_000

const place = {
  type: 'object',
  properties: { place: { type: 'string', enum: ['sky', 'sea'] }, deep: { type: 'boolean' } },
  required: ['place'],
  additionalProperties: false,
} as const

describe.skipIf(path === undefined)('a local model', () => {
  let model: GgufModel
  let host: LocalHost | undefined
  beforeAll(async () => {
    // One thread, since it shares the machine with other tests.
    model = await loadGgufModel(path ?? '', { threads: 1, contextTokens: 2048, waitingMax: 1 })
  }, TIMEOUT_MS)
  afterEach(() => host?.stop())
  afterAll(() => model.close())

  async function open(more: Partial<Parameters<typeof defineAgent>[0]>): Promise<Session> {
    const settings = { maxOutputTokens: 48, temperature: 0 }
    host = createHost({ agent: defineAgent({ name: 'local', model, settings, limits: { toolRounds: 1 }, ...more }) })
    return await host.session(undefined)
  }

  async function listEvents(events: AsyncIterable<SessionEvent>): Promise<readonly SessionEvent[]> {
    const seen: SessionEvent[] = []
    for await (const event of events) seen.push(event)
    return seen
  }

  test('streams its text, counts its tokens, and remembers the conversation', { timeout: TIMEOUT_MS }, async () => {
    const session = await open({ instructions: 'Answer in one word.' })
    const turn = session.send('What color is the sky?')
    const deltas = (await listEvents(turn)).flatMap((event) => (event.type === 'text' ? [event.text] : []))
    const { text, usage } = await turn.answer
    expect(deltas.join('')).toBe(text)
    expect(usage.outputTokens).toBeGreaterThan(0)
    expect((await session.send('And the grass?').answer).outcome).toBe('answered')
  })

  test(
    'calls a tool by grammar: its arguments fit the schema, and the turn goes on with the result',
    { timeout: TIMEOUT_MS },
    async () => {
      const given: unknown[] = []
      const look = tool({
        name: 'look.at',
        description: 'Looks at a place.',
        input: place,
        effect: 'pure',
        execute: (input) => {
          given.push(input)
          return 'It is blue.'
        },
      })
      const session = await open({ tools: [look], instructions: 'You look at places by the function.' })
      const turn = session.send('Look at the sky with the function now.')
      const events = await listEvents(turn)
      await turn.answer.catch(() => {}) // anything it says after the result is irrelevant here
      const proposed = events.flatMap((event) => (event.type === 'call' && event.call.result ? [event.call.name] : []))
      expect(proposed.every((name) => name === 'look.at')).toBe(true)
      expect(given).toHaveLength(proposed.length)
      for (const input of given) expect(['sky', 'sea']).toContain((input as { readonly place: string }).place)
    },
  )

  test.each([
    ['any', { type: 'any' }, ['look.at']],
    ['this one', { type: 'tool', name: 'look.at' }, ['say.it', 'look.at']],
  ] as const)(
    'a call that it must make, %s, is made by grammar',
    { timeout: TIMEOUT_MS },
    async (_, toolChoice, names) => {
      const request: ModelRequest = {
        instructions: 'You call functions.',
        messages: [{ role: 'user', parts: [{ type: 'text', text: 'Look around.' }] }],
        tools: names.map((name) => ({ name, description: 'Looks', inputSchema: place })),
        toolChoice,
        settings: { maxOutputTokens: 40 },
        session: 's',
      }
      const events: string[] = []
      const answer = await model.run(request, (event) => events.push(event.type), new AbortController().signal)
      const calls = answer.parts.flatMap((part) => (part.type === 'call' ? [JSON.parse(part.arguments)] : []))
      expect(answer).toMatchObject({ finish: 'tool-calls', parts: [{ type: 'call', name: 'look.at' }] })
      expect(['sky', 'sea']).toContain(calls[0].place)
      expect([events[0], events.at(-1)]).toEqual(['call-start', 'call-end'])
      expect(new Set(events.slice(1, -1))).toEqual(new Set(['call-delta']))
    },
  )

  test('gives a typed answer by grammar', { timeout: TIMEOUT_MS }, async () => {
    const agent = defineAgent({
      name: 'judge',
      output: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
    })
    const session = await open({ output: agent.output! })
    expect(readOutput(agent, await session.send('Is water wet? JSON.').answer)).toEqual({ ok: expect.any(Boolean) })
  })

  test('talks with prompted tools as well', { timeout: TIMEOUT_MS }, async () => {
    const look = tool({
      name: 'look',
      description: 'Looks.',
      input: { type: 'object' },
      effect: 'pure',
      execute: () => 'seen',
    })
    const session = await open({ tools: [look], model: withPromptedTools(model, { format: 'json-fence' }) })
    const turn = session.send('Say hello.')
    const events = await listEvents(turn)
    const said = events.map((event) => (event.type === 'text' ? event.text : '')).join('')
    expect(said).not.toContain('```tool_call')
    expect(events.at(-1)?.type).toBe('turn-finished')
  })

  test('stops in mid-token when it is interrupted, and answers the next one', { timeout: TIMEOUT_MS }, async () => {
    const session = await open({ settings: { maxOutputTokens: 1000, temperature: 0 } })
    const turn = session.send('Tell a long story.')
    for await (const event of turn) if (event.type === 'text') break
    await session.interrupt()
    expect((await turn.answer).outcome).toBe('interrupted')
    const request = {
      instructions: '',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      tools: [],
      toolChoice: { type: 'none' },
      settings: { maxOutputTokens: 4 },
      session: 's',
    } as const
    expect((await model.run(request, () => {}, new AbortController().signal)).usage.outputTokens).toBeLessThan(10)
  })

  test('requests wait for each other, and too many are refused at once', { timeout: TIMEOUT_MS }, async () => {
    const request = {
      instructions: '',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      tools: [],
      toolChoice: { type: 'none' },
      settings: { maxOutputTokens: 4 },
      session: 's',
    } as const
    const ask = () =>
      model
        .run(request, () => {}, new AbortController().signal)
        .then(
          () => 'answered',
          (cause: { readonly code: string }) => cause.code,
        )
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(['answered', 'answered', 'model_overloaded'])
  })
})
