// A model that keeps failing is skipped; after a while one call tries it again.
import type { Model, ModelRequest } from '@baton/core'
import { BatonError } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createCircuitBreakers, FAILURES_MAX, OPEN_MS } from './circuit-breaker.ts'

const REQUEST: ModelRequest = {
  instructions: '',
  messages: [],
  tools: [],
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's',
}

function guarded(code: 'model_overloaded' | 'model_invalid_request' = 'model_overloaded') {
  const state = { nowMs: 0, wallMs: 0, calls: 0, works: false, hold: Promise.resolve() }
  const model: Model = {
    ...createScriptedModel({ steps: [] }),
    run: async () => {
      state.calls += 1
      await state.hold
      if (state.works) return { parts: [], finish: 'end', usage: {}, model: 'm' }
      throw new BatonError({ code, message: 'busy' })
    },
  }
  const { run } = createCircuitBreakers({ nowMs: () => state.wallMs, monotonicMs: () => state.nowMs }).guard(model)
  const ask = (): Promise<string> =>
    run(REQUEST, () => {}, new AbortController().signal).then(
      () => 'answered',
      (cause: unknown) => (cause as BatonError).code,
    )
  const fail = async (): Promise<void> => {
    for (let index = 0; index < FAILURES_MAX; index++) await ask()
  }
  return { state, run, ask, fail }
}

test('after failures in a row it is not asked any more, until its time is over', async () => {
  const { state, ask, fail } = guarded()
  await fail()
  expect(await ask()).toBe('model_unavailable')
  state.nowMs += OPEN_MS - 1
  expect(await ask()).toBe('model_unavailable')
  expect(state.calls).toBe(FAILURES_MAX)
  state.nowMs += 1
  expect(await ask()).toBe('model_overloaded')
  expect(await ask()).toBe('model_unavailable')
})

test('a clock that is set makes its time neither longer nor shorter', async () => {
  const { state, ask, fail } = guarded()
  await fail()
  state.wallMs = 86_400_000
  expect(await ask()).toBe('model_unavailable')
  state.wallMs = -86_400_000
  state.nowMs += OPEN_MS
  expect(await ask()).toBe('model_overloaded')
})

test('who is refused is told of what the model failed', async () => {
  const { run, fail } = guarded()
  await fail()
  const refused = run(REQUEST, () => {}, new AbortController().signal)
  await expect(refused).rejects.toMatchObject({
    message: 'scripted/model failed 5 times in a row and is skipped for 30 s; last failure: busy',
    cause: { code: 'model_overloaded' },
  })
})

test('one call at a time tries it, and when it answers all may ask again', async () => {
  const { state, ask, fail } = guarded()
  await fail()
  state.nowMs += OPEN_MS
  state.works = true
  const gate = Promise.withResolvers<void>()
  state.hold = gate.promise
  const first = ask()
  expect(await ask()).toBe('model_unavailable')
  gate.resolve()
  expect(await first).toBe('answered')
  expect(await ask()).toBe('answered')
})

test('an answer in between begins the count anew, and what is wrong with a request does not count', async () => {
  const { state, ask } = guarded()
  for (let index = 0; index < FAILURES_MAX * 2; index++) {
    state.works = index % FAILURES_MAX === FAILURES_MAX - 1
    await ask()
  }
  state.works = false
  expect(await ask()).toBe('model_overloaded')
  const wrong = guarded('model_invalid_request')
  await wrong.fail()
  expect(await wrong.ask()).toBe('model_invalid_request')
})

test('a call that began before the model was left alone does not let a second one try it', async () => {
  const { state, ask, fail } = guarded()
  const early = Promise.withResolvers<void>()
  state.hold = early.promise
  const old = ask()
  state.hold = Promise.resolve()
  await fail()
  state.nowMs += OPEN_MS
  const gate = Promise.withResolvers<void>()
  state.hold = gate.promise
  const trying = ask()
  early.resolve()
  await old
  state.nowMs += OPEN_MS
  const { calls } = state
  expect([await ask(), state.calls]).toEqual(['model_unavailable', calls])
  gate.resolve()
  await trying
})

test('a model that is an instance of a class still says what it is', async () => {
  class Own implements Model {
    readonly #name = 'model'

    get id(): string {
      return `own/${this.#name}`
    }

    get provider(): string {
      return 'own'
    }

    get capabilities(): Model['capabilities'] {
      return { tools: 'native', images: true }
    }

    run(): ReturnType<Model['run']> {
      return Promise.resolve({ parts: [], finish: 'end', usage: {}, model: this.#name })
    }
  }
  const model = createCircuitBreakers({ nowMs: () => 0 }).guard(new Own())
  const { id, provider, capabilities } = model
  expect({ id, provider, capabilities }).toEqual({
    id: 'own/model',
    provider: 'own',
    capabilities: { tools: 'native', images: true },
  })
  expect(await model.run(REQUEST, () => {}, new AbortController().signal)).toMatchObject({ model: 'model' })
})
