// Costs of sessions for a Temporal service: events, actions and bytes of plain, long and wide ones. The numbers are
// printed.
import { BatonError, tool } from '@baton/core'
import { applyRecord, followRecord, initialState } from '@baton/core/machine'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import type { temporal } from '@temporalio/proto'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { Submitter } from './submitter.ts'
import type { TemporalWorld, TemporalWorldOptions } from './temporal-world.test-kit.ts'
import { playInWorld, settlements } from './temporal-world.test-kit.ts'
import { packState } from './workflow/pack-state.ts'

type HistoryEvent = temporal.api.history.v1.IHistoryEvent

const program = findTemporal('what long sessions cost Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

const withWorld = (init: TemporalWorldOptions, play: (world: TemporalWorld) => Promise<void>): Promise<void> =>
  playInWorld(server, init, play)

interface Cost {
  readonly events: number
  readonly actions: number
}

async function readEvents(world: TemporalWorld, session: string, runId?: string): Promise<readonly HistoryEvent[]> {
  const { events } = await world.client.workflow.getHandle(session, runId).fetchHistory()
  return events ?? []
}

/**
 * Actions as billed by Temporal: starts, Updates, timers, activities; the local ones of a workflow task count as one.
 */
function countActions(events: readonly HistoryEvent[]): number {
  const tasks = new Set<string>()
  let actions = 0
  for (const event of events) {
    const { markerRecordedEventAttributes: marker, workflowExecutionUpdateAcceptedEventAttributes: update } = event
    if (marker) tasks.add(String(marker.workflowTaskCompletedEventId))
    else if (update || event.timerStartedEventAttributes || event.workflowExecutionStartedEventAttributes) actions += 1
    else if (event.activityTaskScheduledEventAttributes) actions += 1
  }
  return actions + tasks.size
}

/** Counts after the session's first turn. */
async function measureTurn(world: TemporalWorld, say: (session: string) => Promise<void>): Promise<Cost> {
  const session = await world.host.session(randomUUID())
  await session.send('begin').answer
  await world.settle(session.id)
  const before = await readEvents(world, session.id)
  await say(session.id)
  await world.settle(session.id)
  const after = await readEvents(world, session.id)
  return { events: after.length - before.length, actions: countActions(after) - countActions(before) }
}

const add = tool({
  name: 'add',
  description: 'adds',
  input: { type: 'object' },
  effect: 'pure',
  execute: () => ({ sum: 3 }),
})
const callAdd = { name: 'add', arguments: '{}' }

describe.skipIf(!server)('requests to Temporal', () => {
  test.each([
    ['a plain turn', 35, 11, [{ text: 'one' }, { text: 'two' }]],
    ['a turn with a tool', 35, 11, [{ text: 'one' }, { calls: [callAdd] }, { text: 'two' }]],
    // Results that arrive together are one decision, and Temporal may deliver them together or separately: 42 to 50
    // events.
    ['a turn with three tools', 55, 15, [{ text: 'one' }, { calls: [callAdd, callAdd, callAdd] }, { text: 'two' }]],
  ])('%s takes fewer than %i events and %i actions', async (name, eventsMax, actionsMax, steps) => {
    await withWorld({ steps, tools: [add] }, async (world) => {
      const { events, actions } = await measureTurn(world, async (id) => {
        await (await world.host.session(id)).send('go on').answer
      })
      console.log(`cost: ${name}: ${events} events, ${actions} actions`)
      expect(events).toBeLessThan(eventsMax)
      expect(actions).toBeLessThan(actionsMax)
    })
  })

  test('a session of 500 turns has runs of bounded length, and carries little from one to the next', async () => {
    const turns = 500
    await withWorld({ steps: (_, call) => ({ text: `answer ${call}: ${'word '.repeat(100)}` }) }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      for (let turn = 0; turn < turns; turn++)
        expect((await session.send(`question ${turn}`).answer).text).toMatch(/^answer/)
      const lengths: number[] = []
      for await (const run of world.client.workflow.list({ query: `WorkflowId = "${id}"` }))
        lengths.push(run.historyLength)
      let state = initialState(id)
      const records = await world.records(id)
      for (const record of records) {
        followRecord(state, record)
        state = applyRecord(state, record)
      }
      const carried = JSON.stringify(packState(state)).length
      const text = JSON.stringify(records).length
      console.log(
        `cost: ${turns} turns: ${lengths.length} runs of at most ${Math.max(...lengths)} events; a run gives the next one ${carried} bytes, the log ${text}`,
      )
      // It consists of the window's index, here of all 500 exchanges, and the ids of the newest inputs.
      expect(carried).toBeLessThan(50_000)
      expect(Math.max(...lengths)).toBeLessThan(8000)
    })
  })

  test('a turn goes on in the next run if the first decision there fails', async () => {
    let asked = 0
    // Asked once in each decision that plans a model call: of the first run, and the first one of the second run.
    const timesOf = (): undefined => {
      asked += 1
      if (asked === 2) throw new BatonError({ code: 'invalid_agent', message: 'the list of agents is away' })
    }
    const init = { steps: [{ text: 'done' }], worker: { timesOf }, host: { updatesMax: 1 } }
    await withWorld(init, async (world) => {
      const session = await world.host.session(randomUUID())
      expect((await session.send('go').answer).text).toBe('done')
      expect(asked).toBe(3)
    })
  })

  test('one turn of 300 calls ends in one run', async () => {
    const call = (n: number) => ({ name: 'add', arguments: JSON.stringify({ n }) })
    const rounds = Array.from({ length: 10 }, (_, round) => ({
      calls: Array.from({ length: 30 }, (__, index) => call(round * 30 + index)),
    }))
    const steps = [...rounds, { text: 'done' }]
    const limits = { callsPerTurn: 300 }
    await withWorld({ steps, tools: [add], limits }, async (world) => {
      const session = await world.host.session(randomUUID())
      expect((await session.send('go').answer).text).toBe('done')
      await world.settle(session.id)
      const settled = await settlements(world, session.id)
      expect(settled.filter(({ type }) => type === 'ok')).toHaveLength(300)
      const events = await readEvents(world, session.id)
      const described = await world.handle(session.id).describe()
      const bytes = described.historySize ?? 0
      console.log(`cost: a turn of 300 calls: ${events.length} events, ${countActions(events)} actions, ${bytes} bytes`)
      expect(events.length).toBeLessThan(4000)
      expect(bytes).toBeLessThan(20_000_000)
    })
  })

  test('a hundred Updates at once through three gateways are each taken once', async () => {
    const limits = { queueInputs: 200 }
    await withWorld({ steps: () => ({ text: 'ok' }), limits }, async (world) => {
      const session = await world.host.session(randomUUID())
      const submitters = Array.from({ length: 3 }, () => new Submitter({ client: world.client }))
      const inputs = Array.from({ length: 100 }, (_, index) => `input-${index}`)
      const answers = await Promise.all(
        inputs.flatMap((inputId, index) => {
          const input = { type: 'user-input', inputId, parts: [{ type: 'text', text: inputId }] } as const
          const submitter = submitters[index % submitters.length]
          return submitter ? [submitter.submit(session.id, { inputs: [input] })] : []
        }),
      )
      expect(answers.flat().map(({ type }) => type)).toEqual(inputs.map(() => 'accepted'))
      await world.settle(session.id)
      const facts = (await world.records(session.id)).flatMap((record) => record.facts)
      expect(facts.filter(({ type }) => type === 'input-accepted')).toHaveLength(100)
      const events = await readEvents(world, session.id)
      const updates = events.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes).length
      const turns = facts.filter(({ type }) => type === 'turn-finished').length
      console.log(`cost: 100 Updates at once: ${updates} taken, ${turns} turns, ${events.length} events`)
      expect(updates).toBe(100)
    })
  })
})
