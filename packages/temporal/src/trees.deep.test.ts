// Agents that call agents over a real Temporal service: each delegated call is a workflow of its own.
import { defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { findTemporal, startTemporal } from '@baton/testing/temporal'
import type { TemporalServer } from '@baton/testing/temporal'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { playInWorld, settlements, until } from './temporal-world.test-kit.ts'
import type { TemporalWorld, TemporalWorldOptions } from './temporal-world.test-kit.ts'

const program = findTemporal('agents that call agents over Temporal', (message) => console.warn(message))
const server: TemporalServer | undefined = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

const withWorld = (init: TemporalWorldOptions, play: (world: TemporalWorld) => Promise<void>): Promise<void> =>
  playInWorld(server, init, play)

const call = (name: string, task: string) => ({ calls: [{ name, arguments: JSON.stringify({ task }) }] })

describe.skipIf(!server)('agents that call agents over Temporal', () => {
  test('a delegated call is a session of its own, and its answer is the result', async () => {
    const reader = defineAgent({ name: 'reader', model: createScriptedModel({ steps: [{ text: 'At a fjord.' }] }) })
    const steps = [call('reader', 'Where is Oslo?'), { text: 'Oslo lies at a fjord.' }]
    await withWorld({ steps, tools: [delegate({ agent: reader, description: 'Looks up places' })] }, async (world) => {
      const id = randomUUID()
      const session = await world.host.session(id)
      const turn = session.send('Where is Oslo?')
      expect((await turn.answer).text).toBe('Oslo lies at a fjord.')
      expect(await settlements(world, id)).toMatchObject([
        { type: 'ok', content: [{ type: 'text', text: 'At a fjord.' }] },
      ])
    })
  })
})
void tool
void until
