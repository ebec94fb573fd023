// A model that runs in apps: which app gets a call, and what happens if the app is missing, disconnects or stays
// silent.
import type { ModelAnswer, ModelEvent, ModelRequest, ModelRunner } from '@baton/core/internal'
import { isClientModel } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { withPromptedTools } from '../prompted/index.ts'
import { clientModel } from './index.ts'

const SILENT: ModelRunner = { run: () => new Promise(() => {}) }

function request(session = 's'): ModelRequest {
  return { instructions: '', messages: [], tools: [], toolChoice: { type: 'none' }, settings: {}, session }
}

function says(text: string): ModelRunner {
  const answer: ModelAnswer = { parts: [{ type: 'text', text }], finish: 'end', usage: {}, model: 'tiny' }
  return {
    run: (_, sink) => {
      sink({ type: 'text-delta', text })
      return Promise.resolve(answer)
    },
  }
}

function createTimers() {
  const due: (() => void)[] = []
  return {
    due,
    timers: {
      start: (_: number, callback: () => void) => {
        due.push(callback)
        return () => void due.splice(due.indexOf(callback), 1)
      },
    },
  }
}

function ask(model: ReturnType<typeof clientModel>, session = 's') {
  const abort = new AbortController()
  const heard: ModelEvent[] = []
  const answer = model.run(request(session), (event) => void heard.push(event), abort.signal)
  answer.catch(() => {})
  return { abort, answer, heard }
}

test('the app of the session that came last is asked, and apps of other sessions never are', async () => {
  const model = clientModel({ id: 'device/tiny', contextTokens: 4096 })
  expect(model).toMatchObject({
    provider: 'device',
    capabilities: { contextTokens: 4096, tools: 'native', network: false },
  })
  expect([isClientModel(model), isClientModel(createScriptedModel({ steps: [] }))]).toEqual([true, false])
  model.attach('s', says('first'))
  const leave = model.attach('s', says('second'))
  model.attach('other', says('other'))
  const { answer, heard } = ask(model)
  expect((await answer).parts).toEqual([{ type: 'text', text: 'second' }])
  expect(heard).toEqual([{ type: 'text-delta', text: 'second' }])
  leave()
  expect((await ask(model).answer).parts).toEqual([{ type: 'text', text: 'first' }])
})

test('a call waits for an app, and no longer than it may', async () => {
  const { timers, due } = createTimers()
  const model = clientModel({ id: 'device/tiny', timers, waitMs: 500 })
  const waits = ask(model)
  const elsewhere = ask(model, 'other')
  model.attach('s', says('here'))
  expect((await waits.answer).parts).toEqual([{ type: 'text', text: 'here' }])
  expect(due).toHaveLength(1)
  due[0]?.()
  await expect(elsewhere.answer).rejects.toMatchObject({
    code: 'model_network_failed',
    message: 'no app of this session runs the model device/tiny; waited 500 ms for one',
    hint: expect.stringContaining('models: { "device/tiny"'),
  })
})

test('when the app goes away the call fails so that it is tried again, and the app is told to stop', async () => {
  const model = clientModel({ id: 'device/tiny' })
  const signals: { readonly aborted: boolean }[] = []
  const leave = model.attach('s', {
    run: (_, sink, signal) => {
      signals.push(signal)
      sink({ type: 'text-delta', text: 'begun' })
      return new Promise(() => {})
    },
  })
  const { answer, heard } = ask(model)
  await new Promise((resolve) => setImmediate(resolve))
  leave()
  await expect(answer).rejects.toMatchObject({ code: 'model_network_failed', retryable: true })
  expect([heard.length, signals[0]?.aborted]).toEqual([1, true])
})

test('an app is not told what the agent says to other providers', async () => {
  const model = clientModel({ id: 'device/tiny' })
  const told: ModelRequest[] = []
  model.attach('s', {
    run: async (given, ...more) => {
      told.push(given)
      return await says('Hi').run(given, ...more)
    },
  })
  const of = (name: string) => ({ [name]: { mcp_servers: [{ authorization_token: 'secret' }] } })
  const settings = {
    temperature: 0,
    provider: { ...of('anthropic'), device: { threads: 2 } },
    serverTools: { anthropic: [{ type: 'web_search' }] },
  }
  await model.run({ ...request(), settings }, () => {}, new AbortController().signal)
  expect(told.map((one) => one.settings)).toEqual([{ temperature: 0, provider: { device: { threads: 2 } } }])
})

const ENDLESS = { length: Number.MAX_SAFE_INTEGER }

test.each([null, { type: 'text-delta' }, { type: 'text-delta', text: 5 }, { type: 'text-delta', text: ENDLESS }])(
  'a wrapped model that streams %j harms nobody',
  async (piece) => {
    const model = clientModel({ id: 'device/tiny', tools: 'none' })
    let say: ((event: ModelEvent) => void) | undefined
    model.attach('s', {
      run: (_, sink) => {
        say = sink
        return new Promise(() => {})
      },
    })
    const heard: ModelEvent[] = []
    const tools = [{ name: 'look', description: 'Looks', inputSchema: { type: 'object' } }]
    const asked: ModelRequest = { ...request(), tools, toolChoice: { type: 'auto' } }
    const wrapped = withPromptedTools(model)
    const answer = wrapped.run(asked, (event) => void heard.push(event), new AbortController().signal)
    await new Promise((resolve) => setImmediate(resolve))
    expect(() => say?.(piece as never)).not.toThrow()
    await expect(answer).rejects.toMatchObject({ code: 'model_malformed_answer' })
  },
)

test('a wrapped model that answers what is no answer is refused before the wrapper reads it', async () => {
  const model = clientModel({ id: 'device/tiny', tools: 'none' })
  const parts = [{ type: 'text', text: ENDLESS }]
  model.attach('s', { run: () => Promise.resolve({ parts, finish: 'end', usage: {}, model: 'tiny' } as never) })
  const tools = [{ name: 'look', description: 'Looks', inputSchema: { type: 'object' } }]
  const asked: ModelRequest = { ...request(), tools, toolChoice: { type: 'auto' } }
  const answer = withPromptedTools(model).run(asked, () => {}, new AbortController().signal)
  await expect(answer).rejects.toMatchObject({ code: 'model_malformed_answer' })
})

test('a call that waited for an app which left at once fails so that it is tried again', async () => {
  const model = clientModel({ id: 'device/tiny' })
  const { answer } = ask(model)
  let asked = 0
  model.attach('s', {
    run: () => {
      asked += 1
      return new Promise(() => {})
    },
  })()
  await expect(answer).rejects.toMatchObject({ code: 'model_network_failed', retryable: true })
  expect(asked).toBe(0)
})

test('an app that leaves before it was asked is not asked', async () => {
  const model = clientModel({ id: 'device/tiny' })
  const signals: { readonly aborted: boolean }[] = []
  const leave = model.attach('s', {
    run: (_, __, signal) => {
      signals.push({ aborted: signal.aborted })
      return new Promise(() => {})
    },
  })
  const { answer } = ask(model)
  leave()
  await expect(answer).rejects.toMatchObject({ code: 'model_network_failed' })
  expect(signals.filter(({ aborted }) => aborted)).toEqual([])
})

test.each([
  ['waits for an app', undefined],
  ['is asked of an app that ignores its signal', SILENT],
])('a call that %s ends when it is cancelled', async (_, runner) => {
  const { timers, due } = createTimers()
  const model = clientModel({ id: 'device/tiny', timers })
  if (runner) model.attach('s', runner)
  const { answer, abort } = ask(model)
  await new Promise((resolve) => setImmediate(resolve))
  abort.abort()
  await expect(answer).rejects.toMatchObject({ code: 'cancelled' })
  expect(due).toEqual([])
})

test('what an app says after the end reaches nobody', async () => {
  const model = clientModel({ id: 'device/tiny' })
  let say: ((event: ModelEvent) => void) | undefined
  model.attach('s', {
    run: (_, sink) => {
      say = sink
      return new Promise(() => {})
    },
  })
  const { answer, heard, abort } = ask(model)
  await new Promise((resolve) => setImmediate(resolve))
  abort.abort()
  await expect(answer).rejects.toMatchObject({ code: 'cancelled' })
  say?.({ type: 'text-delta', text: 'late' })
  expect(heard).toEqual([])
})

test.each([
  [{ id: '' }, 'id must be a string of 1 to 128 characters'],
  [{ id: 'a', waitMs: -1 }, 'waitMs must be a whole number from 0 to 3600000, not -1'],
  [{ id: 'a', contextTokens: 0.5 }, 'contextTokens must be a whole number greater than 0, not 0.5'],
  [{ id: 'a', tools: 'some' }, 'tools must be "native", "none"'],
  [{ id: 'a', window: 5 }, 'clientModel has no field "window"'],
])('%j is refused', (options, message) => {
  expect(() => clientModel(options as never)).toThrow(message)
})

test('of two calls that wait for an app, one that is cancelled leaves the other its app', async () => {
  const { due, timers } = createTimers()
  const model = clientModel({ id: 'device/tiny', timers })
  const [first, second] = [ask(model), ask(model)]
  first.abort.abort()
  await expect(first.answer).rejects.toMatchObject({ code: 'cancelled' })
  const third = ask(model)
  model.attach('s', says('here'))
  for (const { answer } of [second, third]) expect((await answer).parts).toEqual([{ type: 'text', text: 'here' }])
  expect(due).toEqual([])
})
