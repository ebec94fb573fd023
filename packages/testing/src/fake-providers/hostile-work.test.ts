// Models and tools that stream endlessly, throw unreadable values, return unserializable values, and have failing abort
// listeners, through the real host: calls settle, turns continue, and nothing kills the process.
import type { Model, Tool } from '@baton/core/internal'
import { ANSWER_LIMITS, BatonError, defineAgent, isBatonError, tool } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { setImmediate } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'

const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network')) })
const uncaught: unknown[] = []
const note = (cause: unknown): void => void uncaught.push(cause)
process.on('uncaughtException', note)
process.on('unhandledRejection', note)
afterAll(() => {
  process.off('uncaughtException', note)
  process.off('unhandledRejection', note)
})

function trap(): never {
  throw new Error('a trap')
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const hostile = (): object =>
  new Proxy({}, Object.fromEntries(Object.getOwnPropertyNames(Reflect).map((name) => [name, trap])))

/** Its code is correct the first time it is checked for being a Baton error, and never again. */
function fickle(): Error {
  let asked = 0
  return Object.defineProperty(new Error('fickle'), 'code', {
    get: () => (asked++ === 0 ? 'tool_failed' : trap()),
  })
}

const THROWN: readonly (readonly [string, () => unknown])[] = [
  ['nothing', () => undefined],
  ['a text', () => 'no'],
  ['a symbol', () => Symbol('no')],
  ['an object without a prototype', () => Object.create(null)],
  ['a toJSON that throws', () => ({ toJSON: trap })],
  ['a toJSON that gives nothing', () => ({ toJSON: () => undefined })],
  ['a toString that throws', () => ({ toString: trap })],
  ['an error whose message throws', () => Object.defineProperty(new Error('no'), 'message', { get: trap })],
  ['an error whose message is an object', () => Object.assign(new Error('no'), { message: { a: 1 } })],
  ['an error whose code changes', fickle],
  ['an error whose code is none', () => Object.assign(new Error('no'), { code: 'no_such_code' })],
  ['an error whose data throws', () => Object.defineProperty(timedOut(), 'data', { get: trap })],
  ['an error whose data is null', () => Object.assign(timedOut(), { data: null })],
  ['an error that says yes', () => Object.assign(timedOut(), { retryable: 'yes' })],
  ['a revoked proxy', revoked],
  ['a proxy that throws', hostile],
]

function timedOut(): BatonError {
  return new BatonError({ code: 'model_timeout', message: 'no', retryable: false })
}

const THENABLE = ['th', 'en'].join('')

const GIVEN: readonly (readonly [string, () => unknown])[] = [
  ['a toJSON that throws', () => ({ toJSON: trap })],
  ['a toJSON that gives nothing', () => ({ toJSON: () => undefined })],
  ['a getter that throws', () => Object.defineProperty({}, 'a', { get: trap, enumerable: true })],
  ['content whose parts throw', () => ({ content: [hostile()] })],
  ['content that is revoked', () => ({ content: revoked() })],
  [
    'a text part whose text is a getter',
    () => ({
      content: [
        {
          type: 'text',
          get text() {
            return trap()
          },
        },
      ],
    }),
  ],
  ['a BigInt', () => 1n],
  ['a symbol', () => Symbol('no')],
  [
    'what holds itself',
    () => {
      const value: unknown[] = []
      value.push(value)
      return value
    },
  ],
  ['a revoked proxy in a list', () => [revoked()]],
  ['a proxy that throws, in an object', () => ({ a: hostile() })],
  ['a thenable that throws', () => Object.defineProperty({}, THENABLE, { get: trap })],
]

/** A turn in which the tool is called once; returns how its call settled, and the answer. */
async function callTool(execute: NonNullable<Tool['execute']>) {
  const warnings: string[] = []
  const model = createScriptedModel({
    steps: (_, call) => (call === 0 ? { calls: [{ name: 'odd', arguments: {} }] } : { text: 'Done.' }),
  })
  const odd = tool({ name: 'odd', description: 'Odd', input: { type: 'object' }, effect: 'once', execute })
  const log = { info: () => {}, warn: (message: string) => void warnings.push(message) }
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model, tools: [odd] }), log })
  const session = await host.session('s')
  const turn = session.send('Go')
  let settled: string | undefined
  for await (const event of turn) if (event.type === 'call' && event.call.result) settled = event.call.result.type
  const { text } = await turn.answer
  await host.stop()
  return { settled, text, warnings }
}

test.each(THROWN)('a tool throws %s', async (_, thrown) => {
  const told = await callTool(() => Promise.reject(thrown() as Error))
  expect(told).toMatchObject({ settled: 'error', text: 'Done.' })
  // Errors other than the tool's own are logged for operators; nothing else is.
  expect(told.warnings.filter((warning) => warning !== 'a tool failed')).toEqual([])
})

test.each(GIVEN)('a tool gives %s', async (_, given) => {
  const told = await callTool(() => [given()][0])
  expect(told).toMatchObject({ settled: 'error', text: 'Done.' })
  // Errors other than the tool's own are logged for operators; nothing else is.
  expect(told.warnings.filter((warning) => warning !== 'a tool failed')).toEqual([])
})

async function failWith(run: Model['run'], more: Partial<Parameters<typeof defineAgent>[0]> = {}) {
  const warnings: string[] = []
  let calls = 0
  const model: Model = {
    id: 'm/m',
    provider: 'm',
    capabilities: { tools: 'native', images: true },
    run: async (...given) => {
      calls += 1
      return await run(...given)
    },
  }
  const log = { info: () => {}, warn: (message: string) => void warnings.push(message) }
  const agent = defineAgent({ name: 'a', model, retry: { attempts: 2, baseMs: 0 }, ...more })
  const host = createHost({ environment, agent, log })
  const session = await host.session('s')
  const code = await session.send('Go').answer.then(
    ({ outcome }) => outcome,
    (cause: unknown) => (isBatonError(cause) ? cause.code : String(cause)),
  )
  await host.stop()
  return { code, calls, warnings }
}

test.each(THROWN)('a model throws %s', async (_, thrown) => {
  const { code, calls, warnings } = await failWith(() => Promise.reject(thrown() as Error))
  expect(['model_provider_failed', 'model_timeout', 'tool_failed']).toContain(code)
  expect(calls).toBe(1)
  expect(new Set(warnings)).toEqual(new Set(['a model call failed']))
})

const PIECE = 'a'.repeat(65_536)
const STREAMS: readonly (readonly [
  string,
  Parameters<Model['run']>[1] extends (event: infer Event) => void ? Event : never,
])[] = [
  ['text', { type: 'text-delta', text: PIECE }],
  ['thoughts', { type: 'reasoning-delta', text: PIECE }],
  ['arguments', { type: 'call-delta', index: 0, text: PIECE }],
  ['names', { type: 'call-start', index: 1, name: PIECE }],
  ['tools of its provider', { type: 'server-tool', name: PIECE, status: 'started' }],
  ['pieces', { type: 'text-delta', text: '' }],
]

test.each(STREAMS)('a model that streams %s without end is stopped and not asked again', async (_, event) => {
  let pieces = 0
  const run: Model['run'] = (_request, sink, signal) => {
    sink({ type: 'call-start', index: 0, name: 'odd' })
    for (; !signal.aborted; pieces++) sink(event)
    return Promise.reject(new BatonError({ code: 'cancelled', message: 'stopped' }))
  }
  const { code, calls } = await failWith(run, { limits: { answerChars: 16 * PIECE.length } })
  expect(code).toBe('model_answer_too_large')
  expect(calls).toBe(1)
  expect(pieces).toBeLessThanOrEqual('text' in event && event.text === '' ? ANSWER_LIMITS.pieces : 17)
})

test('a model that hands in a piece from a timer of its own, and garbage, harms nobody', async () => {
  const { code, calls } = await failWith(async (_request, sink) => {
    queueMicrotask(() => sink(revoked() as never))
    await setImmediate()
    return { parts: [{ type: 'text', text: 'Hi' }], finish: 'end', usage: {}, model: 'm' }
  })
  expect({ code, calls }).toEqual({ code: 'model_malformed_answer', calls: 2 })
})

test('a pair that is cut between two pieces reaches the log whole', async () => {
  const model = createScriptedModel({ steps: () => ({ pieces: ['Hi \ud83d', '\ude00', '!'] }) })
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model }) })
  const turn = (await host.session('s')).send('Go')
  const deltas: string[] = []
  for await (const event of turn) if (event.type === 'text') deltas.push(event.text)
  expect(deltas.join('')).toBe('Hi 😀!')
  expect(deltas.filter((delta) => !delta.isWellFormed())).toEqual([])
  expect((await turn.answer).text).toBe('Hi 😀!')
  await host.stop()
})

type Listen = (signal: AbortSignal) => void
/** An async listener: the platform handles its rejection no better than a thrown error. */
const REJECTS = (): void => Promise.reject(new Error('late')) as unknown as void // still a promise
const LISTENERS: readonly (readonly [string, Listen])[] = [
  ['throws', (signal) => signal.addEventListener('abort', trap)],
  ['throws once', (signal) => signal.addEventListener('abort', trap, { once: true })],
  ['rejects', (signal) => signal.addEventListener('abort', REJECTS)],
  ['is an object that throws', (signal) => signal.addEventListener('abort', { handleEvent: trap })],
  ['is onabort, and throws', (signal) => void (signal.onabort = trap)],
  [
    'throws a revoked proxy',
    (signal) =>
      signal.addEventListener('abort', () => {
        throw revoked() as Error
      }),
  ],
]

test.each(LISTENERS)('an abort listener of a tool %s', async (_, listen) => {
  const heard: string[] = []
  const begun = Promise.withResolvers<void>()
  const model = createScriptedModel({
    steps: (_request, call) => (call === 0 ? { calls: [{ name: 'slow', arguments: {} }] } : { text: 'Done.' }),
  })
  const slow = tool({
    name: 'slow',
    description: 'Slow',
    input: { type: 'object' },
    effect: 'pure',
    execute: async (_input, { signal }) => {
      const removed = (): void => void heard.push('removed')
      signal.addEventListener('abort', removed)
      signal.removeEventListener('abort', removed)
      listen(signal)
      signal.addEventListener('abort', () => void heard.push('aborted'))
      begun.resolve()
      await new Promise(() => {})
    },
  })
  const warnings: string[] = []
  const log = { info: () => {}, warn: (message: string) => void warnings.push(message) }
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model, tools: [slow] }), log })
  const session = await host.session('s')
  const turn = session.send('Go')
  await begun.promise
  await session.interrupt()
  await turn.answer
  await setImmediate()
  await host.stop()
  expect(heard).toEqual(['aborted'])
  expect(warnings).toEqual(['an abort listener of a tool failed'])
})

test.each(LISTENERS)('an abort listener of a model %s', async (_, listen) => {
  const begun = Promise.withResolvers<void>()
  const warnings: string[] = []
  const model: Model = {
    id: 'm/m',
    provider: 'm',
    capabilities: { tools: 'native', images: true },
    run: (_request, _sink, signal) => {
      listen(signal as AbortSignal) // the local host's own
      begun.resolve()
      return new Promise(() => {})
    },
  }
  const log = { info: () => {}, warn: (message: string) => void warnings.push(message) }
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model }), log, abortMs: 0 })
  const session = await host.session('s')
  const turn = session.send('Go')
  await begun.promise
  await session.interrupt()
  await turn.answer
  await setImmediate()
  await host.stop()
  expect(warnings).toEqual([
    'an abort listener of a model failed',
    'an aborted model call did not settle and was abandoned',
  ])
})

test('nothing reached the process', () => {
  console.log(
    `hostile work: ${THROWN.length} throws, ${GIVEN.length} results, ${STREAMS.length} streams, ${LISTENERS.length} listeners`,
  )
  expect(uncaught).toEqual([])
})
