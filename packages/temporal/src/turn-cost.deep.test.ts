// Cost of a turn for a Temporal service: events of the history, and actions as Temporal counts them. docs/scaling.md
// has the numbers.
import { tool } from '@baton/core'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import type { TemporalWorld } from './temporal-world.test-kit.ts'
import { createTemporalWorld } from './temporal-world.test-kit.ts'

const program = findTemporal('what a turn costs a Temporal service', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

/** The history's event types, once it stops growing. */
async function readEvents(world: TemporalWorld, session: string): Promise<readonly string[]> {
  for (let before = -1; ; await wait(500)) {
    const { events } = await world.handle(session).fetchHistory()
    const types = (events ?? []).map((event) => Object.keys(event).find((key) => key.endsWith('Attributes')) ?? '')
    if (types.length === before) return types
    before = types.length
  }
}

/**
 * Counts actions by Temporal's rules: an Update, an activity and a timer are one each, and the local activities of one
 * workflow task are one together.
 */
function countActions(events: readonly string[]): number {
  let actions = 0
  let hasMarker = false
  for (const type of events) {
    if (/^(workflowExecutionUpdateAccepted|activityTaskScheduled|timerStarted)Event/.test(type)) actions += 1
    if (type.startsWith('workflowTaskCompletedEvent')) hasMarker = false
    if (!type.startsWith('markerRecordedEvent') || hasMarker) continue
    hasMarker = true
    actions += 1
  }
  return actions
}

const add = tool({ name: 'add', description: 'adds', input: { type: 'object' }, effect: 'pure', execute: () => 3 })

describe.skipIf(!server)('the cost of a turn', () => {
  test.each([
    ['an answer', [{ text: 'one' }, { text: 'two' }], { events: 20, actions: 7 }],
    [
      'a tool call and an answer',
      [{ text: 'one' }, { calls: [{ name: 'add', arguments: {} }] }, { text: 'two' }],
      { events: 36, actions: 13 },
    ],
  ])('of %s stays within what the page says', async (what, steps, most) => {
    if (!server) throw new Error('there is no service')
    const world = await createTemporalWorld(server, { steps, tools: [add] })
    try {
      const session = await world.host.session(randomUUID())
      await session.send('first').answer
      const before = await readEvents(world, session.id)
      await session.send('second').answer
      const own = (await readEvents(world, session.id)).slice(before.length)
      console.log(`a turn of ${what}: ${own.length} events, ${countActions(own)} actions`)
      expect(own.length).toBeLessThanOrEqual(most.events)
      expect(countActions(own)).toBeLessThanOrEqual(most.actions)
    } finally {
      await world.close()
    }
  })
})
