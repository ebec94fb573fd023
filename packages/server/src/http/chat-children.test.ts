// A chat page in front of an agent that asks others: what they ask reaches the page as its own, also after a reload, and the
// page answers it as ever.
import type { Agent, AgentOptions } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { findTool, readTexts, settled, startChats } from './chat.test-kit.ts'

const empty = { type: 'object', properties: {} } as const
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** A boss that asks a helper, whose first answer calls the tool. */
function createTeam(tools: NonNullable<AgentOptions['tools']>, name: string): Agent {
  const helper = defineAgent({
    name: 'helper',
    model: createScriptedModel({
      steps: ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? { text: `Helped: ${JSON.stringify(messages.at(-1)?.parts)}` }
          : { calls: [{ name, arguments: {} }] },
    }),
    tools,
  })
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'Done.' }
        : { calls: [{ name: 'helper', arguments: { task: 'Help.' } }] },
  })
  return defineAgent({ name: 'boss', model, tools: [delegate({ agent: helper, description: 'Helps' })] }) as Agent
}

function createPayers() {
  const ran: string[] = []
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: empty,
    effect: 'once',
    approval: true,
    execute: (_, { callId }) => {
      ran.push(callId)
      return 'paid'
    },
  })
  return { agent: createTeam([pay], 'pay'), ran }
}

test.each([
  ['approved', true, 1],
  ['denied', false, 0],
])('an approval below is %s on the page', async (_, approved, times) => {
  const { agent, ran } = createPayers()
  const { openPage, stop } = startChats({ agent })
  stops.push(stop)
  const page = openPage('c')
  await page.sendMessage({ text: 'Pay.' })
  const asked = findTool(page, 'pay')
  expect(asked).toMatchObject({ state: 'approval-requested' })
  const { id } = asked['approval'] as { readonly id: string }
  await page.addToolApprovalResponse({ id, approved })
  await settled(page, ({ status }) => status === 'ready' && (readTexts(page).at(-1) ?? '').includes('Done.'))
  expect(ran).toHaveLength(times)
  expect(findTool(page, 'helper')).toMatchObject({ state: 'output-available' })
})

test('a page that was loaded again sees the approval below, and decides it', async () => {
  const { agent, ran } = createPayers()
  const { openPage, fetch, stop } = startChats({ agent })
  stops.push(stop)
  await openPage('c').sendMessage({ text: 'Pay.' })
  const { messages } = (await (await fetch('/api/sessions/c/messages')).json()) as { readonly messages: never[] }
  const again = openPage('c', { messages })
  await again.resumeStream()
  const asked = findTool(again, 'pay')
  expect(asked).toMatchObject({ state: 'approval-requested' })
  await again.addToolApprovalResponse({ id: (asked['approval'] as { readonly id: string }).id, approved: true })
  await settled(again, ({ status }) => status === 'ready' && (readTexts(again).at(-1) ?? '').includes('Done.'))
  expect(ran).toHaveLength(1)
})

test('a client tool below runs on the page', async () => {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const { openPage, stop } = startChats({ agent: createTeam([place], 'place') })
  stops.push(stop)
  const page = openPage('c', {
    onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
      if (toolName === 'place') void page.addToolOutput({ tool: toolName, toolCallId, output: 'Rome' })
    },
  })
  await page.sendMessage({ text: 'Where?' })
  await settled(page, ({ status }) => status === 'ready' && (readTexts(page).at(-1) ?? '').includes('Done.'))
  expect(JSON.stringify(findTool(page, 'helper'))).toContain('Rome')
})
