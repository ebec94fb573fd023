// Approvals that wait in workflows: found at another gateway while no worker runs, and decided there by name.
import { tool } from '@baton/core'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import { afterAll, expect, test } from 'vitest'
import { createMemoryBus, createTemporalHost } from '../index.ts'
import { playInWorld, until } from '../temporal-world.test-kit.ts'

const program = findTemporal('the inbox over Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

test.skipIf(!server)(
  'a manager finds a payment at another gateway, edits the sum and approves; it is paid once',
  async () => {
    const paid: unknown[] = []
    const pay = tool({
      name: 'pay',
      description: 'Pays',
      input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
      effect: 'once',
      approval: true,
      deciders: { roles: ['manager'], notAsker: true },
      execute: (input) => {
        paid.push(input)
        return 'paid'
      },
    })
    const steps = [{ calls: [{ name: 'pay', arguments: { amount: 90 } }] }, { text: 'It is paid.' }]
    const bus = createMemoryBus()
    await playInWorld(server, { steps, tools: [pay], host: { redis: bus }, worker: { redis: bus } }, async (world) => {
      if (!server) throw new Error('there is no service')
      const { agent, store: logStore, taskQueue, host, records } = world
      const session = await host.session('trip', { principal: { id: 'ann' } })
      const turn = session.send('Pay the invoice.')
      const other = await createTemporalHost({ address: server.address, agent, logStore, taskQueue, redis: bus })
      try {
        const [mia, eve] = [{ id: 'mia', roles: ['manager'] }, { id: 'eve' }]
        await until(async () => (await other.approvals({ decider: mia })).approvals.length === 1)
        const [asked] = (await other.approvals()).approvals
        expect(asked).toMatchObject({ session: 'trip', name: 'pay', input: { amount: 90 }, principal: { id: 'ann' } })
        expect((await other.sessions({ activity: 'waiting' })).sessions).toMatchObject([{ waitsFor: ['person'] }])
        expect((await other.approvals({ decider: eve })).approvals).toEqual([])
        await world.replaceWorker()
        const edit = {
          approvalId: asked?.approvalId ?? '',
          decision: 'edit',
          input: { amount: 70 },
          note: 'ok',
        } as const
        await expect(other.decide('trip', edit, { by: eve })).rejects.toMatchObject({ code: 'approval_refused' })
        await other.decide('trip', edit, { by: mia })
        expect((await turn.answer).text).toBe('It is paid.')
        expect(paid).toEqual([{ amount: 70 }])
        const facts = (await records('trip')).flatMap((record) => record.facts)
        expect(facts).toContainEqual(
          expect.objectContaining({ type: 'approval-decided', principal: 'mia', note: 'ok' }),
        )
        expect((await other.approvals()).approvals).toEqual([])
      } finally {
        await other.stop()
      }
    })
  },
)
