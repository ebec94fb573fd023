// A session of a thousand turns retains no more than one of a single turn: no timers, listeners or runs.
import { frontOf } from '@baton/core/internal'
import { getEventListeners } from 'node:events'
import type { Model } from '@baton/core'
import { BatonError, defineAgent, voice } from '@baton/core'
import type { Effect, Input, SessionRecord } from '@baton/core/machine'
import { createHistory, initialState } from '@baton/core/machine'
import type { SessionWorld, WorkContext } from '@baton/runtime'
import { AbortedCalls, createArgumentValidator, RequestMessages, ValidatedArguments } from '@baton/runtime'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { Performer } from './performer.ts'
import { act, createManualTime, createTestWorld, never, noUnhandledRejections } from './test-world.test-kit.ts'

noUnhandledRejections()

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
  const world = createTestWorld({ profile: voice, tools, models: model, steps: [] })
  const session = await world.open()
  for (let turn = 0; turn < 1000; turn++) expect((await world.time.until(session.send('go').answer)).text).toBe('done')
  expect(signals).toHaveLength(3000)
  expect(signals.filter((signal) => getEventListeners(signal as AbortSignal, 'abort').length > 0)).toEqual([])
  expect(world.time.pending()).toBe(0)
  expect(frontOf(session).phase).toBe('idle')
})

const validator = createArgumentValidator()
await validator.load()

function createPerformer(world: { readonly execute?: () => unknown; readonly run?: Model['run'] }) {
  const { environment, settle } = createManualTime()
  const reports: Input[] = []
  const history = createHistory()
  history.fold(RECORD)
  const model: Model = {
    id: 'm',
    provider: 'p',
    capabilities: { tools: 'native', images: true },
    run: world.run ?? never,
  }
  const context: WorkContext = {
    agent: defineAgent({ name: 'tested' }),
    tools: world.execute ? [act(world.execute)] : [],
    modelOf: () => model,
    priceOf: undefined,
    services: {},
    validator,
    validated: new ValidatedArguments(),
    requestMessages: new RequestMessages(),
    output: undefined,
    blobs: createMemoryStore().blobs,
    timers: environment.timers,
    log: { info: () => {}, warn: () => {} },
    digest: (text) => text,
    digestMedia: (base64) => base64,
  }
  const performer = new Performer({
    timers: environment.timers,
    session: { session: 's', world: context as SessionWorld, publishLive: () => {} }, // only what work needs is used here
    aborted: new AbortedCalls(context),
    children: { start: () => {}, leave: () => {} },
    actor: {
      clock: environment.clock,
      history,
      submit: async (inputs) => {
        reports.push(...inputs)
        return inputs.map(() => ({ type: 'accepted', pos: 0 }))
      },
      fail: (cause) => {
        throw cause
      },
    },
  })
  /** Resolves once the work has reported, or the event loop has turned. */
  const start = async (effect: Effect): Promise<void> => {
    performer.perform(effect, STATE)
    await settle()
  }
  return { performer, reports, settle, start }
}

const RECORD: SessionRecord = {
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
      parts: [{ type: 'call', callId: 'call_id2_1_0', name: 'act', arguments: '{}' }],
      calls: [],
      finish: 'tool-calls',
      usage: {},
      textChars: 0,
      chars: 0,
      interrupted: false,
    },
  ],
}

const STATE = initialState('s')
const RUN = { type: 'run-tool', callId: 'call_id2_1_0', attempt: 1 } as const
const ABORT = { type: 'abort-tool', callId: 'call_id2_1_0', attempt: 1 } as const

test('a hanging or finished tool is forgotten when its call has ended', async () => {
  const hanging = createPerformer({ execute: never })
  void hanging.start(RUN)
  void hanging.start({ ...RUN, attempt: 2 })
  await hanging.settle()
  expect(hanging.performer.countRunning()).toBe(2)
  hanging.performer.perform(ABORT, STATE)
  expect(hanging.performer.countRunning()).toBe(1)
  hanging.performer.close()
  expect(hanging.performer.countRunning()).toBe(0)
  const ending = createPerformer({
    execute: () => Promise.reject(new BatonError({ code: 'tool_failed', message: 'no' })),
  })
  await ending.start(RUN)
  expect(ending.performer.countRunning()).toBe(0)
  expect(ending.reports).toHaveLength(1)
})

test('a tool is not executed if its call ends before its arguments were read', async () => {
  let executed = 0
  const { performer, reports, settle, start } = createPerformer({ execute: () => (executed += 1) })
  const run = start(RUN)
  performer.perform(ABORT, STATE)
  await run
  await settle()
  expect(executed).toBe(0)
  expect(reports).toEqual([])
})

test('a hanging or finished model is forgotten when it is aborted', async () => {
  let asked = 0
  const run: Model['run'] = () => ((asked += 1) === 2 ? Promise.reject(new Error('no')) : never())
  const { performer, reports, start } = createPerformer({ run })
  const effect = { type: 'summarise', fromEntry: 0, toEntry: 0 } as const
  void start({ ...effect, attempt: 1 })
  await start({ ...effect, attempt: 2 })
  void start({ ...effect, attempt: 3 })
  expect(performer.countRunning()).toBe(2)
  performer.perform({ type: 'abort-summary', attempt: 1 }, STATE)
  expect(performer.countRunning()).toBe(1)
  performer.close()
  expect(performer.countRunning()).toBe(0)
  expect(reports).toMatchObject([{ type: 'summary-failed', attempt: 2 }])
})
