// Activities that are cancelled, without a Temporal service: their context is the one of the SDK.
import { defineAgent, tool } from '@baton/core'
import type { Input, SessionRecord, State } from '@baton/core/machine'
import { applyRecord, initialState, outstanding } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { asyncLocalStorage, Context } from '@temporalio/activity'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { WorkEffectData, WorkJob } from '../contract.ts'
import { createMemoryBus } from '../live/live-bus.ts'
import { createActivities } from './activities.ts'
import { decideInputs, openLog } from './decide.ts'
import type { PlacesOptions } from './places.ts'
import { Places } from './places.ts'
import { createWorkerNotices } from './worker-notices.ts'
import { SYSTEM_TIME } from '@baton/runtime'

const ACT = [
  { type: 'user-input', inputId: 'i', parts: [{ type: 'text', text: 'pay' }], asks: false, delivery: 'queue' },
  {
    type: 'model-finished',
    attempt: 1,
    model: 'scripted',
    parts: [{ type: 'call', name: 'pay', arguments: '{}' }],
    checks: [{ argumentsHash: 'hash' }],
    finish: 'tool-calls',
    usage: {},
    textBefore: '',
  },
] as const satisfies readonly Input[]

/** A session up to these inputs, with the activities of its worker. `paid` counts runs of its tool. */
async function createActing(inputs: readonly Input[]) {
  const counts = { paid: 0, asked: 0 }
  const execute = (): string => `paid ${(counts.paid += 1)}`
  const pay = tool({ name: 'pay', description: 'Pays.', input: { type: 'object' } as const, execute })
  const steps = () => ({ text: `asked ${(counts.asked += 1)}` })
  const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [pay] })
  const gate = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const memory = createMemoryStore()
  const store = Object.assign(Object.create(memory) as typeof memory, {
    put: async (...args: Parameters<typeof memory.put>) => {
      arrived.resolve()
      await gate.promise
      await memory.put(...args)
    },
  })
  const log = { info: () => {}, warn: () => {} }
  const submitter = { submitTo: () => () => Promise.resolve([]) } as unknown as PlacesOptions['submitter'] // no inputs are submitted
  const bus = createMemoryBus()
  const places = new Places({ catalog: { agent }, store: memory, bus, log, submitter })
  onTestFinished(() => places.close())
  const identity = { session: 's', agent: 'a', principal: 'ann', meta: {} }
  const init = { places, store, bus, log, searchFields: [], timesOf: undefined, clock: { nowMs: () => 1000 } }
  const notices = createWorkerNotices({ ...SYSTEM_TIME, store: memory, bus, log })
  const decisions = { ...init, notices, newId: () => 'birth' }
  /** The work of a new session with this birth. */
  const createJob = async (birth: string): Promise<WorkJob> => {
    const deciding = { ...init, store: memory, newId: () => birth }
    const records: SessionRecord[] = []
    let state: State = initialState('s')
    const take = (added: readonly SessionRecord[]): void => {
      records.push(...added)
      for (const record of added) state = applyRecord(state, record)
    }
    take((await openLog(deciding, { identity, nowMs: 1000 })).records)
    for (const input of inputs) {
      const job = { identity, state, inputs: [input], nowMs: 1000, underWay: [], recent: [...records] }
      take((await decideInputs(deciding, job)).records)
    }
    const effect = outstanding(state).find(({ type }) => type === 'run-tool' || type === 'call-model') as WorkEffectData // one of these types
    return { identity, effect, pos: state.pos, records, birth: state.birth }
  }
  const remove = (): Promise<void> => memory.remove('s')
  const job = await createJob('birth')
  const activities = createActivities(decisions)
  return { counts, job, createJob, remove, places, activities, arrived: arrived.promise, open: gate.resolve }
}

/** Runs it as a worker does. */
function runActivity<Value>(act: () => Promise<Value>, signal: AbortSignal): Promise<Value> {
  const rest = [undefined, undefined, undefined, {}] as unknown as [never, never, never, never] // none is read
  const info = { activityId: '1' } as ConstructorParameters<typeof Context>[0] // the only field that is read
  const never = new Promise<never>(() => {})
  return asyncLocalStorage.run(new Context(info, never, signal, () => {}, ...rest), act)
}

test('a tool whose activity is cancelled while it begins does not run', async () => {
  const { counts, job, activities, arrived, open } = await createActing(ACT)
  const cancellation = new AbortController()
  const running = runActivity(() => activities['baton.tool'](job), cancellation.signal)
  await arrived
  cancellation.abort(new Error('CANCELLED'))
  open()
  expect(await running).toBeUndefined()
  expect(counts.paid).toBe(0)
})

test('a tool whose worker is shut down while it begins does not run, and is lost', async () => {
  const { counts, job, activities, arrived, open } = await createActing(ACT)
  const cancellation = new AbortController()
  const running = runActivity(() => activities['baton.tool'](job), cancellation.signal)
  await arrived
  cancellation.abort(new Error('WORKER_SHUTDOWN'))
  open()
  await expect(running).rejects.toMatchObject({ type: 'baton.worker_shutdown' })
  expect(counts.paid).toBe(0)
})

test('a model call that is cancelled while it begins asks no model', async () => {
  const { counts, job, activities, arrived, open } = await createActing(ACT.slice(0, 1))
  const cancellation = new AbortController()
  const running = runActivity(() => activities['baton.model'](job), cancellation.signal)
  await arrived
  cancellation.abort(new Error('CANCELLED'))
  open()
  expect(await running).toMatchObject({ type: 'model-stopped', text: '' })
  expect(counts.asked).toBe(0)
})

test('a tool that is not cancelled runs once', async () => {
  const { counts, job, activities, open } = await createActing(ACT)
  open()
  const running = runActivity(() => activities['baton.tool'](job), new AbortController().signal)
  expect(await running).toMatchObject({ type: 'tool-finished', outcome: { type: 'ok' } })
  expect(counts.paid).toBe(1)
})

describe('a session that was removed, and started again under its name', () => {
  const { signal } = new AbortController()

  test('leaves work that ends for good, and takes no view from its successor', async () => {
    const { counts, job, places, activities, open } = await createActing(ACT.slice(0, 1))
    open()
    await runActivity(() => activities['baton.model'](job), signal)
    const { view, leave } = await places.enter(job.identity)
    const stale = { ...job, birth: 'earlier', records: [] }
    await expect(runActivity(() => activities['baton.model'](stale), signal)).rejects.toMatchObject({
      type: 'store_conflict',
      nonRetryable: true,
    })
    expect((await places.enter(job.identity)).view).toBe(view)
    leave()
    expect(counts.asked).toBe(1)
  })

  test('does its work also where its predecessor is still known', async () => {
    const { counts, job, createJob, remove, activities, open } = await createActing(ACT.slice(0, 1))
    open()
    await runActivity(() => activities['baton.model'](job), signal)
    await remove()
    const next = await createJob('later')
    expect(await runActivity(() => activities['baton.model'](next), signal)).toMatchObject({ type: 'model-finished' })
    expect(counts.asked).toBe(2)
  })
})
