// Notices over a real Temporal service: the situations that every kind of host plays, goals, and workflows that are terminated.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { bundleWorkflows, createMemoryBus, createTemporalHost, GOAL_WORKFLOW } from '@baton/temporal'
import { Client, Connection } from '@temporalio/client'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { findTemporal, startTemporal } from '../components/temporal.ts'
import { NOTICE_SITUATIONS, playSituation } from './notice-situations.ts'
import { createReceiver } from './telling-kind.ts'
import { createTemporalTelling, startWorker, untilSo } from './temporal-telling.test-kit.ts'

const program = findTemporal('notices over Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

describe.skipIf(!server)('over Temporal', () => {
  if (!server) return
  const { address } = server
  const kind = createTemporalTelling(address)
  test.concurrent.each(Object.entries(NOTICE_SITUATIONS))(
    '%s',
    async (_, situation) => await playSituation(kind, situation)(),
  )

  test('goals tell, and sessions whose workflow is terminated and that continue as new tell on', async () => {
    const receiver = createReceiver()
    const taskQueue = `telling-${randomUUID()}`
    const agent = defineAgent({ name: 'tested', model: createScriptedModel({ steps: () => ({ text: 'done' }) }) })
    const place = { address, taskQueue, agent, logStore: createMemoryStore(), redis: createMemoryBus() }
    const workflowBundle = await bundleWorkflows()
    const worker = await startWorker({ ...place, workflowBundle, drainMs: 500, notify: [receiver] })
    const host = await createTemporalHost({ ...place, updatesMax: 3 })
    const connection = await Connection.connect({ address })
    const { workflow } = new Client({ connection })
    try {
      const goal = `goal-${randomUUID()}`
      await workflow.execute(GOAL_WORKFLOW, { taskQueue, workflowId: goal, args: [{ goal: 'Judge it.' }] })
      await untilSo(() => receiver.taken.length === 1)
      expect(receiver.taken[0]).toMatchObject({ type: 'turn.finished', data: { session: goal, turn: 1 } })
      const id = `s-${randomUUID()}`
      const session = await host.session(id)
      for (const turn of [1, 2, 3, 4, 5, 6, 7, 8]) {
        if (turn === 5) await workflow.getHandle(id).terminate()
        await session.send(`Turn ${turn}.`).answer
      }
      await untilSo(() => receiver.taken.length === 9)
      expect(receiver.taken.slice(1).map(({ data }) => data['turn'])).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
      expect(new Set(receiver.taken.map((one) => one.id)).size).toBe(9)
    } finally {
      await host.stop()
      await worker.end()
      await connection.close()
    }
  })
})
