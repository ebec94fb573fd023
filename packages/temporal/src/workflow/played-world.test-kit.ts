// A session over the played service: its agent's tools and models are activities of one worker, over a store in memory.
import type { Agent, NoticeDestination } from '@baton/core/internal'
import type { Fact, Input, SessionRecord } from '@baton/core/machine'
import { createMemoryStore } from '@baton/host'
import { onTestFinished, vi } from 'vitest'
import { SESSION_WORKFLOW, SUBMIT } from '../contract.ts'
import { TASK_WORKFLOW } from '../task-workflow.ts'
import type { Answers, Identity, Tuning } from '../contract.ts'
import { createMemoryBus } from '../live/live-bus.ts'
import { createActivities } from '../worker/activities.ts'
import type { PlacesOptions } from '../worker/places.ts'
import { Places } from '../worker/places.ts'
import { createWorkerNotices } from '../worker/worker-notices.ts'
import { PlayedService } from './played-service.test-kit.ts'
import { runSession } from './session-run.ts'
import { runTask } from './task.ts'

/** The test mocks the SDK: `vi.mock('@temporalio/workflow', …)` with `PLAYED_SDK`. */
export function createPlayedWorld(agent: Agent, tuning: Tuning = {}, notify: readonly NoticeDestination[] = []) {
  const store = createMemoryStore()
  const log = { info: () => {}, warn: () => {} }
  const bus = createMemoryBus()
  const update = (id: string, inputs: readonly Input[]): Promise<Answers> =>
    service.update<Answers>(id, SUBMIT, [{ inputs }])
  const submitter = {
    submitTo: (id: string) => (inputs: readonly Input[]) => update(id, inputs),
  } as unknown as PlacesOptions['submitter'] // the method that is called
  const places = new Places({ catalog: { agent }, store, bus, log, submitter })
  const start = (delayMs: number, callback: () => void): (() => void) => {
    let isStopped = false
    const fire = (): void => (isStopped ? undefined : callback())
    void service.wait(delayMs).then(fire)
    return () => void (isStopped = true)
  }
  const clock = { nowMs: () => service.nowMs }
  const notices = createWorkerNotices({ clock, timers: { start }, store, bus, log }, notify)
  let births = 0
  const activities = createActivities({
    places,
    store,
    bus,
    log,
    searchFields: [],
    timesOf: undefined,
    newId: () => `b${String((births += 1)).padStart(7, '0')}`,
    clock,
    notices,
  })
  const service = new PlayedService({ [SESSION_WORKFLOW]: runSession, [TASK_WORKFLOW]: runTask }, activities)
  vi.spyOn(Date, 'now').mockImplementation(() => service.nowMs)
  onTestFinished(async () => {
    vi.restoreAllMocks()
    await notices.stop()
    await places.close()
  })
  const identity: Identity = { session: 's', principal: 'ann', agent: agent.name, meta: {} }
  const begin = (): void => {
    if (!service.find('s')) service.start('s', { start: { identity, tuning } })
  }
  const read = async (session: string): Promise<readonly SessionRecord[]> => {
    const records: SessionRecord[] = []
    for await (const record of store.read(session, 0)) records.push(record)
    return records
  }
  const facts = async (session: string): Promise<readonly Fact[]> => (await read(session)).flatMap((one) => one.facts)
  const children = async (): Promise<readonly string[]> => {
    const names: string[] = []
    for await (const { session } of store.children('s')) names.push(session)
    return names
  }
  return { service, store, activities, start: begin, update, read, facts, children }
}

/** The generator mulberry32. */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
