// Calls that are done by another agent, in a session of its own: what the caller's model reads, and what people see.
import { createMemoryStore, createHost, defineAgent, tool } from '@baton/host'
import { delegate } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'

const empty = { type: 'object', properties: {} } as const

test('an agent asks another one, and reads its answer', async () => {
  const researcher = defineAgent({
    name: 'researcher',
    model: createScriptedModel({ steps: [{ text: 'Oslo has 717,710 people.' }] }),
  })
  const research = delegate({ agent: researcher, description: 'Finds facts' })
  const model = createScriptedModel({
    steps: [
      { calls: [{ name: 'researcher', arguments: { task: 'How many people live in Oslo?' } }] },
      { text: 'Many.' },
    ],
  })
  await using host = createHost({ agent: defineAgent({ name: 'writer', model, tools: [research] }) })
  const session = await host.session('article')
  expect((await session.send('Write about Oslo.').answer).text).toBe('Many.')
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({
    role: 'tool',
    parts: [{ name: 'researcher', content: [{ type: 'text', text: 'Oslo has 717,710 people.' }] }],
  })
})

test('a call inside a child that needs an approval is decided at the caller’s session', async () => {
  let ran = 0
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: empty,
    effect: 'once',
    approval: true,
    execute: () => `paid ${(ran += 1)}`,
  })
  const clerkModel = createScriptedModel({
    steps: [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'It is paid.' }],
  })
  const clerk = defineAgent({ name: 'clerk', model: clerkModel, tools: [pay] })
  const model = createScriptedModel({
    steps: [{ calls: [{ name: 'clerk', arguments: { task: 'Pay the bill.' } }] }, { text: 'Done.' }],
  })
  const store = createMemoryStore()
  await using host = createHost({
    store,
    agent: defineAgent({ name: 'boss', model, tools: [delegate({ agent: clerk, description: 'Pays' })] }),
  })
  const session = await host.session('office')
  const turn = session.send('Pay it.')
  for await (const event of turn) {
    if (event.type !== 'approval-requested') continue
    const [open] = await session.approvals()
    expect(open).toMatchObject({ name: 'pay', approvalId: event.approvalId })
    await session.decide({ approvalId: event.approvalId, decision: 'approve' })
  }
  expect((await turn.answer).text).toBe('Done.')
  expect(ran).toBe(1)
})
