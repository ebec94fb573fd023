// A session whose state is queried without pause. The service delivers a Query with the workflow's next task, and such
// a task ends at the local activity that it waits for, so a decision costs one more task. The numbers are printed.
import { tool } from '@baton/core'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import { isGrpcServiceError } from '@temporalio/client'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import type { SessionStateView } from './state-view.ts'
import { STATE } from './contract.ts'
import type { TemporalWorld } from './temporal-world.test-kit.ts'
import { playInWorld, settlements } from './temporal-world.test-kit.ts'

const program = findTemporal('Queries for a session over Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

const TURNS = 10
/** `RESOURCE_EXHAUSTED`: the service keeps one Query of a workflow waiting, and refuses others meanwhile. */
const EXHAUSTED = 8
const add = tool({ name: 'add', description: 'adds', input: { type: 'object' }, effect: 'pure', execute: () => 3 })
const steps = (_: unknown, call: number) =>
  call % 2 === 0 ? { calls: [{ name: 'add', arguments: '{}' }] } : { text: `answer ${call}` }

/** Plays turns with a tool call each, and returns the events that one costs. */
async function countEvents(world: TemporalWorld, session: string): Promise<number> {
  const handle = await world.host.session(session)
  for (let turn = 0; turn < TURNS; turn++) expect((await handle.send('go').answer).text).toBe(`answer ${2 * turn + 1}`)
  expect((await settlements(world, session)).map(({ type }) => type)).toEqual(Array(TURNS).fill('ok'))
  return (await world.handle(session).describe()).historyLength / TURNS
}

/** Sends the next query as soon as one is answered. */
async function ask(world: TemporalWorld, session: string, isOver: () => boolean): Promise<number> {
  let answers = 0
  while (!isOver())
    try {
      const view = await world.handle(session).query<SessionStateView>(STATE)
      expect(view).toMatchObject({ session, agent: 'tested' })
      answers += 1
    } catch (cause) {
      const why = cause instanceof Error ? cause.cause : undefined
      if (!isGrpcServiceError(why) || why.code !== EXHAUSTED) throw cause
    }
  return answers
}

describe.skipIf(!server)('a session whose state is requested all the time', () => {
  test('continues, each turn with at most twice the events', async () => {
    let alone = 0
    await playInWorld(server, { steps, tools: [add] }, async (world) => {
      alone = await countEvents(world, randomUUID())
    })
    await playInWorld(server, { steps, tools: [add] }, async (world) => {
      const id = randomUUID()
      await world.host.session(id)
      let isOver = false
      const asking = [1, 2, 3, 4].map(() => ask(world, id, () => isOver))
      const events = await countEvents(world, id).finally(() => (isOver = true))
      const answers = (await Promise.all(asking)).reduce((sum, count) => sum + count, 0)
      console.log(`a turn with a tool call: ${alone} events, ${events} while ${answers} Queries were answered`)
      expect(answers).toBeGreaterThan(TURNS)
      expect(events).toBeLessThanOrEqual(2 * alone)
    })
  })
})
