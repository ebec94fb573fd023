// Reads of a caller before it starts the session of a call: records that the child has not read, and logs that cannot belong together.
import type { Agent, Tool } from '@baton/core'
import { defineAgent, delegate } from '@baton/core'
import type { Input, SessionRecord, State } from '@baton/core/machine'
import { applyRecord, initialState } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { expect, onTestFinished, test } from 'vitest'
import type { Identity, TellJob } from '../contract.ts'
import { createMemoryBus } from '../live/live-bus.ts'
import { decideInputs, openLog } from './decide.ts'
import { readReporting, readTelling } from './lanes.ts'
import type { PlacesOptions } from './places.ts'
import { Places } from './places.ts'

const log = { info: () => {}, warn: () => {} }

function agentOf(name: string, tools: readonly Tool[] = [], model?: string): Agent {
  return defineAgent({ name, model: model ?? createScriptedModel({ steps: [] }), tools }) as Agent
}

function createWorker(helper: Agent | (() => Agent)) {
  const store = createMemoryStore()
  const ask = delegate({ agent: helper, name: 'helper', description: 'Helps' })
  const submitter = { submitTo: () => () => Promise.resolve([]) } as unknown as PlacesOptions['submitter'] // no inputs are submitted
  const catalog = { agent: agentOf('boss', [ask]) }
  const places = new Places({ catalog, store, bus: createMemoryBus(), log, submitter })
  onTestFinished(() => places.close())
  let births = 0
  const newId = (): string => `birth${(births += 1)}`
  const init = { places, store, searchFields: [], timesOf: undefined, newId, clock: { nowMs: () => 1000 } }
  /** A session of which each record is published. */
  const open = async (identity: Identity) => {
    const { session, child } = identity
    let state: State = initialState(session)
    const under = child && { root: child.place.root }
    const take = async (records: readonly SessionRecord[]): Promise<void> => {
      for (const record of records) state = applyRecord(state, record)
      await store.put(session, records, under)
    }
    await take((await openLog(init, { identity, nowMs: 1000 })).records)
    const decide = async (...inputs: readonly Input[]) => {
      const job = { identity, state, inputs, nowMs: 1000, underWay: [], recent: [] }
      const decided = await decideInputs(init, job)
      await take(decided.records)
      return decided
    }
    const enter = async () => {
      const place = await places.enter(identity)
      await place.view.reach(state.pos)
      return place
    }
    return { identity, state: () => state, decide, enter }
  }
  const boss = async () => {
    const session = await open({ session: 's', principal: 'ann', agent: 'boss', meta: {} })
    const parts = [{ type: 'text', text: 'Go.' }] as const
    await session.decide({ type: 'user-input', inputId: 'i', parts, asks: true, delivery: 'queue' })
    const task = [{ type: 'text', text: 'Do it.' }] as const
    await session.decide({
      type: 'model-finished',
      attempt: session.state().attempt?.attempt ?? 0,
      model: 'scripted',
      parts: [{ type: 'call', name: 'helper', arguments: '{"task":"Do it."}' }],
      checks: [{ argumentsHash: 'hash', delegate: { agent: 'helper', task, acts: true } }],
      finish: 'tool-calls',
      usage: {},
      textBefore: '',
    })
    const [entry] = session.state().children
    const tell = async (how: Partial<TellJob> = {}) => {
      const { pos, birth } = session.state()
      const about = { identity: session.identity, pos, birth, records: [], callId: entry?.callId ?? '' }
      const place = await session.enter()
      try {
        return await readTelling({ places, log, place }, { ...about, from: -1, opens: true, compares: true, ...how })
      } finally {
        place.leave()
      }
    }
    return { ...session, tell, callId: entry?.callId ?? '' }
  }
  return { store, open, boss, places }
}

test('a call begins with the identity of its child, and with its task', async () => {
  const { boss } = createWorker(agentOf('helper'))
  const { tell, callId, identity } = await boss()
  expect(await tell()).toMatchObject({
    child: {
      session: expect.stringMatching(/^baton\.child\./) as string,
      principal: 'ann',
      agent: 'helper',
      child: { caller: identity, place: { session: 's', callId, root: 's', depth: 1, tools: ['helper'] } },
    },
    toldTo: -1,
    told: { type: 'parent-told', from: -1, items: [{ type: 'task', callId }] },
  })
})

test('a child that has its task is told the rest, and reports what it did', async () => {
  const { boss, open, places } = createWorker(agentOf('helper'))
  const caller = await boss()
  const { child, told } = await caller.tell()
  if (!child || !told) throw new Error('there is no child')
  const below = await open(child)
  await below.decide(told)
  await caller.decide({ type: 'interrupt', reason: 'user', heard: { type: 'all' } })
  expect((await caller.tell()).told).toMatchObject({ from: told.to, items: [{ type: 'end' }] })
  const place = await below.enter()
  const job = { identity: child, pos: below.state().pos, records: [], from: -1 }
  const { input } = await readReporting({ places, log, place }, job)
  place.leave()
  expect(input).toMatchObject({ callId: caller.callId, from: -1, to: below.state().pos, report: { acted: false } })
})

test('a log that was read and is gone is a lost child', async () => {
  const { boss, open, store } = createWorker(agentOf('helper'))
  const caller = await boss()
  const { child, told } = await caller.tell()
  if (!child || !told) throw new Error('there is no child')
  const below = await open(child)
  await below.decide(told)
  const { callId } = caller
  const { birth, pos: to } = below.state()
  const spent = { tokens: 0, costMicros: 0, rounds: 0, calls: 0 }
  const counts = { spent, acted: false, waits: false, untrusted: [], did: { calls: [] } }
  const report = { ...counts, requests: [], closed: [], ended: [] }
  await caller.decide({ type: 'child-reported', callId, birth, from: -1, to, report })
  const records: SessionRecord[] = []
  for await (const record of store.read('s', 0)) records.push(record)
  await store.remove('s')
  await store.put('s', records)
  const again = createWorker(agentOf('helper'))
  await again.store.put('s', records)
  const place = await again.places.enter(caller.identity)
  const job = { identity: caller.identity, pos: to, records: [], callId, from: -1, opens: true, compares: true }
  const { input } = await readTelling({ places: again.places, log, place }, job)
  place.leave()
  expect(input).toEqual({ type: 'child-lost', callId, code: 'child_lost', message: 'its log is gone' })
})

test('the log of another session under the name of the child is a lost child, and is not opened as one', async () => {
  const { boss, open } = createWorker(agentOf('helper'))
  const caller = await boss()
  const { child } = await caller.tell()
  if (!child?.child) throw new Error('there is no child')
  const foreign = { ...child, child: { ...child.child, place: { ...child.child.place, birth: 'other' } } }
  await open(foreign)
  expect((await caller.tell()).input).toMatchObject({
    type: 'child-lost',
    message: 'the session of its name does not belong to this call',
  })
  await expect(open(child)).rejects.toMatchObject({ code: 'child_lost' })
})

test('a child whose agent cannot be made fails its call', async () => {
  const { boss } = createWorker(() => {
    throw new Error('no agent today')
  })
  const { tell } = await boss()
  expect((await tell()).input).toMatchObject({
    type: 'child-reported',
    report: { end: { stop: 'failed', error: { code: 'invalid_tool' } } },
  })
})

test('a workflow under the id of a child that nobody called is refused', async () => {
  const { open } = createWorker(agentOf('helper'))
  await expect(
    open({ session: 'baton.child.prepared', principal: 'eve', agent: 'boss', meta: {} }),
  ).rejects.toMatchObject({ code: 'illegal_input' })
})
