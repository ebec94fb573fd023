// Readable lines of the log of an agent that asks others.
import type { SessionRecord } from '@baton/core/machine'
import type { Agent } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { expect, test } from 'vitest'
import { logLines } from './log-lines.ts'

const EMPTY = { type: 'object', properties: {} } as const

test('a log names the agents that have asked', async () => {
  const rules = { name: 'pay', description: 'pay', input: EMPTY, effect: 'once', approval: true } as const
  const pay = tool({ ...rules, execute: () => 'paid' })
  const steps = [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'Paid.' }]
  const helper = defineAgent({ name: 'helper', model: createScriptedModel({ steps }), tools: [pay] }) as Agent
  const asks = [{ calls: [{ name: 'helper', arguments: { task: 'Pay.' } }] }, { text: 'Done.' }]
  const help = delegate({ agent: helper, description: 'Helps' })
  const agent = defineAgent({ name: 'boss', model: createScriptedModel({ steps: asks }), tools: [help] }) as Agent
  const store = createMemoryStore()
  const host = createHost({ store, agent })
  const session = await host.session('s')
  for await (const event of session.send('Go.'))
    if (event.type === 'approval-requested') await session.decide({ approvalId: event.approvalId, decision: 'approve' })
  await host.stop()
  const records: SessionRecord[] = []
  for await (const record of store.read('s', 0)) records.push(record)
  const text = logLines(records).join('\n')
  expect(text).toContain('> the agent helper begins')
  expect(text).toContain('? helper › pay {} needs an approval')
  expect(text).toContain('approved by')
  expect(text).toMatch(/✓ helper/)
})
