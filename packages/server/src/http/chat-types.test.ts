// A page that knows the types of its chat: the agent's tools, and Baton's additions. For the types, `tsc` is the test.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { Chat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { DefaultChatTransport, lastAssistantMessageIsCompleteWithToolCalls } from 'ai'
import { afterEach, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { startChats } from './chat.test-kit.ts'
import type { ChatData, ChatMetadata, ChatTools } from './index.ts'

const place = tool({
  name: 'place',
  description: 'Where the user looks',
  input: z.object({ deep: z.boolean() }),
  output: z.object({ section: z.string() }),
  effect: 'pure',
})
const plan = tool({
  name: 'plan',
  description: 'Plans',
  input: z.object({ days: z.number() }),
  effect: 'pure',
  execute: async ({ days }, { plan: setPlan, ask }) => {
    setPlan([{ content: `${days} days`, status: 'in_progress' }])
    return await ask({ message: 'Fine?', schema: z.object({ fine: z.boolean() }) })
  },
})
const steps = [
  {
    calls: [
      { name: 'place', arguments: { deep: true } },
      { name: 'plan', arguments: { days: 2 } },
    ],
  },
  { text: 'Done.' },
]
const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [place, plan] })

type Message = UIMessage<ChatMetadata, ChatData, ChatTools<typeof agent>>

let chats: ReturnType<typeof startChats> | undefined
afterEach(() => chats?.stop())

test('a page reads inputs, outputs, plans, questions and metadata with their types', async () => {
  chats = startChats({ agent })
  const { fetch } = chats
  const answered = Promise.withResolvers<unknown>()
  const chat = new Chat<Message>({
    id: 'typed',
    transport: new DefaultChatTransport({ fetch }),
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall: ({ toolCall }) => {
      if (toolCall.dynamic || toolCall.toolName !== 'place') return
      void chat.addToolOutput({
        tool: 'place',
        toolCallId: toolCall.toolCallId,
        output: { section: toolCall.input.deep ? 'orders' : 'top' },
      })
      // @ts-expect-error the output has another name
      void (() => chat.addToolOutput({ tool: 'place', toolCallId: '', output: { town: '' } }))
      // @ts-expect-error no such tool
      void (() => chat.addToolOutput({ tool: 'plaec', toolCallId: '', output: { section: '' } }))
    },
    onData: (part) => {
      if (part.type !== 'data-question' || !('message' in part.data)) return
      const { questionId, message } = part.data
      expectTypeOf(message).toEqualTypeOf<string>()
      const body = JSON.stringify({ questionId, value: { fine: true } })
      const headers = { 'content-type': 'application/json' }
      answered.resolve(fetch('/api/chat/typed/answers', { method: 'POST', headers, body }))
    },
  })
  await chat.sendMessage({ text: 'Plan it.' })
  expect(await answered.promise).toMatchObject({ ok: true })
  await expect.poll(() => chat.messages.at(-1)?.metadata?.stop).toBe('end')
  const shown: Record<string, unknown> = {}
  for (const part of chat.messages.at(-1)?.parts ?? []) {
    if (part.type === 'tool-place' && part.state === 'output-available') {
      expectTypeOf(part.output).toEqualTypeOf<{ section: string }>()
      shown['place'] = [part.input.deep, part.output.section]
    } else if (part.type === 'data-plan') shown['plan'] = part.data[0]?.content
    else if (part.type === 'data-question') shown['answer'] = 'value' in part.data && part.data.value
  }
  expect(shown).toEqual({ place: [true, 'orders'], plan: '2 days', answer: { fine: true } })
})
