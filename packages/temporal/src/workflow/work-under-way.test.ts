// Activities of a session as its workflow follows them, with the SDK's primitives played by the test: work that could
// not begin, and an interrupt before it is tried again.
import { ApplicationFailure, ActivityFailure, CancelledFailure, RetryState } from '@temporalio/common'
import type { State } from '@baton/core/machine'
import { effectKey, initialState } from '@baton/core/machine'
import { beforeEach, expect, test, vi } from 'vitest'
import type { WorkEffectData, WorkPlan } from '../contract.ts'
import { NOT_BEGUN } from '../contract.ts'
import { Publishing } from './publishing.ts'
import type { Ended } from './work-under-way.ts'
import { WorkUnderWay } from './work-under-way.ts'

const sdk = vi.hoisted(() => ({
  /** Activities and pauses so far, which end when the test says so. */
  activities: [] as PromiseWithResolvers<unknown>[],
  pauses: [] as PromiseWithResolvers<void>[],
  /** Whether the history being replayed is of an earlier version. */
  isOld: false,
}))

vi.mock('@temporalio/workflow', async (load) => {
  const wait = <Value>(list: PromiseWithResolvers<Value>[]): Promise<Value> => {
    const waiting = Promise.withResolvers<Value>()
    list.push(waiting)
    return waiting.promise
  }
  return {
    ...(await load<object>()),
    scheduleActivity: () => wait(sdk.activities),
    sleep: () => wait(sdk.pauses),
    patched: () => !sdk.isOld,
    log: { warn: () => {} },
    CancellationScope: class {
      readonly #cancelled = Promise.withResolvers<never>()
      get cancelRequested(): Promise<never> {
        return this.#cancelled.promise
      }
      constructor() {
        this.#cancelled.promise.catch(() => {})
      }
      run<Value>(act: () => Promise<Value>): Promise<Value> {
        return act()
      }
      cancel(): void {
        this.#cancelled.reject(new CancelledFailure('cancelled'))
      }
    },
  }
})

beforeEach(() => {
  sdk.activities.length = 0
  sdk.pauses.length = 0
  sdk.isOld = false
})

const modelOf = (attempt: number): WorkEffectData => ({ type: 'call-model', attempt }) as unknown as WorkEffectData // the fields that are read
const MODEL = modelOf(1)
const TOOL = { type: 'run-tool', callId: 'call', attempt: 1 } as unknown as WorkEffectData // the fields that are read
const PLAN = { runs: 'model', startToCloseMs: 1000 } as const satisfies WorkPlan

function createWork(effect: WorkEffectData) {
  const key = effectKey(effect)
  const ended: Ended[] = []
  let state: State = { ...initialState('s'), attempt: { attempt: 1 } as State['attempt'] }
  const work = new WorkUnderWay({
    publishing: new Publishing('s', []),
    identity: () => ({ session: 's', principal: 'ann', agent: 'a', meta: {} }),
    state: () => state,
    onEnd: (one) => void ended.push(one),
  })
  work.perform([effect], { [key]: PLAN })
  const fail = (): void =>
    sdk.activities
      .at(-1)
      ?.reject(
        new ActivityFailure(
          'failed',
          'baton.model',
          '1',
          RetryState.MAXIMUM_ATTEMPTS_REACHED,
          'worker',
          ApplicationFailure.create({ type: NOT_BEGUN, message: 'it could not start' }),
        ),
      )
  /** Fails to begin, so that it pauses. */
  const pause = async (): Promise<void> => {
    fail()
    await expect.poll(() => sdk.pauses).toHaveLength(1)
  }
  const interrupt = (): void => {
    state = { ...state, interrupting: {} as State['interrupting'] }
    work.perform([], {})
  }
  /** Begins the next model call, as after an interrupt whose model did not end in time. */
  const callNext = (): string => {
    const next = modelOf(2)
    state = { ...state, interrupting: null, attempt: { attempt: 2 } as State['attempt'] }
    work.perform([next], { [effectKey(next)]: PLAN })
    return effectKey(next)
  }
  /** Ends the pause, and lets what follows it happen. */
  const goOn = async (): Promise<void> => {
    sdk.pauses[0]?.resolve()
    await expect.poll(() => !work.isAwaited(key) || sdk.activities.length > 1).toBe(true)
  }
  return { work, key, ended, pause, interrupt, callNext, goOn }
}

test('a model call that could not begin and is interrupted before it is tried again has stopped, with no text', async () => {
  const { key, ended, pause, interrupt, goOn } = createWork(MODEL)
  await pause()
  interrupt()
  await goOn()
  expect(ended).toEqual([{ key, inputs: [{ type: 'model-stopped', attempt: 1, text: '' }] }])
  expect(sdk.activities).toHaveLength(1)
})

test('such a call of an earlier version’s history says nothing, as it did then', async () => {
  const { ended, pause, interrupt, goOn } = createWork(MODEL)
  sdk.isOld = true
  await pause()
  interrupt()
  await goOn()
  expect(ended).toEqual([])
})

test('a tool that could not begin and is no longer owed does not start, and has nothing to say', async () => {
  const { ended, pause, interrupt, goOn } = createWork(TOOL)
  await pause()
  interrupt()
  await goOn()
  expect([ended, sdk.activities.length]).toEqual([[], 1])
})

test('work that could not begin is tried again after a pause', async () => {
  const { work, ended, pause, goOn } = createWork(MODEL)
  await pause()
  await goOn()
  expect([ended, sdk.activities.length, work.isEmpty]).toEqual([[], 2, false])
})

test('a model call that waits for the one before it has stopped as soon as it is interrupted', async () => {
  const { ended, interrupt, callNext } = createWork(MODEL)
  interrupt()
  const next = callNext()
  interrupt()
  await expect.poll(() => ended).toEqual([{ key: next, inputs: [{ type: 'model-stopped', attempt: 2, text: '' }] }])
  expect(sdk.activities).toHaveLength(1)
})

test('an interrupted model call is awaited until its activity has reported the text so far', async () => {
  const { work, key, ended, interrupt } = createWork(MODEL)
  interrupt()
  expect([work.isAwaited(key), work.isEmpty]).toEqual([true, true])
  const report = { type: 'model-stopped', attempt: 1, text: 'Once upon' } as const
  sdk.activities[0]?.resolve(report)
  await expect.poll(() => ended).toEqual([{ key, inputs: [report] }])
  await expect.poll(() => work.isAwaited(key)).toBe(false)
})
