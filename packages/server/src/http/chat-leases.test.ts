// Pages with several client tool calls: how long each page keeps its calls, and whether a result that follows the others
// counts.
import type { CallView, Session } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { ScriptedStep } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { afterEach, expect, test } from 'vitest'
import { createTime } from '../shared/passing-time.test-kit.ts'
import { findTool, readTexts, settled, startChats } from './chat.test-kit.ts'

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

async function findCalls(session: Session): Promise<Readonly<Record<string, CallView>>> {
  const { messages } = await session.messages()
  const calls = messages.flatMap((one) => (one.role === 'assistant' ? one.steps : [])).flatMap((step) => step.calls)
  return Object.fromEntries(calls.map((call) => [call.name, call]))
}

test.each(['pure', 'idempotent', 'once'] as const)(
  'a page with two calls sends the result of one: the other, %s, is still its own a minute later',
  async (effect) => {
    const tools = ['place', 'hour'].map((name) =>
      tool({ name, description: name, input: { type: 'object' }, effect, timeoutMs: 300_000 }),
    )
    const calls = ['place', 'hour'].map((name) => ({ name, arguments: {} }))
    const model = createScriptedModel({ steps: [{ calls }, { text: 'Rome, at nine.' }] })
    const { pass, ...time } = createTime()
    const chats = startChats({ agent: defineAgent({ name: 'a', model, tools }), time })
    running.push(chats)
    const asked: string[] = []
    const page = chats.openPage('r1', { onToolCall: ({ toolCall }) => void asked.push(toolCall.toolName) })
    await page.sendMessage({ text: 'where and when?' })
    const session = await chats.host.session('r1')
    const add = (tool: string, output: string) =>
      page.addToolOutput({ tool, toolCallId: String(findTool(page, tool)['toolCallId']), output })
    await add('place', 'Rome')
    await page.sendMessage() // with this result alone
    expect(await findCalls(session)).toMatchObject({ place: { status: 'settled' }, hour: { status: 'running' } })
    for (let seconds = 0; seconds < 60; seconds += 1) {
      pass(1000)
      await new Promise((resolve) => void setImmediate(resolve))
    }
    await add('hour', 'nine')
    await settled(page, ({ status }) => status === 'ready' && readTexts(page).at(-1) === 'Rome, at nine.')
    expect(await findCalls(session)).toMatchObject({ hour: { result: { type: 'ok', value: 'nine' } } })
    expect(asked, 'it ran each once').toEqual(['place', 'hour'])
  },
)

test.each(['pure', 'idempotent'] as const)(
  'a page sends the result of a call that is %s after a restart: it counts, and the page is not asked again',
  async (effect) => {
    const store = createMemoryStore()
    const start = (steps: readonly ScriptedStep[]) => {
      const place = tool({ name: 'place', description: 'place', input: { type: 'object' }, effect, timeoutMs: 300_000 })
      const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [place] })
      return startChats({ agent, store, time: createTime() })
    }
    const before = start([{ calls: [{ name: 'place', arguments: {} }] }])
    const first = before.openPage('r1')
    await first.sendMessage({ text: 'where?' })
    await before.stop()
    const after = start([{ text: 'In Rome.' }])
    running.push(after)
    const asked: string[] = []
    const onToolCall = ({ toolCall }: { readonly toolCall: { readonly toolName: string } }) =>
      void asked.push(toolCall.toolName)
    const page = after.openPage('r1', { messages: first.messages, onToolCall })
    await page.addToolOutput({
      tool: 'place',
      toolCallId: String(findTool(page, 'place')['toolCallId']),
      output: 'Rome',
    })
    await settled(page, ({ status }) => status === 'ready' && readTexts(page).at(-1) === 'In Rome.')
    expect(await findCalls(await after.host.session('r1'))).toMatchObject({ place: { result: { type: 'ok' } } })
    expect(asked).toEqual([])
  },
)
