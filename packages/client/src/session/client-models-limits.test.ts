// Concurrent calls of an app's model, also while they are being abandoned: the device is not overloaded, and all text
// arrives.
import { expect, test } from 'vitest'
import { platformWorld } from '../world.ts'
import { ClientError } from '../client-error.ts'
import { createPlayedServer, settle } from '../played-server.test-kit.ts'
import type { ClientModelsSession, ModelNotice } from './client-models.ts'
import type { AppModel } from './session-client.ts'
import { ClientModels } from './client-models.ts'

const notice = (run: string): ModelNotice => ({ type: 'model.run', run, model: 'tiny', request: {} }) as never // more is not read

function openModels() {
  const signals: { readonly aborted: boolean }[] = []
  const told: object[] = []
  const tiny = {
    run: (_: unknown, __: unknown, signal: { readonly aborted: boolean }) => {
      signals.push(signal)
      return new Promise<never>(() => {})
    },
  }
  const ask: ClientModelsSession['ask'] = (type, given) => void told.push({ type, ...given })
  const models = new ClientModels({ options: { models: { tiny } }, world: platformWorld(), ask })
  return { models, signals, told }
}

test('eight calls run at once, and one more is refused', () => {
  const { models, signals, told } = openModels()
  for (let run = 0; run < 9; run += 1) models.take(notice(`run-${run}`))
  expect(signals).toHaveLength(8)
  const error = { message: 'this app is already answering 8 calls', code: 'model_overloaded' }
  expect(told).toEqual([{ type: 'model.result', run: 'run-8', outcome: { error } }])
})

test('a call with the name of another one ends that one', () => {
  const { models, signals } = openModels()
  models.take(notice('run'))
  models.take(notice('run'))
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
})

type Sink = (piece: object) => void

/** A model that says and ends what the test wants, on a clock that the test moves. */
function openPlayedModel() {
  const { world, advance } = createPlayedServer()
  const runs: {
    readonly sink: Sink
    readonly signal: { readonly aborted: boolean }
    readonly end: PromiseWithResolvers<object>
  }[] = []
  const tiny = {
    run: (_: unknown, sink: Sink, signal: { readonly aborted: boolean }) => {
      const end = Promise.withResolvers<object>()
      runs.push({ sink, signal, end })
      return end.promise
    },
  } as unknown as AppModel // its requests and answers are not read here
  const told: Readonly<Record<string, unknown>>[] = []
  let refusal: ClientError | undefined
  const ask: ClientModelsSession['ask'] = (type, given, settle) => {
    told.push({ type, ...given })
    if (refusal && type === 'model.result') settle({ ok: false, error: refusal })
  }
  const models = new ClientModels({ options: { models: { tiny } }, world, ask })
  const refuse = (code: string): void => {
    refusal = new ClientError({ code, message: `refused: ${code}` })
  }
  return { models, advance, runs, told, refuse }
}

const piece = (text: string): object => ({ type: 'text-delta', text })

test('pieces go out together after a moment, many of them at once, and the last ones before the answer', async () => {
  const { models, advance, runs, told } = openPlayedModel()
  models.take(notice('run'))
  const [run] = runs
  for (const text of ['a', 'b']) run?.sink(piece(text))
  expect(told).toEqual([])
  advance(40)
  for (let count = 0; count < 501; count += 1) run?.sink(piece('c'))
  run?.end.resolve({ parts: [] })
  await settle()
  advance(1000)
  const counts = told.map(({ type, pieces }) => [type, Array.isArray(pieces) ? pieces.length : 0])
  expect(counts).toEqual([
    ['model.pieces', 2],
    ['model.pieces', 500],
    ['model.pieces', 1],
    ['model.result', 0],
  ])
})

test.each(['cancelled', 'lost'] as const)(
  'a call that was %s is aborted, and nothing more of it is sent',
  async (how) => {
    const { models, advance, runs, told } = openPlayedModel()
    models.take(notice('run'))
    const [run] = runs
    run?.sink(piece('a'))
    if (how === 'lost') models.lose()
    else models.take({ type: 'model.cancel', run: 'run' })
    run?.sink(piece('b'))
    run?.end.resolve({ parts: [] })
    await settle()
    advance(1000)
    expect([run?.signal.aborted, told]).toEqual([true, []])
    // Its place is free again.
    for (let count = 0; count < 8; count += 1) models.take(notice(`run-${count}`))
    expect(runs).toHaveLength(9)
  },
)

test.each([
  ['input_too_large', [{ answer: { parts: [] } }, { error: { message: 'refused: input_too_large' } }]],
  ['connection_failed', [{ answer: { parts: [] } }]],
])('an answer that is refused with %s leaves nobody waiting, and is told once', async (code, outcomes) => {
  const { models, runs, told, refuse } = openPlayedModel()
  models.take(notice('run'))
  refuse(code)
  runs[0]?.end.resolve({ parts: [] })
  await settle()
  expect(told.map(({ outcome }) => outcome)).toEqual(outcomes)
})

test('a model that fails says with which code, and whether it may be asked again', async () => {
  const { models, runs, told } = openPlayedModel()
  models.take(notice('run'))
  runs[0]?.end.reject(Object.assign(new Error('busy'), { code: 'model_overloaded', retryable: true }))
  await settle()
  expect(told).toMatchObject([{ outcome: { error: { message: 'busy', code: 'model_overloaded', retryable: true } } }])
})
