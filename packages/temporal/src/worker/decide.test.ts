// Plans of decisions for a tool that is an activity, attempt by attempt.
import { defineAgent } from '@baton/core'
import type { Input, SessionRecord, State } from '@baton/core/machine'
import { applyRecord, initialState } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { expect, onTestFinished, test } from 'vitest'
import type { WorkPlan } from '../contract.ts'
import { createMemoryBus } from '../live/live-bus.ts'
import { temporalTool } from '../temporal-tool.ts'
import { decideInputs, openLog } from './decide.ts'
import type { PlacesOptions } from './places.ts'
import { Places } from './places.ts'

test('an idempotent activity whose worker died is started again with the key of its first attempt', async () => {
  const charge = temporalTool({
    name: 'charge',
    description: 'Charges a card.',
    input: { type: 'object', properties: { cents: { type: 'integer' } } } as const,
    effect: 'idempotent',
    runs: 'activity',
    type: 'charge',
  })
  const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: [] }), tools: [charge] })
  const store = createMemoryStore()
  const places = new Places({
    catalog: { agent },
    store,
    bus: createMemoryBus(),
    log: { info: () => {}, warn: () => {} },
    submitter: { submitTo: () => () => Promise.resolve([]) } as unknown as PlacesOptions['submitter'], // no inputs are submitted
  })
  onTestFinished(() => places.close())
  const identity = { session: 's', agent: 'a', principal: 'ann', meta: {} }
  const init = {
    places,
    store,
    searchFields: [],
    timesOf: undefined,
    newId: () => 'birth',
    clock: { nowMs: () => 1000 },
  }
  const recent: SessionRecord[] = []
  let state: State = initialState('s')
  const take = (records: readonly SessionRecord[]): void => {
    recent.push(...records)
    for (const record of records) state = applyRecord(state, record)
  }
  take((await openLog(init, { identity, nowMs: 1000 })).records)
  const decide = async (...inputs: readonly Input[]): Promise<readonly WorkPlan[]> => {
    const { records, plans } = await decideInputs(init, {
      identity,
      state,
      inputs,
      nowMs: 1000,
      underWay: [],
      recent: [...recent],
    })
    take(records)
    return Object.values(plans)
  }
  const parts = [{ type: 'text', text: 'charge it' }] as const
  await decide({ type: 'user-input', inputId: 'i', parts, asks: false, delivery: 'queue' })
  const attempt = state.attempt?.attempt ?? 0
  const call = { type: 'call', name: 'charge', arguments: '{"cents":5}' } as const
  const [first] = await decide({
    type: 'model-finished',
    attempt,
    model: 'scripted',
    parts: [call],
    checks: [{ argumentsHash: 'hash' }],
    finish: 'tool-calls',
    usage: {},
    textBefore: '',
  })
  const callId = state.step?.calls[0]?.callId ?? ''
  const [second] = await decide({ type: 'work-lost', work: { type: 'tool', callId, attempt: 1 } })
  const keysOf = (plan: WorkPlan | undefined) => (plan && 'args' in plan ? plan.args[1] : undefined)
  expect([keysOf(first), keysOf(second)]).toMatchObject([
    { callId, attempt: 1, idempotencyKey: `s/${callId}` },
    { callId, attempt: 2, idempotencyKey: `s/${callId}` },
  ])
})
