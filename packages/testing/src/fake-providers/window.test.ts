// A small window of a server that rejects a request if its prompt and longest possible answer do not fit together.
import { defineAgent, tool, voice } from '@baton/core'
import { createHost } from '@baton/host'
import { createOpenAiChatModel } from '@baton/models/openai-chat'
import { expect, test } from 'vitest'
import { startFakeOpenAiChat } from './fake-openai-chat.ts'

const read = tool({
  name: 'read',
  description: 'Reads a page',
  input: { type: 'object', properties: {} },
  effect: 'pure',
  execute: () => 'It is said that a page has some words. '.repeat(40),
})

test.each([
  ['of its own settings', { settings: { maxOutputTokens: 512 } }, 512],
  ['of the voice profile, with room for arguments', { profile: voice }, 2048],
])('an agent %s never asks for more than the window leaves', async (_, options, most) => {
  let steps = 0
  const asked: number[] = []
  const server = await startFakeOpenAiChat({
    contextTokens: 4096,
    script: ({ body }) => {
      asked.push(Number(body['max_tokens'] ?? body['max_completion_tokens']))
      steps += 1
      return steps % 6 === 0 ? { text: 'Done.' } : { calls: [{ name: 'read', input: {} }] }
    },
  })
  const model = createOpenAiChatModel({ model: 'local', baseUrl: server.url, apiKey: 'k' })
  const window = { contextTokens: 4096, reserveTokens: 512, summarise: false }
  const host = createHost({ agent: defineAgent({ name: 'reader', model, tools: [read], ...options, window }) })
  const session = await host.session('s')
  for (let turn = 0; turn < 3; turn++) expect((await session.send('Read on.').answer).text).toContain('Done.')
  expect(asked[0]).toBe(most)
  expect(Math.max(...asked)).toBe(most)
  expect(asked).toHaveLength(18)
  await host.stop()
  await server.close()
})

test.each(['one sum', 'max_tokens', 'input and output', 'only'] as const)(
  'a window that only the server knows is learnt of its refusal, in the words "%s", and the answer is asked to be shorter',
  async (overflow) => {
    const asked: number[] = []
    const server = await startFakeOpenAiChat({
      contextTokens: 4096,
      overflow,
      script: ({ body }) => {
        asked.push(Number(body['max_tokens'] ?? body['max_completion_tokens']))
        return { text: 'Done.' }
      },
    })
    const model = createOpenAiChatModel({ model: 'local', baseUrl: server.url, apiKey: 'k' })
    const agent = defineAgent({ name: 'a', model, settings: { maxOutputTokens: 8000 }, window: { reserveTokens: 512 } })
    const host = createHost({ agent })
    const session = await host.session('s')
    for (let turn = 0; turn < 3; turn++) expect((await session.send('Hello?').answer).text).toBe('Done.')
    await host.stop()
    await server.close()
    // Only the first request was rejected, and the answers may still be long.
    expect([server.refusals.length, asked.length]).toEqual([1, 3])
    expect(Math.min(...asked)).toBeGreaterThan(3000)
  },
)
