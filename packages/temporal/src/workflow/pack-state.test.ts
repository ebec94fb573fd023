// The state passed from one run of a workflow to the next.
import type { SessionRecord, State } from '@baton/core/machine'
import { applyRecord, followRecord, initialState, outstanding } from '@baton/core/machine'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { packState, readCarriedState, unpackState } from './pack-state.ts'

/** The state as the other side reads it. */
function carry(state: State): { readonly bytes: number; readonly state: State } {
  const text = JSON.stringify(packState(state))
  return { bytes: Buffer.byteLength(text), state: unpackState(JSON.parse(text) as ReturnType<typeof packState>) } // packed above
}

const GOLDEN = join(import.meta.dirname, '../../../testing/src/golden')
const logs = readdirSync(GOLDEN, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.jsonl') && !file.endsWith('.events.jsonl'),
)

describe('a state that goes to the next run', () => {
  test('of a worker with fewer fields has them like a new session, and can continue', () => {
    const { tasks, displayedChars, ...older } = { ...initialState('s'), pos: 7, title: 'old' }
    expect([tasks, displayedChars]).toEqual([[], null])
    const { packed, ...others } = packState({ ...older, tasks, displayedChars })
    const { tasks: _, displayedChars: __, ...rest } = others
    for (const carried of [older, { ...rest, packed }]) {
      const state = readCarriedState(carried as State) // JSON of an older version
      expect(state).toEqual({ ...older, tasks, displayedChars })
      expect(outstanding(state)).toEqual([])
    }
  })

  test('of a worker that kept detached tools apart still has them', () => {
    const clock = { mode: 'open', deadline: null }
    const call = {
      callId: 'call_1_0',
      name: 'play',
      runs: 'server',
      state: 'started',
      attempt: 1,
      questions: [],
      clock,
    }
    const { tasks: _, ...older } = { ...initialState('s'), pos: 7, detached: [call] }
    const state = readCarriedState(older as unknown as State) // JSON of an older version
    expect(state.tasks).toMatchObject([{ ...call, task: { origin: 'interrupt', wake: 'note' } }])
    expect(state).not.toHaveProperty('detached')
    expect(outstanding(state)).toContainEqual({ type: 'run-tool', callId: 'call_1_0', attempt: 1 })
  })

  test('there are logs to look at', () => expect(logs.length).toBeGreaterThan(0))

  test.each(logs)('is equal to what it was after every record of %s', (file) => {
    const lines = readFileSync(join(GOLDEN, file), 'utf8').split('\n').filter(Boolean)
    // An export, or records alone.
    const parsed = lines.map((line) => JSON.parse(line) as { readonly record?: SessionRecord } | SessionRecord)
    const records = parsed.flatMap((one) => ('facts' in one ? one : (one.record ?? [])))
    expect(records.length).toBeGreaterThan(1)
    let state = initialState('golden')
    for (const record of records) {
      followRecord(state, record)
      state = applyRecord(state, record)
      expect(carry(state).state).toEqual(state)
    }
  })

  test('holds items with any fields, also none and those with gaps', () => {
    const entry = { entry: 3, exchange: 1, role: 'user', chars: 10 } as const
    const media = { parts: 1, chars: 3 } as never
    const index = [
      entry,
      { ...entry, entry: 9, step: 2, media },
      { ...entry, inputs: ['a', 'b'], notes: [] },
      { ...entry, chars: 0.5, inputs: [] },
      { ...entry, role: 'step', inputs: ['b'], step: -7, notes: [4, 5] },
    ] as const
    const recentInputs = [{ inputId: '__proto__', pos: 2 ** 50 }]
    const state = { ...initialState('s'), index, recentInputs }
    expect(carry(state).state).toEqual(state)
    expect(carry(initialState('s')).state).toEqual(initialState('s'))
  })

  test('has less than 50 KB after 500 turns, with the ids of inputs that programs make', async () => {
    const store = createMemoryStore()
    const model = createScriptedModel({ steps: (_, call) => ({ text: `answer ${call}: ${'word '.repeat(100)}` }) })
    const add = tool({ name: 'add', description: 'adds', input: { type: 'object' }, execute: () => 3 })
    const host = createHost({ store, agent: defineAgent({ name: 'long', model, tools: [add] }) })
    const session = await host.session('long')
    for (let turn = 0; turn < 500; turn++) await session.send(`question ${turn}`).answer
    await host.stop()
    let state = initialState('long')
    for await (const record of store.read('long', 0)) {
      followRecord(state, record)
      state = applyRecord(state, record)
    }
    const { bytes, state: unpacked } = carry(state)
    console.log(`after 500 turns the state has ${Buffer.byteLength(JSON.stringify(state))} bytes, packed ${bytes}`)
    expect(unpacked).toEqual(state)
    expect(bytes).toBeLessThan(50_000)
  })
})
