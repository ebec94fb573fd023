// Invalid model answers and stream events. Each one is new, since some record what was done to them.
import type { ModelAnswer, ModelEvent } from '@baton/core'
import { DEFAULT_LIMITS } from '@baton/core/machine'

/** The code with which the turn fails; only a malformed answer is worth a retry. */
export type Outcome = 'answered' | 'model_malformed_answer' | 'model_answer_too_large' | 'model_provider_failed'

export interface Garbage {
  readonly name: string
  /** `answered`: whatever can be kept of it is kept. */
  readonly becomes: Outcome
  readonly answer: () => unknown
}

function trap(): never {
  throw new Error('a trap')
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {})
  revoke()
  return proxy
}

function holdItself(): unknown {
  const value: Record<string, unknown> = { provider: 'p', model: 'm' }
  value['data'] = value
  return value
}

function nest(levels: number): unknown {
  let value: unknown = 'deep'
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

/** A proxy whose every trap throws. */
function hostile(target: object): object {
  return new Proxy(target, Object.fromEntries(Object.getOwnPropertyNames(Reflect).map((name) => [name, trap])))
}

class Foreign {
  readonly parts = text
  readonly finish = 'end'
  readonly usage = {}
  readonly model = 'm'
}

class Inherited {
  get parts(): unknown {
    return trap()
  }
}

const text = [{ type: 'text', text: 'Hi' }]
const right: ModelAnswer = { parts: [{ type: 'text', text: 'Hi' }], finish: 'end', usage: {}, model: 'm' }
const withParts = (...parts: readonly unknown[]): unknown => ({ ...right, parts })
const state = (data: unknown): unknown =>
  withParts({ type: 'text', text: 'Hi', state: { provider: 'p', model: 'm', data } })

const refused = (name: string, answer: () => unknown): Garbage => ({ name, becomes: 'model_malformed_answer', answer })
const tooLarge = (name: string, answer: () => unknown): Garbage => ({ name, becomes: 'model_answer_too_large', answer })
/** Not even a promise can hold it: it throws when inspected. */
const thrown = (name: string, answer: () => unknown): Garbage => ({ name, becomes: 'model_provider_failed', answer })
const taken = (name: string, answer: () => unknown): Garbage => ({ name, becomes: 'answered', answer })

export const GARBAGE_ANSWERS: readonly Garbage[] = [
  refused('nothing', () => undefined),
  refused('null', () => null),
  refused('a text', () => 'Hi'),
  refused('a number', () => NaN),
  refused('a function', () => () => right),
  refused('a list', () => [right]),
  refused('an empty object', () => ({})),
  refused('no parts', () => ({ ...right, parts: undefined })),
  refused('parts that are a text', () => ({ ...right, parts: 'Hi' })),
  refused('parts that only look like a list', () => ({ ...right, parts: { 0: text[0], length: 1 } })),
  refused('a hole among the parts', () => ({ ...right, parts: Object.assign([], { 2: text[0] }) })),
  refused('a part that is null', () => withParts(null)),
  refused('a part that is a text', () => withParts('Hi')),
  refused('a part of an unknown type', () => withParts({ type: 'hologram', text: { length: 'many' } })),
  refused('a part whose type is an object', () => withParts({ type: { toString: () => 'text' }, text: 'Hi' })),
  refused('a part of people', () => withParts({ type: 'image', mediaType: 'image/png', source: {} })),
  refused('a text part without its text', () => withParts({ type: 'text' })),
  refused('a text that is an object', () => withParts({ type: 'text', text: { length: '7' } })),
  refused('a text that is a list', () => withParts({ type: 'text', text: ['Hi'] })),
  refused('a text that is a number', () => withParts({ type: 'text', text: 7 })),
  refused('thoughts that are null', () => withParts({ type: 'reasoning', text: null })),
  refused('a call without a name', () => withParts({ type: 'call', arguments: '{}' })),
  refused('arguments that are an object', () => withParts({ type: 'call', name: 'look', arguments: { a: 1 } })),
  refused('a source without an id', () => withParts({ type: 'source', url: 'https://a.example' })),
  refused('a source whose title is a number', () => withParts({ type: 'source', id: '1', title: 7 })),
  refused('a provider part without state', () => withParts({ type: 'provider' })),
  refused('state that is no JSON', () => state(() => 'Hi')),
  refused('state with NaN', () => state({ score: NaN })),
  refused('state with a BigInt', () => state({ score: 1n })),
  refused('state that holds itself', () => withParts({ type: 'text', text: 'Hi', state: holdItself() })),
  refused('state that is too deep', () => state(nest(5000))),
  refused('an unknown finish', () => ({ ...right, finish: 'because' })),
  refused('no finish', () => ({ ...right, finish: undefined })),
  refused('usage that is null', () => ({ ...right, usage: null })),
  refused('usage that is a text', () => ({ ...right, usage: '12 tokens' })),
  refused('a model that is a number', () => ({ ...right, model: 7 })),
  refused('a getter', () => Object.defineProperty({ ...right }, 'parts', { get: () => text, enumerable: true })),
  refused('a getter that throws', () => Object.defineProperty({ ...right }, 'usage', { get: trap, enumerable: true })),
  refused('a getter in a part', () =>
    withParts(Object.defineProperty({ type: 'text' }, 'text', { get: trap, enumerable: true })),
  ),
  taken('an object of a class with fields of its own', () => new Foreign()),
  refused('an object whose fields are inherited getters', () =>
    Object.assign(new Inherited(), { finish: 'end', usage: {}, model: 'm' }),
  ),
  refused('a map', () => new Map(Object.entries(right))),
  thrown('a revoked proxy', () => revoked({})),
  refused('a revoked part', () => withParts(revoked({}))),
  refused('revoked parts', () => ({ ...right, parts: revoked([]) })),
  thrown('a proxy that throws', () => hostile({})),
  refused('a part that throws', () => withParts(hostile({}))),
  tooLarge('a hundred thousand parts too many', () => ({
    ...right,
    parts: Array.from({ length: 110_000 }, () => text[0]),
  })),
  tooLarge('a text without end', () => withParts({ type: 'text', text: 'a'.repeat(DEFAULT_LIMITS.answerChars + 1) })),
  taken('counts that are NaN', () => ({ ...right, usage: { inputTokens: NaN, outputTokens: NaN } })),
  taken('counts that are texts', () => ({ ...right, usage: { inputTokens: '12', costMicros: '1' } })),
  taken('counts below zero and without end', () => ({ ...right, usage: { inputTokens: -1, outputTokens: Infinity } })),
  taken('fields that nobody knows', () => ({ ...right, id: 7n, raw: trap, parts: [{ ...text[0], index: NaN }] })),
  taken('half of a pair in what only the provider understands', () => state({ said: ['\ud83d'] })),
  taken('half of a surrogate pair', () => withParts({ type: 'text', text: 'Hi \ud83d' })),
  taken('half of a pair in thoughts', () => withParts({ type: 'reasoning', text: '\udc00' }, ...text)),
  taken('half of a pair in a model’s name', () => ({ ...right, model: 'm\ud800' })),
  taken('a proxy that is a plain object otherwise', () => new Proxy({ ...right }, {})),
]

/** Invalid stream events, each in place of one event. */
export const GARBAGE_EVENTS: readonly (readonly [string, Outcome, () => unknown])[] = [
  ['nothing', 'model_malformed_answer', () => undefined],
  ['null', 'model_malformed_answer', () => null],
  ['a text', 'answered', () => 'Hi'],
  ['an unknown type', 'answered', () => ({ type: 'smell-delta', text: 'Hi' })],
  ['a delta without text', 'model_malformed_answer', () => ({ type: 'text-delta' })],
  ['a delta that is an object', 'model_malformed_answer', () => ({ type: 'text-delta', text: { length: '7' } })],
  ['thoughts that are a number', 'model_malformed_answer', () => ({ type: 'reasoning-delta', text: 7 })],
  ['a call without a name', 'model_malformed_answer', () => ({ type: 'call-start', index: 0 })],
  [
    'a call whose index is a text',
    'model_malformed_answer',
    () => ({ type: 'call-start', index: '__proto__', name: 'look' }),
  ],
  ...[1e15, 10_000, -1, 0.5, Number.NaN].map(
    (index) =>
      [
        `a call whose index is ${index}`,
        'model_malformed_answer',
        () => ({ type: 'call-start', index, name: 'look' }),
      ] as const,
  ),
  ['arguments that are a list', 'model_malformed_answer', () => ({ type: 'call-delta', index: 0, text: ['{}'] })],
  [
    'a getter that throws',
    'model_malformed_answer',
    () => Object.defineProperty({ type: 'text-delta' }, 'text', { get: trap }),
  ],
  ['a revoked proxy', 'model_malformed_answer', () => revoked({})],
  ['a proxy that throws', 'model_malformed_answer', () => hostile({})],
]

/** Casts like an adapter whose types say nothing about its runtime behavior. */
export function asAnswer(value: unknown): ModelAnswer {
  return value as ModelAnswer // a lie, which is under test
}

export function asEvent(value: unknown): ModelEvent {
  return value as ModelEvent // a lie, which is under test
}
