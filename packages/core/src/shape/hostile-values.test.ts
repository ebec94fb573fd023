// Any JavaScript value, in every field of everything that a caller passes to a session: it is refused with the field's
// name, or accepted as a plain copy; nothing throws, and no code of the caller runs.
import fc from 'fast-check'
import { isDeepStrictEqual } from 'node:util'
import { expect, test } from 'vitest'
import type { Input } from '../machine/input.ts'
import type { Refusal } from '../errors.ts'
import { CLIENT_REPORTS, USER_COMMANDS } from '../machine/input.ts'
import { SESSION_TABLE } from '../machine/table.ts'
import { TestSession } from '../testing/test-session.ts'
import {
  decodeDecision,
  decodeDescription,
  decodeQuestionAnswer,
  decodeSendOptions,
  decodeTurnOptions,
  decodeUserCommand,
  decodeInterruptOptions,
  decodeTranscript,
  decodeUrgent,
} from '../agent/decode-command.ts'
import { decodeUserInput } from '../agent/decode-content.ts'
import { decodeClientReport, decodeOutcome } from '../agent/decode-report.ts'
import type { Decoded } from './value-reader.ts'
import { VALUE_LIMITS } from './value-reader.ts'

type Decode = (value: unknown) => Decoded<unknown>

const parts = [
  { type: 'text', text: 'Hi', state: { provider: 'p', model: 'm', data: { marks: [1, null, { deep: true }] } } },
  { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AAAA' } },
  { type: 'file', mediaType: 'application/pdf', name: 'a.pdf', source: { type: 'url', url: 'https://a.example/b' } },
]
const heard = { type: 'chars', chars: 3.5 }
const settings = {
  maxOutputTokens: 9,
  temperature: 0,
  reasoningTokens: 0,
  effort: 'low',
  topP: 0.5,
  seed: 1,
  parallelCalls: false,
  stop: ['\n\n'],
  serviceTier: 'flex',
  cache: 'off',
  toolChoice: { type: 'tool', name: 'look' },
  strictTools: true,
  provider: { anthropic: { metadata: { user_id: 'u' } } },
  serverTools: { gemini: [{ googleSearch: {} }] },
}
const outcome = { type: 'ok', content: parts }
const remembered = { reason: 'because', remember: 'tool' }
const tool = {
  name: 'look',
  description: 'Looks',
  inputSchema: { type: 'object', properties: { a: { enum: [1, 'b', null] } } },
  effect: 'once',
  runs: 'client',
  timeoutMs: 1,
  parallel: true,
  onInterrupt: 'finish',
}

/** Each form with all of its fields, as its decoder returns it. */
const SAMPLES: readonly (readonly [string, Decode, unknown])[] = [
  ['decodeUserInput', decodeUserInput, parts],
  ['decodeSendOptions', decodeSendOptions, { model: 'm', settings, inputId: 'i', delivery: 'steer', asks: false }],
  // Like `decodeTurnOptions`, it also returns the original schema next to its JSON Schema.
  [
    'decodeTurnOptions',
    (value) => {
      const decoded = decodeTurnOptions(value)
      if (!decoded.ok) return decoded
      const { output } = decoded.value
      return { ok: true, value: output ? { output: output.described } : {} }
    },
    { output: { type: 'object', properties: { a: { type: 'string', enum: ['x'] } } } },
  ],
  ['decodeInterruptOptions', decodeInterruptOptions, { reason: 'r', heard }],
  ['decodeTranscript', decodeTranscript, { speaker: 'Ann', text: 'Hello', inputId: 'i', asks: false }],
  ['decodeUrgent', decodeUrgent, { name: 'door', detail: { a: [1] }, message: 'open', delivery: 'steer', heard }],
  ['decodeOutcome', decodeOutcome, outcome],
  ['decodeOutcome', decodeOutcome, { type: 'error', code: 'tool_failed', message: 'no' }],
  ['decodeDecision', decodeDecision, { approvalId: 'a', decision: 'approve', ...remembered }],
  ['decodeDecision', decodeDecision, { approvalId: 'a', decision: 'deny', ...remembered }],
  [
    'decodeDecision',
    decodeDecision,
    { approvalId: 'a', decision: 'edit', input: { a: { b: [1] } }, ...remembered, remember: 'arguments' },
  ],
  ['decodeQuestionAnswer', decodeQuestionAnswer, { questionId: 'q', value: { a: [1] } }],
  ['decodeQuestionAnswer', decodeQuestionAnswer, { questionId: 'q', decline: true, reason: 'r' }],
  ['decodeDescription', decodeDescription, { title: 'T', meta: { a: { b: 1 } } }],
  ['decodeDescription', decodeDescription, { title: null }],
  ...[
    {
      type: 'user-input',
      inputId: 'i',
      parts,
      delivery: 'queue',
      model: 'm',
      settings,
      output: { type: 'object' },
      heard,
      asks: true,
    },
    { type: 'transcript', inputId: 'i', speaker: 'Ann', text: 'Hello', asks: false },
    {
      type: 'urgent-event',
      inputId: 'i',
      name: 'door',
      detail: { a: [1] },
      message: 'open',
      delivery: 'interrupt',
      heard,
      asks: true,
    },
    { type: 'interrupt', reason: 'barge_in', heard: { type: 'display' } },
    { type: 'interrupt', reason: '', heard: { type: 'all' } },
    { type: 'cancel-call', callId: 'call_1_0', principal: 'ann' },
    { type: 'rewind', inputId: 'i', exchange: 1, again: true },
    {
      type: 'rewind',
      inputId: 'i',
      exchange: 1,
      fromEntry: 2,
      again: false,
      interrupt: true,
      replace: { parts: [{ type: 'text', text: 'x' }], model: 'm', settings: { temperature: 1 } },
    },
    { type: 'set-model', model: 'm' },
    { type: 'set-settings', settings: { temperature: 1, stop: ['x'] } },
    { type: 'set-settings', settings: null },
    { type: 'withdraw', target: 'i' },
    { type: 'pause' },
    { type: 'continue' },
    { type: 'stop' },
    { type: 'start' },
    { type: 'approval', approvalId: 'a', principal: 'p', decision: 'approve', ...remembered },
    { type: 'question-answer', questionId: 'q', principal: 'p', value: { a: 1 } },
    { type: 'question-answer', questionId: 'q', principal: 'p', decline: true, reason: 'r' },
    { type: 'describe', title: 'T', meta: { a: { b: 1 } } },
    {
      type: 'set-reminder',
      reminder: 'r',
      dueMs: 5,
      rule: { cron: '0 9 * * *', zone: 'UTC' },
      zone: 'UTC',
      event: { name: 'due', label: 'Reminder', detail: { a: 1 }, message: 'tea' },
      asks: false,
    },
    { type: 'cancel-reminder', reminder: 'r' },
  ].map((sample) => ['decodeUserCommand', decodeUserCommand, sample] as const),
  ...[
    {
      type: 'client-attached',
      connection: 'c',
      principal: 'p',
      sequential: true,
      claims: false,
      reportsPlayback: true,
      asks: false,
      tools: ['look'],
      leaseMs: 1000,
    },
    { type: 'client-detached', connection: 'c' },
    { type: 'client-tools', connection: 'c', tools: [tool] },
    { type: 'tool-result', callId: 'call_1_0', connection: 'c', outcome },
    { type: 'call-claimed', callId: 'call_1_0', connection: 'c', offer: 1 },
    { type: 'call-reached', callId: 'call_1_0', offer: 1 },
    { type: 'offer-failed', callId: 'call_1_0', offer: 1 },
    { type: 'display-written', turn: 1 },
  ].map((sample) => ['decodeClientReport', decodeClientReport, sample] as const),
]

type Path = readonly (string | number)[]

/** Every path in a value, starting with the value itself. */
function listPlaces(value: unknown, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  const inside = Array.isArray(value)
    ? value.flatMap((item, index) => listPlaces(item, [...path, index]))
    : Object.entries(value).flatMap(([key, field]) => listPlaces(field, [...path, key]))
  return [path, ...inside]
}

function placeValue(value: unknown, [key, ...rest]: Path, placed: unknown): unknown {
  if (key === undefined) return placed
  if (Array.isArray(value)) return value.map((item, index) => (index === key ? placeValue(item, rest, placed) : item))
  const fields = Object.entries(value as object).map(([name, field]) => [
    name,
    name === key ? placeValue(field, rest, placed) : field,
  ])
  return Object.fromEntries(fields)
}

function showPath(path: Path): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`))
    .join('')
    .replace(/^\./, '')
}

class Point {
  readonly x = 1
}

/** Getters and methods that ran although only a proxy's traps may. */
const ran: string[] = []
const run = (): never => {
  ran.push('code of the caller')
  throw new Error('code of the caller ran')
}
const trap = (): never => {
  throw new Error('a trap')
}
const TRAPS = Object.getOwnPropertyNames(Reflect)
const nothing = Object.fromEntries(TRAPS.map((name) => [name, trap]))

function revoked<T extends object>(target: T): T {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

function nest(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value]
  return value
}

/** Values that no field may hold. Each is created afresh, since some record how they were used. */
const HOSTILE: Readonly<Record<string, () => unknown>> = {
  NaN: () => NaN,
  infinity: () => -Infinity,
  'a BigInt': () => 1n,
  'a symbol': () => Symbol('s'),
  'a function': () => run,
  'a date': () => new Date(0),
  'a map': () => new Map([['type', 'text']]),
  bytes: () => new Uint8Array(2),
  'an object of a class': () => new Point(),
  'a promise': () => Promise.resolve(1),
  'a boxed text': () => new String('a'),
  'an array of a class': () => new (class extends Array<unknown> {})(),
  'an array with a hole': () => Object.assign(Array.from({ length: 0 }), { 2: 1 }),
  'an array without end': () => Object.assign(Array.from({ length: 0 }), { length: 4_294_967_295 }),
  'an array with a field': () => Object.assign([1], { more: 1 }),
  'an array with undefined in it': () => [undefined],
  'an array with a getter': () => Object.defineProperty([1], 0, { get: run, enumerable: true }),
  'a getter': () => ({
    get type() {
      return run()
    },
  }),
  'a getter of another field': () => ({
    get other() {
      return run()
    },
  }),
  'a setter': () => ({
    set other(_: unknown) {
      run()
    },
  }),
  'a field that is hidden': () => Object.defineProperty({}, 'hidden', { value: 1 }),
  'a symbol as a field': () => ({ [Symbol.toPrimitive]: run }),
  'a toJSON': () => ({ toJSON: run }),
  'a prototype with fields': () => Object.create({ type: 'text', text: 'a' }) as unknown,
  'a field __proto__': () => JSON.parse('{"__proto__":{"admin":true}}') as unknown,
  'a revoked object': () => revoked({}),
  'a revoked array': () => revoked([]),
  'an object that throws whatever is asked': () => new Proxy({}, nothing),
  'an array that throws whatever is asked': () => new Proxy([], nothing),
  'an object that throws another': () =>
    new Proxy(
      {},
      {
        ownKeys() {
          throw new Proxy({}, nothing) as Error
        },
      },
    ),
  'an object whose fields cannot be read': () =>
    new Proxy({}, { getOwnPropertyDescriptor: trap, ownKeys: () => ['a'] }),
  'a proxy that says it is of a class': () => new Proxy({}, { get: run, getPrototypeOf: () => Point.prototype }),
  'half of a pair': () => 'a\ud800',
  'a name with half of a pair': () => ({ '\udc00': 1 }),
  'what holds itself': () => {
    const value: Record<string, unknown> = {}
    value['self'] = value
    return value
  },
  'a list that holds itself': () => {
    const value: unknown[] = []
    value.push([value])
    return value
  },
  'what is too deep': () => nest(VALUE_LIMITS.depth + 1),
  'one thing very many times': () => {
    let value: unknown = 1
    for (let level = 0; level < 40; level++) value = { a: value, b: value }
    return value
  },
}

test('there is a sample of everything that the machine takes from outside', () => {
  const types = SAMPLES.map(([, , sample]) => (sample as { readonly type?: unknown }).type)
  expect([...USER_COMMANDS, ...CLIENT_REPORTS].filter((type) => !types.includes(type))).toEqual([])
})

test.each(SAMPLES)('%s takes what is well formed as it is, by a copy %#', (_, decode, sample) => {
  const decoded = decode(sample)
  expect(decoded).toEqual({ ok: true, value: sample })
  expect(decoded.ok && listCopyFaults(decoded.value, sample)).toEqual([])
})

test.each(SAMPLES)('%s refuses each hostile value in each field, by its name %#', (_, decode, sample) => {
  const problems = listPlaces(sample).flatMap((path) =>
    Object.entries(HOSTILE).flatMap(([name, make]) => {
      const decoded = decode(placeValue(sample, path, make()))
      const at = `${name} at ${showPath(path)}`
      if (decoded.ok) return [`${at} was taken as ${JSON.stringify(decoded.value)}`]
      // The error for a limit may name the whole value.
      const isNamed = decoded.refusal.code !== 'invalid_event' || decoded.refusal.message.includes(showPath(path))
      return [...listFaults(decoded.refusal), ...(isNamed ? [] : ['the field is not named'])].map(
        (fault) => `${at}: ${fault}: ${decoded.refusal.message}`,
      )
    }),
  )
  expect(problems).toEqual([])
  expect(ran).toEqual([])
})

test.each(SAMPLES)('%s is not shaken by ordinary values in the wrong field %#', (_, decode, sample) => {
  const ordinary = [undefined, null, 0, -0, -1, 1e308, true, '', 'a', '😀', [], {}, [[]], { type: 'text' }, sample]
  for (const path of listPlaces(sample))
    for (const value of ordinary) expectSafe(decode, placeValue(sample, path, value))
})

test.each(SAMPLES)('%s takes no field that it does not know %#', (_, decode, sample) => {
  if (Array.isArray(sample)) return
  const decoded = decode({ ...(sample as object), other: 1 })
  expect(decoded).toMatchObject({ ok: false, refusal: { code: 'invalid_event' } })
  expect(decoded.ok || decoded.refusal.message).toContain('other is not a field of')
})

test('a proxy is taken by what its fields are described as: none is read', () => {
  const proxy = new Proxy({ type: 'text', text: 'a' }, { get: run })
  expect(decodeUserInput([proxy])).toEqual({ ok: true, value: [{ type: 'text', text: 'a' }] })
  expect(ran).toEqual([])
})

test('a text is no larger than the limit, and neither are many', () => {
  const long = 'a'.repeat(VALUE_LIMITS.chars / 64)
  const few = Array.from({ length: 64 }, () => ({ type: 'text', text: long }))
  expect(decodeUserInput(few).ok).toBe(true)
  expect(decodeUserInput([...few, { type: 'text', text: 'a' }])).toMatchObject({ refusal: { code: 'input_too_large' } })
  expect(decodeDescription({ meta: { a: Array.from({ length: VALUE_LIMITS.values }, () => 0) } })).toMatchObject({
    refusal: { code: 'input_too_large' },
  })
})

test('what is as deep as the limit is taken', () => {
  expect(decodeDescription({ meta: { a: nest(VALUE_LIMITS.depth - 2) } }).ok).toBe(true)
  expect(decodeDescription({ meta: { a: nest(VALUE_LIMITS.depth - 1) } }).ok).toBe(false)
})

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withObjectString: true,
  withSparseArray: true,
  withTypedArray: true,
  key: fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('type', '__proto__', 'toJSON', 'constructor', 'length')),
})
const indices = fc.array(fc.nat(TRAPS.length - 1))
/** Wrapped in functions, since the generator would inspect the values. */
const given: fc.Arbitrary<() => unknown> = fc.oneof(
  anything.map((value) => () => value),
  fc.json().map((json) => () => JSON.parse(json) as unknown),
  fc.string({ unit: 'binary' }).map((text) => () => text),
  fc.constantFrom(...Object.values(HOSTILE)),
  fc
    .tuple(fc.dictionary(fc.constantFrom('type', 'text', 'parts', 'a'), anything), fc.boolean())
    .map(([fields, first]) => () => {
      const name = Object.keys(fields).at(first ? 0 : -1) ?? 'a'
      return Object.defineProperty({ ...fields }, name, { get: run, enumerable: true, configurable: true })
    }),
  // A proxy with some throwing traps, around a valid value.
  fc.tuple(fc.constantFrom(...SAMPLES), indices).map(
    ([[, , sample], chosen]) =>
      () =>
        new Proxy(sample as object, Object.fromEntries(chosen.map((index) => [TRAPS[index] ?? '', trap]))),
  ),
)

test('nothing throws, and what is taken is plain JSON that the machine can hold', () => {
  const changed = fc
    .constantFrom(...SAMPLES)
    .chain(([, decode, sample]) =>
      fc.tuple(fc.constant(decode), fc.constant(sample), fc.constantFrom(...listPlaces(sample)), given),
    )
  const sessions = [
    new TestSession(),
    new TestSession().user('Hi'),
    new TestSession().user('Hi').says({ calls: ['look'] }),
  ]
  const ofInputs: readonly Decode[] = [decodeUserCommand, decodeClientReport]
  let taken = 0
  fc.assert(
    fc.property(changed, ([decode, sample, path, make]) => {
      expectSafe(decode, make())
      const decoded = expectSafe(decode, placeValue(sample, path, make()))
      if (!decoded.ok) return
      taken += 1
      // The machine alone: inputs that it does not know yet are skipped.
      const input = decoded.value as Input
      const isKnown = ofInputs.includes(decode) && Object.hasOwn(SESSION_TABLE, input.type)
      for (const session of isKnown ? sessions : []) session.decide(input)
    }),
    { numRuns: 3000 },
  )
  expect(taken).toBeGreaterThan(100)
  expect(ran).toEqual([])
})

function expectSafe(decode: Decode, value: unknown): Decoded<unknown> {
  const decoded = decode(value)
  expect(decoded.ok ? listCopyFaults(decoded.value, value) : listFaults(decoded.refusal)).toEqual([])
  return decoded
}

/** Faults that any refusal could have. */
function listFaults({ code, message }: Refusal): readonly string[] {
  return [
    ...(['invalid_event', 'illegal_input', 'input_too_large', 'invalid_schema'].includes(code)
      ? []
      : [`the code is ${code}`]),
    ...(message.length < 1500 ? [] : ['the message is too long']),
    ...(/[\p{Cc}\p{Bidi_Control}\p{Surrogate}]/u.test(message) ? ['the message has a control character'] : []),
  ]
}

/** Faults of an accepted value, as a copy of the given one. */
function listCopyFaults(copy: unknown, original: unknown): readonly string[] {
  // JSON loses nothing of it: no undefined and no negative zero.
  expect(isDeepStrictEqual(JSON.parse(JSON.stringify(copy)), copy)).toBe(true)
  const theirs = new Set(listObjects(original))
  return [
    ...(listObjects(copy).some((one) => theirs.has(one)) ? ['an object is shared'] : []),
    ...(/\\ud[89a-f]/i.test(JSON.stringify(copy)) ? ['half of a pair was taken'] : []),
  ]
}

/** The value's objects that can be inspected: a proxy may be accepted and still throw when it is read. */
function listObjects(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null) return []
  const fields = Object.values(Object.getOwnPropertyDescriptors(value)) as readonly PropertyDescriptor[]
  return [value, ...fields.flatMap((field) => listObjects(field.value))]
}
