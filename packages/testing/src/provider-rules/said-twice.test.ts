// A call that a server sends twice runs once, under the real host, over HTTP.
import type { JsonObject } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createHost } from '@baton/host'
import { createAnthropicModel } from '@baton/models/anthropic'
import { createOpenAiChatModel } from '@baton/models/openai-chat'
import { afterEach, expect, test } from 'vitest'
import { startFakeAnthropic } from '../fake-providers/fake-anthropic.ts'
import { startFakeOpenAiChat } from '../fake-providers/fake-openai-chat.ts'
import type { FakeServer } from '../fake-providers/fake-server.ts'

const open: FakeServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

const writeEvents = (events: readonly (JsonObject & { readonly type: string })[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')

function writeChunks(calls: readonly JsonObject[]): string {
  const chunk = (delta: JsonObject, reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
  return [
    ...calls.map((call) => chunk({ tool_calls: [{ type: 'function', ...call }] })),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ].join('')
}

function writeBlocks(ids: readonly string[], name: string): string {
  const blocks = ids.flatMap((id, index) => [
    { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } },
    { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '{"amount":1}' } },
    { type: 'content_block_stop', index },
  ])
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  return writeEvents([
    { type: 'message_start', message },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ])
}

const raw = (text: string) => ({ raw: { type: 'text/event-stream', text } })

async function startChat(calls: (name: string) => readonly JsonObject[]) {
  const server = await startFakeOpenAiChat({
    script: ({ index, toolLike }) => (index === 0 ? raw(writeChunks(calls(toolLike(/pay/)))) : { text: 'Paid.' }),
  })
  open.push(server)
  return createOpenAiChatModel({ model: 'm', apiKey: 'k', baseUrl: server.url })
}

async function startMessages(ids: readonly string[]) {
  const server = await startFakeAnthropic(({ index, toolLike }) =>
    index === 0 ? raw(writeBlocks(ids, toolLike(/pay/))) : { text: 'Paid.' },
  )
  open.push(server)
  return createAnthropicModel({ model: 'claude-haiku-4-5', apiKey: 'k', baseUrl: server.url })
}

const given = (name: string) => ({ function: { name, arguments: '{"amount":1}' } })

test.each([
  [
    'under one id, Chat Completions',
    1,
    () => startChat((name) => [0, 1].map((index) => ({ index, id: 'c1', ...given(name) }))),
  ],
  [
    'under two ids, Chat Completions',
    2,
    () => startChat((name) => [0, 1].map((index) => ({ index, id: `c${index}`, ...given(name) }))),
  ],
  [
    'under one index and without ids, Chat Completions',
    1,
    () => startChat((name) => [0, 0].map((index) => ({ index, ...given(name) }))),
  ],
  ['under one id, Messages', 1, () => startMessages(['toolu_1', 'toolu_1'])],
  ['under two ids, Messages', 2, () => startMessages(['toolu_1', 'toolu_2'])],
] as const)('a call that comes twice %s runs %d times', async (_, times, startModel) => {
  let paid = 0
  const pay = tool({
    name: 'pay',
    description: 'Pays.',
    input: { type: 'object', properties: { amount: { type: 'number' } } },
    effect: 'once',
    execute: ({ amount }) => {
      paid += Number(amount)
      return 'paid'
    },
  })
  const host = createHost({ agent: defineAgent({ name: 'a', model: await startModel(), tools: [pay] }) })
  const session = await host.session('s')
  expect((await session.send('Pay.').answer).text).toBe('Paid.')
  await host.stop()
  expect(paid).toBe(times)
})
