// Editors in front of a session with a call that a manager decides: the owner sees the request, and gets no question.
import { defineAgent, tool } from '@baton/core'
import type { Deciders } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { startEditor } from './acp.test-kit.ts'

function createDesk(deciders: Deciders) {
  const paid: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object' },
    approval: true,
    deciders,
    execute: (input) => {
      paid.push(input)
      return 'paid'
    },
  })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'It is paid.' }] })
  return { paid, agent: defineAgent({ name: 'desk', model, tools: [pay] }) }
}

test.each(['ask', 'allow'])('in mode %s, a call that a manager decides asks the owner for nothing', async (mode) => {
  const { agent, paid } = createDesk({ roles: ['manager'], notAsker: true })
  const editor = await startEditor({ agent, options: { principal: { id: 'ann' } } })
  const session = await editor.open()
  if (mode === 'allow') await editor.agent.request('session/set_mode', { sessionId: session, modeId: mode })
  const prompt = editor.prompt(session, 'Pay the invoice.')
  await editor.until(() => JSON.stringify(editor.told).includes('Waiting for a decision of the role \\"manager\\".'))
  const mia = { id: 'mia', roles: ['manager'] }
  const [asked] = (await editor.host.approvals({ decider: mia })).approvals
  const decision = { approvalId: asked?.approvalId ?? '', decision: 'approve' } as const
  await editor.host.decide(asked?.session ?? '', decision, { by: mia })
  expect(await prompt).toBe('end_turn')
  expect([editor.asked, paid]).toEqual([[], [{}]])
  const last = editor.told.findLast(({ update }) => 'toolCallId' in update)
  expect(JSON.stringify(last)).not.toContain('Waiting')
  await editor.stop()
})

test('an owner among the deciders is asked', async () => {
  const { agent, paid } = createDesk({ roles: ['manager'] })
  const editor = await startEditor({ agent, options: { principal: { id: 'ann', roles: ['manager'] } } })
  expect(await editor.prompt(await editor.open(), 'Pay the invoice.')).toBe('end_turn')
  expect([editor.asked.length, paid]).toEqual([1, [{}]])
  await editor.stop()
})
