// Sessions in Temporal's own list of workflows, by search attributes and memo.
import { tool } from '@baton/core'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { SEARCH_ATTRIBUTES } from './index.ts'
import { playInWorld, until } from './temporal-world.test-kit.ts'

const program = findTemporal('search attributes of sessions', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

describe.skipIf(!server)('a session in the list of workflows', () => {
  test('is found by agent, principal, activity and title, over runs, and its title is in its memo', async () => {
    const names = Object.values(SEARCH_ATTRIBUTES).flatMap((name) => ['--name', name, '--type', 'Keyword'])
    await server?.command(['operator', 'search-attribute', 'create', ...names])
    const mayEnd = Promise.withResolvers<void>()
    const wait = tool({
      name: 'wait',
      description: 'waits',
      input: { type: 'object' },
      execute: async () => {
        await mayEnd.promise
        return 'done'
      },
    })
    const steps = [{ text: 'one' }, { calls: [{ name: 'wait', arguments: '{}' }] }, { text: 'two' }]
    // A worker writes what was registered before it started.
    await until(async () => {
      const listed = (await server?.command(['operator', 'search-attribute', 'list'])) ?? ''
      return Object.values(SEARCH_ATTRIBUTES).every((name) => listed.includes(name))
    })
    await playInWorld(server, { steps, tools: [wait], host: { updatesMax: 2 } }, async (world) => {
      const id = randomUUID()
      const isFound = async (query: string): Promise<boolean> => {
        for await (const { workflowId } of world.client.workflow.list({ query })) if (workflowId === id) return true
        return false
      }
      const session = await world.host.session(id, {
        principal: { id: "ann's own" },
        description: { title: 'A trip' },
      })
      await session.send('one').answer
      const about = `BatonAgent = "tested" AND BatonPrincipal = "ann's own" AND ExecutionStatus = "Running"`
      await until(() => isFound(`${about} AND BatonTitle = "A trip" AND BatonActivity = "idle"`))
      const turn = session.send('two')
      turn.answer.catch(() => {})
      await until(() => isFound(`${about} AND BatonActivity = "running"`))
      mayEnd.resolve()
      await turn.answer
      for (const title of ['B', 'C', 'D']) await session.describe({ title })
      await until(() => isFound(`${about} AND BatonTitle = "D" AND BatonActivity = "idle"`))
      expect((await world.handle(id).describe()).memo).toMatchObject({ title: 'D', principal: "ann's own" })
    })
  })
})
