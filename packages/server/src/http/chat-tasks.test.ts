// A chat page in front of an agent whose tool runs in the background: the answer ends without it, and a reload shows its end.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { findTool, readTexts, settled, startChats } from './chat.test-kit.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

function createClerk() {
  let finish: (text: string) => void = () => {}
  const report = tool({
    name: 'report',
    description: 'Writes a report',
    input: { type: 'object', properties: {} },
    background: true,
    timeoutMs: 3_600_000,
    execute: () => new Promise<string>((resolve) => (finish = resolve)),
  })
  const model = createScriptedModel({
    steps: [{ calls: [{ name: 'report', arguments: {} }] }, { text: 'I write it.' }, { text: 'It is ready.' }],
  })
  return { agent: defineAgent({ name: 'clerk', model, tools: [report] }), finish: (text: string) => finish(text) }
}

test('the answer ends while the call runs; a page that is loaded again has its outcome and the answer that it woke', async () => {
  const { agent, finish } = createClerk()
  const { openPage, fetch, stop } = startChats({ agent })
  stops.push(stop)
  const page = openPage('c')
  await page.sendMessage({ text: 'Write a report.' })
  await settled(page, ({ status }) => status === 'ready')
  expect(readTexts(page).at(-1)).toContain('I write it.')
  expect(findTool(page, 'report')).toMatchObject({ state: 'output-available', output: { status: 'running' } })
  const load = async () =>
    JSON.stringify(
      ((await (await fetch('/api/sessions/c/messages')).json()) as { readonly messages: unknown }).messages,
    )
  expect(await load()).toContain('"status":"running"')
  finish('seven pages')
  await expect.poll(load).toContain('It is ready.')
  expect(await load()).toContain('"output":"seven pages"')
})

test('a page is not asked to run a tool in the background, because it could not send the result', async () => {
  const place = tool({
    name: 'place',
    description: 'place',
    input: { type: 'object', properties: {} },
    background: true,
  })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'place', arguments: {} }] }, { text: 'I look.' }] })
  const { openPage, stop } = startChats({ agent: defineAgent({ name: 'guide', model, tools: [place] }) })
  stops.push(stop)
  const asked: string[] = []
  const page = openPage('c', { onToolCall: ({ toolCall }) => void asked.push(toolCall.toolName) })
  await page.sendMessage({ text: 'Where am I?' })
  await settled(page, ({ status }) => status === 'ready')
  expect(readTexts(page).at(-1)).toContain('I look.')
  expect(asked).toEqual([])
})

test('an approval of a task is in the messages after a reload, and a page posts the decision after its turn', async () => {
  const ran: string[] = []
  const report = tool({
    name: 'report',
    description: 'Writes a report',
    input: { type: 'object', properties: {} },
    background: true,
    approval: true,
    execute: () => `report ${ran.push('report')}`,
  })
  const model = createScriptedModel({
    steps: [{ calls: [{ name: 'report', arguments: {} }] }, { text: 'I wait for you.' }, { text: 'It is written.' }],
  })
  const { openPage, fetch, stop } = startChats({ agent: defineAgent({ name: 'clerk', model, tools: [report] }) })
  stops.push(stop)
  const load = async () =>
    ((await (await fetch('/api/sessions/c/messages')).json()) as { readonly messages: never[] }).messages
  const page = openPage('c')
  await page.sendMessage({ text: 'Write a report.' })
  await settled(page, ({ status }) => status === 'ready')
  const again = openPage('c', { messages: await load() })
  const asked = findTool(again, 'report')
  expect(asked).toMatchObject({ state: 'approval-requested' })
  const { id: approvalId } = asked['approval'] as { readonly id: string }
  const { status } = await fetch('/api/chat/c/approvals', {
    headers: { 'content-type': 'application/json' },
    method: 'POST',
    body: JSON.stringify({ approvalId, decision: 'approve' }),
  })
  expect(status).toBe(200)
  await expect.poll(async () => JSON.stringify(await load())).toContain('It is written.')
  expect(ran).toHaveLength(1)
  expect(JSON.stringify(await load())).not.toContain('approval-requested')
})
