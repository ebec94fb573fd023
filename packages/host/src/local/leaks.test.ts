// A session of a thousand turns holds no more of the world than one of a single turn: no timers, listeners or runs.
import { getEventListeners } from 'node:events'
import type { Model } from '@baton/core'
import { BatonError } from '@baton/core'
import { createHistory, initialState } from '@baton/core/machine'
import { afterEach, expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import type { Actor } from './actor.ts'
import { createArgumentValidator } from './arguments.ts'
import { createModelRunner } from './model-runner.ts'
import { act, createManualTime, createTestWorld, never, noUnhandledRejections } from './test-world.ts'
import { createToolRunner } from './tool-runner.ts'

afterEach(noUnhandledRejections())

test('a thousand turns with tools that answer, throw and hang leave no timer and no listener behind', async () => {
  const signals: unknown[] = []
  const kinds = [() => 'fine', () => Promise.reject(new Error('broken')), never]
  let calls = 0
  const tools = [
    act(
      (_, { signal }) => {
        signals.push(signal)
        return kinds[(calls += 1) % kinds.length]?.()
      },
      { timeoutMs: 100 },
    ),
  ]
  const model: Model = {
    id: 'leak/model',
    provider: 'leak',
    capabilities: { tools: 'native', images: true },
    run: (request, _, signal) => {
      signals.push(signal)
      const asks = request.messages.at(-1)?.role === 'user'
      const parts = asks
        ? ([{ type: 'call', name: 'act', arguments: '{}' }] as const)
        : ([{ type: 'text', text: 'done' }] as const)
      return Promise.resolve({ parts, finish: asks ? 'tool-calls' : 'end', usage: {}, model: 'm' })
    },
  }
  const world = createTestWorld({ tools, models: model, steps: [] })
  const session = await world.open()
  for (let turn = 0; turn < 1000; turn++) expect((await world.time.until(session.send('go').answer)).text).toBe('done')
  expect(signals).toHaveLength(3000)
  expect(signals.filter((signal) => getEventListeners(signal as AbortSignal, 'abort').length > 0)).toEqual([])
  expect(world.time.pending()).toBe(0)
  expect(session.phase).toBe('idle')
})

function fakeActor(): { readonly actor: Actor; readonly inputs: unknown[] } {
  const inputs: unknown[] = []
  const history = createHistory()
  const [part] = [{ type: 'call', callId: 'call_id2_1_0', name: 'act', arguments: '{}' }] as const
  history.fold({
    version: 1,
    pos: 0,
    nowMs: 0,
    epoch: 1,
    input: { type: 'model-finished' },
    facts: [
      {
        type: 'step-finished',
        step: 1,
        attempt: 1,
        model: 'm',
        parts: [part],
        calls: [],
        finish: 'tool-calls',
        usage: {},
        textChars: 0,
        chars: 0,
        interrupted: false,
      },
    ],
  })
  const actor: Actor = {
    submit: async (input) => {
      inputs.push(input)
      return { type: 'accepted', pos: 0 }
    },
    begin: () => {},
    state: () => initialState('s'),
    history: () => history,
    isBusy: () => false,
    kill: () => {},
    release: () => Promise.resolve(),
  }
  return { actor, inputs }
}

function toolRunner(execute: () => unknown) {
  const { actor, inputs } = fakeActor()
  const tools = [act(execute)]
  const { environment, settle } = createManualTime()
  const runner = createToolRunner({
    session: 's',
    // Only its name is read here.
    agent: { name: 'tested' } as never,
    principal: { id: 'ann' },
    services: {},
    tools,
    environment,
    store: createMemoryStore(),
    validator: createArgumentValidator(),
    log: { info: () => {}, warn: () => {} },
    actor,
    publish: () => {},
  })
  return { runner, inputs, settle }
}

const RUN = { type: 'run-tool', callId: 'call_id2_1_0', attempt: 1 } as const

test('a runner forgets a tool that hangs when its call is over, and one that ended', async () => {
  const hanging = toolRunner(never)
  void hanging.runner.run(RUN)
  void hanging.runner.run({ ...RUN, attempt: 2 })
  await hanging.settle()
  expect(hanging.runner.count()).toBe(2)
  hanging.runner.abort('call_id2_1_0', 1)
  expect(hanging.runner.count()).toBe(1)
  hanging.runner.close()
  expect(hanging.runner.count()).toBe(0)
  const ending = toolRunner(() => Promise.reject(new BatonError({ code: 'tool_failed', message: 'no' })))
  await ending.runner.run(RUN)
  expect(ending.runner.count()).toBe(0)
  expect(ending.inputs).toHaveLength(1)
})

test('a tool whose call is over before its arguments were looked at is not executed', async () => {
  let executed = 0
  const { runner, inputs, settle } = toolRunner(() => (executed += 1))
  const run = runner.run(RUN)
  runner.abort('call_id2_1_0', 1)
  await run
  await settle()
  expect(executed).toBe(0)
  expect(inputs).toEqual([])
})

test('a runner forgets a model that hangs when it is aborted, and one that ended', async () => {
  const { actor, inputs } = fakeActor()
  const run: Model['run'] = (request) => (request.session === 'hangs' ? never() : Promise.reject(new Error('no')))
  const model: Model = { id: 'm', provider: 'p', capabilities: { tools: 'native', images: true }, run }
  const runner = createModelRunner({
    environment: createManualTime().environment,
    actor,
    modelOf: () => model,
    output: undefined,
    priceOf: undefined,
    request: ({ attempt }) => ({
      instructions: '',
      messages: [],
      tools: [],
      toolChoice: { type: 'auto' },
      settings: {},
      session: attempt === 2 ? 'ends' : 'hangs',
    }),
    check: () => Promise.resolve({ argumentsHash: '' }),
    publish: () => {},
  })
  const effect = { type: 'summarise', fromEntry: 0, toEntry: 0 } as const
  void runner.summarise({ ...effect, attempt: 1 })
  await runner.summarise({ ...effect, attempt: 2 })
  void runner.summarise({ ...effect, attempt: 3 })
  expect(runner.count()).toBe(2)
  runner.abort(1)
  expect(runner.count()).toBe(1)
  runner.close()
  expect(runner.count()).toBe(0)
  expect(inputs).toMatchObject([{ type: 'summary-failed', attempt: 2 }])
})
