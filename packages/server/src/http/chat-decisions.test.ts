// Decisions of a page that keeps its own copy of the answer, without the AI SDK: a wrong one is refused at once, and no
// response stays open for a decision that does not come.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { startChats } from './chat.test-kit.ts'

const empty = { type: 'object', properties: {} } as const
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

async function startAsking() {
  let ran = 0
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: empty,
    effect: 'once',
    approval: true,
    execute: () => `paid ${(ran += 1)}`,
  })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'Done.' }] })
  const { host, fetch, stop } = startChats({ agent: defineAgent({ name: 'a', model, tools: [pay] }) })
  stops.push(stop)
  const post = async (message: object): Promise<{ readonly status: number; readonly text: string }> => {
    const response = await fetch('/api/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'c', messages: [message] }),
    })
    return { status: response.status, text: await response.text() }
  }
  await post({ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Pay' }] })
  const session = await host.session('c')
  const [open] = await session.approvals()
  if (!open) throw new Error('the call should wait for an approval')
  const decide = (part: object) =>
    post({
      id: 't1',
      role: 'assistant',
      parts: [{ type: 'step-start' }, { type: 'tool-pay', toolCallId: open.callId, input: {}, ...part }],
    })
  return { session, approvalId: open.approvalId, decide, ran: () => ran }
}

const DECIDED = { state: 'approval-responded' }

test.each([
  ['no approval', {}, 'approval.id must be a string'],
  ['an approval that is none', { approval: null }, 'approval.id must be a string'],
  ['an approval without id', { approval: { approved: true } }, 'approval.id must be a string'],
  ['an id that is a number', { approval: { id: 7, approved: true } }, 'approval.id must be a string'],
  ['no decision', { approval: { id: 'x' } }, 'approval.approved must be true or false'],
  ['a decision in words', { approval: { id: 'x', approved: 'yes' } }, 'approval.approved must be true or false'],
])('a decision with %s is refused, and the call still waits', async (_, part, why) => {
  const { session, decide, approvalId, ran } = await startAsking()
  const { status, text } = await decide({ ...DECIDED, ...part })
  expect(status).toBe(400)
  expect(text).toContain(why)
  expect((await session.approvals()).map((one) => one.approvalId)).toEqual([approvalId])
  expect(ran()).toBe(0)
})

test('a decision on a request that the session did not make is refused, as /approvals refuses it', async () => {
  const { session, decide, approvalId } = await startAsking()
  const { status, text } = await decide({ ...DECIDED, approval: { id: 'approval_of_nobody', approved: true } })
  expect(status).toBe(409)
  expect(text).toContain('approval_of_nobody: there is no such request')
  expect((await session.approvals()).map((one) => one.approvalId)).toEqual([approvalId])
})

test('a page that knows the call and not the request is sent the request, and its response ends', async () => {
  const { decide, approvalId } = await startAsking()
  const { status, text } = await decide({ state: 'approval-requested' })
  expect(status).toBe(200)
  expect(text).toContain(`"type":"tool-approval-request","approvalId":"${approvalId}"`)
  expect(text).toContain('"finishReason":"tool-calls"')
})

test('the right decision after a wrong one runs the call once', async () => {
  const { decide, approvalId, ran } = await startAsking()
  await decide(DECIDED)
  const { status, text } = await decide({ ...DECIDED, approval: { id: approvalId, approved: true } })
  expect(status).toBe(200)
  expect(text).toContain('"delta":"Done."')
  expect(ran()).toBe(1)
})

test('a wrong decision in an older answer does not keep the user’s next message away', async () => {
  const { host, fetch, stop } = startChats({
    agent: defineAgent({ name: 'a', model: createScriptedModel({ steps: [{ text: 'Hello.' }] }) }),
  })
  stops.push(stop)
  await host.session('d')
  const old = { id: 't0', role: 'assistant', parts: [{ type: 'tool-pay', toolCallId: 'x', ...DECIDED }] }
  const said = { id: 'm9', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }
  const response = await fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 'd', messages: [old, said] }),
  })
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('"delta":"Hello."')
})
