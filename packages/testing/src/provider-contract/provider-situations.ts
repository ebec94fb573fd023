// The contract of every model, for any provider: situations over real HTTP against a strict fake of the provider.
import type { BatonError, Model, ModelAnswer, ModelEvent, ModelRequest } from '@baton/core'
import { defineAgent, isBatonError, tool } from '@baton/core'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { expect } from 'vitest'
import type { FakeAnswer, FakeRequest, FakeSaid, FakeScript, FakeServer } from '../fake-providers/fake-server.ts'
import type { ModelPlace, ProviderKind } from './provider-kinds.test-kit.ts'

/** The stage of a situation. */
export interface ProviderStage {
  readonly kind: ProviderKind
  open(script: FakeScript, more?: Partial<ModelPlace>): Promise<OpenModel>
  /** Registered callbacks run at the end, last first. */
  onEnd(end: () => Promise<unknown>): void
}

interface OpenModel {
  readonly server: FakeServer
  readonly model: Model
}

type Act = (stage: ProviderStage) => Promise<void>

export async function playProvider(kind: ProviderKind, act: Act): Promise<void> {
  const ends: (() => Promise<unknown>)[] = []
  const transport = createUndiciTransport({ variables: {} })
  ends.push(transport.close)
  const { clock } = createNodeEnvironment(transport)
  try {
    await act({
      kind,
      onEnd: (end) => void ends.push(end),
      open: async (script, more = {}) => {
        const server = await kind.start(script)
        ends.push(server.close)
        const apiKey = kind.apiKey ?? 'key-of-a-test'
        return { server, model: kind.createModel({ url: server.url, apiKey, transport, clock, ...more }) }
      },
    })
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
const REQUEST: ModelRequest = {
  instructions: 'Be brief.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Wie groß?' }] }],
  tools: [
    { name: 'weather.now', description: 'The weather of a city', inputSchema: city },
    { name: 'clock.now', description: 'The time', inputSchema: { type: 'object', properties: {} } },
  ],
  toolChoice: { type: 'auto' },
  settings: { reasoningTokens: 2000, maxOutputTokens: 4096 },
  session: 's',
}

interface Asked {
  readonly outcome: ModelAnswer | BatonError
  readonly events: readonly ModelEvent[]
}

async function ask(model: Model, request = REQUEST, signal = new AbortController().signal): Promise<Asked> {
  const events: ModelEvent[] = []
  const outcome = await model
    .run(request, (event) => void events.push(event), signal)
    .catch((thrown: unknown) => (isBatonError(thrown) ? thrown : Promise.reject(thrown as Error)))
  return { outcome, events }
}

async function fail(model: Model): Promise<BatonError> {
  const { outcome } = await ask(model)
  if (!isBatonError(outcome)) throw new Error(`got an answer instead of an error: ${JSON.stringify(outcome)}`)
  return outcome
}

/** Reasoning, text with a 4-byte character, a call with quotes in it and one without arguments. */
function sayAll({ toolLike }: FakeRequest): FakeSaid {
  const calls = [
    { name: toolLike(/weather/), input: { city: 'Paris "x" 🦀' } },
    { name: toolLike(/clock/), input: {} },
  ]
  return { reasoning: 'Two calls it is.', text: 'Ich frage nach 🦀.', calls }
}

/** The parts without provider-specific state. */
function listPlain(outcome: ModelAnswer | BatonError): string | readonly (string | readonly string[])[] {
  if (isBatonError(outcome)) return outcome.code
  return outcome.parts.flatMap((part): readonly (string | readonly string[])[] => {
    if (part.type === 'text') return [part.text.trim()]
    return part.type === 'call' ? [[part.name, part.arguments]] : []
  })
}

const ALL = ['Ich frage nach 🦀.', ['weather.now', '{"city":"Paris \\"x\\" 🦀"}'], ['clock.now', '{}']]

function joinDeltas(events: readonly ModelEvent[]): string {
  return events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')
}

function expectNoKey(error: BatonError, { apiKey = 'key-of-a-test' }: ProviderKind): void {
  const all = [error.message, error.stack, JSON.stringify(error), String(error.cause)].join('\n')
  expect(all).not.toContain(apiKey)
}

/** Sends requests with the stream cut at each position in turn, until it is whole. */
async function cutEverywhere({ open }: ProviderStage, cut: 'cutAfter' | 'endAfter', last: number): Promise<string[]> {
  const codes: string[] = []
  let place = 0
  const { model, server } = await open((request) => ({ ...sayAll(request), [cut]: place }))
  for (; place <= last; place++) {
    const { outcome } = await ask(model)
    if (isBatonError(outcome)) expect([place, outcome.retryable]).toEqual([place, true])
    else expect([place, listPlain(outcome)]).toEqual([place, ALL])
    codes.push(isBatonError(outcome) ? outcome.code : 'whole')
    if (cut === 'cutAfter' && codes.at(-1) === 'whole') break
  }
  expect(server.refusals).toEqual([])
  return codes
}

const CLASSES: readonly (readonly [number, string, string, boolean])[] = [
  [400, 'something is wrong with messages.0', 'model_invalid_request', false],
  [400, 'Input is too long: maximum context length is 8192 tokens', 'context_overflow', false],
  [401, 'no such key', 'model_auth_failed', false],
  [404, 'there is no such model', 'model_not_found', false],
  [429, 'too many requests', 'model_rate_limited', true],
  [500, 'oops', 'model_provider_failed', true],
  [503, 'later', 'model_overloaded', true],
  [529, 'Overloaded', 'model_overloaded', true],
]

/** State under each name that a provider uses for its own. */
const MARKS = ['id', 'signature', 'thoughtSignature', 'encrypted', 'encrypted_content', 'redactedContent', 'field']
const FOREIGN = {
  provider: 'elsewhere',
  model: 'm',
  data: Object.fromEntries(MARKS.map((mark) => [mark, `foreign-${mark}`])),
}

export const PROVIDER_SITUATIONS: Readonly<Record<string, Act>> = {
  'parallel and sequential calls, one that fails, and a second turn on the same history': async (stage) => {
    const { kind, open, onEnd } = stage
    const ran: string[] = []
    const weather = tool({
      name: 'weather.now',
      description: 'The weather of a city',
      input: city,
      effect: 'pure',
      execute: (input) => {
        const { city: where } = input as { readonly city: string } // per its schema
        ran.push(where)
        if (where === 'Atlantis') throw new Error('there is no such city')
        return `15 °C in ${where}`
      },
    })
    const { model, server } = await open(({ index, toolLike, results }) => {
      if (index > 2) return { text: 'As I said.' }
      const callFor = (where: string) => ({ name: toolLike(/weather/), input: { city: where } })
      if (index === 2) return { reasoning: 'All are known.', text: `Say: ${results.join(' and ')}.` }
      if (index === 1) return { reasoning: 'One more.', text: results.join(' and '), calls: [callFor('Atlantis')] }
      return { reasoning: 'Two.', text: 'One moment.', calls: [callFor('Berlin'), callFor('Paris "x" 🦀')] }
    })
    const agent = defineAgent({ name: 'a', model, tools: [weather], settings: REQUEST.settings })
    const host = createHost({ agent })
    onEnd(() => host.stop())
    const session = await host.session('s')
    const turn = session.send('How is the weather?')
    const deltas: string[] = []
    for await (const event of turn) if (event.type === 'text') deltas.push(event.text)
    const { text, usage } = await turn.answer
    expect(text).toMatch(
      /^One moment\.\s+15 °C in Berlin and 15 °C in Paris "x" 🦀\s+Say: .*there is no such city.*\.$/s,
    )
    expect(deltas.join('').replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''))
    expect(usage.inputTokens).toBeGreaterThan(0)
    expect(ran).toEqual(['Berlin', 'Paris "x" 🦀', 'Atlantis'])
    expect((await session.send('And now?').answer).text).toBe('As I said.')
    expect([server.refusals, server.requests.length]).toEqual([[], 4])
    const last = JSON.stringify(server.requests[3]?.body)
    for (const index of [0, 1]) if (kind.replays) expect(last).toContain(kind.replays(index))
  },

  'an answer comes in pieces, and whole at the end': async ({ open, kind }) => {
    const { model, server } = await open(sayAll)
    const { outcome, events } = await ask(model)
    expect(listPlain(outcome)).toEqual(ALL)
    expect(outcome).toMatchObject({ finish: 'tool-calls' })
    if (!kind.isBridge) expect(outcome).toMatchObject({ requestId: expect.stringMatching(/-0$|_0$/) })
    expect(joinDeltas(events).trim()).toBe('Ich frage nach 🦀.')
    expect(events.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(1)
    const started = events.flatMap((event) => (event.type === 'call-start' ? [[event.index, event.name]] : []))
    expect(started).toEqual([
      [0, 'weather.now'],
      [1, 'clock.now'],
    ])
    expect(server.refusals).toEqual([])
  },

  'a stream that breaks or ends is an error at every place, or nothing is missing': async (stage) => {
    const { codeInStream } = stage.kind
    const broken = await cutEverywhere(stage, 'cutAfter', 200)
    const places = broken.length - 1
    expect([places > 5, broken.at(-1), new Set(broken.slice(0, -1))]).toEqual([
      true,
      'whole',
      new Set([codeInStream ?? 'model_network_failed']),
    ])
    const ended = await cutEverywhere(stage, 'endAfter', places)
    const lost = ended.lastIndexOf(codeInStream ?? 'model_cut_off') + 1
    expect(lost).toBeGreaterThan(places - 4)
    expect([...new Set(ended.slice(0, lost)), ...new Set(ended.slice(lost))]).toEqual([
      codeInStream ?? 'model_cut_off',
      'whole',
    ])
  },

  'errors come as their class, once': async ({ open, kind }) => {
    for (const [status, message, code, retryable] of CLASSES) {
      const { model, server } = await open(() => ({ status, message, retryAfter: 7 }))
      const error = await fail(model)
      const told = { code: error.code, retryable: error.retryable, status: error.data?.['status'] }
      expect(told).toEqual({ code, retryable, status })
      if (code === 'model_rate_limited') expect(error.data).toMatchObject({ retryAfterMs: 7000 })
      if (!kind.isBridge && server.requests.length > 0) expect(error.message).toContain(message)
      expect(server.requests).toHaveLength(1)
    }
  },

  'an error inside of a stream is no answer': async ({ open, kind }) => {
    const fails = { status: 503, message: 'busy', code: 'server_is_overloaded' }
    const { model } = await open(() => ({ text: 'Half an answer', fails }))
    const { outcome, events } = await ask(model)
    expect(listPlain(outcome)).toBe(kind.codeInStream ?? 'model_overloaded')
    expect('Half an answer'.startsWith(joinDeltas(events))).toBe(true)
  },

  'a key that is refused is said at once': async ({ open }) => {
    const { model, server } = await open(sayAll, { apiKey: 'bad' })
    expect(await fail(model)).toMatchObject({ code: 'model_auth_failed', retryable: false })
    expect([server.refusals.length, server.requests]).toEqual([1, []])
  },

  'an abort closes the connection': async ({ open }) => {
    const { model, server } = await open(() => ({ text: 'A long story. '.repeat(9), stallAfter: 9 }))
    const aborter = new AbortController()
    const running = model.run(REQUEST, (event) => event.type === 'text-delta' && aborter.abort(), aborter.signal)
    await expect(running).rejects.toMatchObject({ code: 'cancelled' })
    await expect.poll(server.aborted).toBe(1)
    const { outcome } = await ask(model, REQUEST, aborter.signal)
    expect([listPlain(outcome), server.requests.length]).toEqual(['cancelled', 1])
  },

  'an answer above its bound is given up, and is not asked for again': async ({ open }) => {
    const script = () => ({ text: 'It never ends. '.repeat(20), stallAfter: 30 })
    const { model, server } = await open(script, { answerLengthMax: 40 })
    expect(await fail(model)).toMatchObject({ code: 'model_malformed_answer', retryable: false })
    await expect.poll(server.aborted).toBe(1)
  },

  'a history of another provider goes without what only that one understands': async ({ open }) => {
    const { model, server } = await open(() => ({ text: 'Taken over.' }))
    const history: ModelRequest['messages'] = [
      ...REQUEST.messages,
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'Hm.', state: FOREIGN },
          { type: 'text', text: 'I look.', state: FOREIGN },
          { type: 'call', callId: 'call_1_0', name: 'weather.now', arguments: '{"city":"Oslo"}', state: FOREIGN },
          { type: 'call', callId: 'call_1_1', name: 'clock.now', arguments: '{}', state: FOREIGN },
        ],
      },
      {
        role: 'tool',
        parts: [
          {
            type: 'result',
            callId: 'call_1_0',
            name: 'weather.now',
            isError: false,
            content: [{ type: 'text', text: 'wet' }],
          },
          {
            type: 'result',
            callId: 'call_1_1',
            name: 'clock.now',
            isError: true,
            content: [{ type: 'text', text: 'no' }],
          },
        ],
      },
    ]
    expect(listPlain((await ask(model, { ...REQUEST, messages: history })).outcome)).toEqual(['Taken over.'])
    const body = JSON.stringify(server.requests[0]?.body)
    expect([server.refusals, body.includes('Oslo'), body.includes('wet')]).toEqual([[], true, true])
    expect(body).not.toContain('foreign')
  },

  'no setting that the model refuses is sent': async ({ open, kind }) => {
    const { model, server } = await open(() => ({ text: 'Fine.' }))
    const sampling = { temperature: 0.3, topP: 0.9, stop: ['END'], seed: 7 }
    // The bridge itself rejects what it cannot express to an unknown kind of server.
    const own = { parallelCalls: false, cache: '1h' } as const
    for (const settings of kind.isBridge ? [{ parallelCalls: false }, { cache: '1h' } as const] : [])
      expect((await ask(model, { ...REQUEST, settings })).outcome).toMatchObject({ code: 'model_invalid_request' })
    const all = { ...sampling, ...(!kind.isBridge && own), strictTools: true, maxOutputTokens: 4096 } as const
    for (const settings of [all, { ...all, effort: 'high' }, { ...all, effort: 'none' }, {}] as const) {
      for (const toolChoice of [
        { type: 'auto' },
        { type: 'any' },
        { type: 'none' },
        { type: 'tool', name: 'clock.now' },
      ] as const) {
        const { outcome } = await ask(model, { ...REQUEST, settings, toolChoice })
        expect([toolChoice.type, settings, listPlain(outcome)]).toEqual([toolChoice.type, settings, ['Fine.']])
      }
      expect(listPlain((await ask(model, { ...REQUEST, settings, tools: [] })).outcome)).toEqual(['Fine.'])
    }
    expect([server.refusals, server.requests.length]).toEqual([[], 20])
  },
}

/** Situations in which Baton itself reads the network. */
export const WIRE_SITUATIONS: Readonly<Record<string, Act>> = {
  'the key is in no error': async ({ open, kind }) => {
    const key = kind.apiKey ?? 'key-of-a-test'
    const error = { status: 500, message: `bad ${key}`, code: key }
    const answers: readonly FakeAnswer[] = [
      error,
      { text: 'Half', fails: error },
      { raw: { type: 'application/json', text: `<${key}` } },
      { raw: { type: 'text/event-stream', text: `data: ${key}\n\n` } },
    ]
    for (const answer of answers) expectNoKey(await fail((await open(() => answer)).model), kind)
  },

  'bodies that are no answer': async ({ open }) => {
    const bodies = [
      ['text/event-stream', '', 'model_cut_off'],
      ['application/json', '<html>', 'model_malformed_answer'],
      ['application/json', '{"half":', 'model_cut_off'],
      ['text/event-stream', `data: <${'-'.repeat(40)}\n\n`, 'model_malformed_answer'],
    ] as const
    for (const [type, text, code] of bodies) {
      const { model } = await open(() => ({ raw: { type, text } }))
      expect([text, (await fail(model)).code]).toEqual([text, code])
    }
  },

  'an answer that came whole is the streamed one': async ({ open }) => {
    const streamed = await ask((await open(sayAll)).model)
    const whole = await ask((await open((request) => ({ ...sayAll(request), isWhole: true }))).model)
    expect([listPlain(whole.outcome), joinDeltas(whole.events)]).toEqual([ALL, joinDeltas(streamed.events)])
    const marks = ({ outcome }: Asked) =>
      isBatonError(outcome) ? [] : outcome.parts.map((part) => ('state' in part ? part.state?.data : undefined))
    expect(marks(whole)).toEqual(marks(streamed))
  },
}
