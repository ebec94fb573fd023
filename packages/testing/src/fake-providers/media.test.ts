// Pictures in inputs and results through the whole stack, over HTTP to servers that reject what the real providers
// reject: a provider receives the bytes that were passed in, and the log has none of them.
import type { ContentPart, Model } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createHost, createMemoryStore } from '@baton/host'
import { fromAiSdkModel } from '@baton/models/ai-sdk'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startFakeOpenAiChat } from './fake-openai-chat.ts'
import type { FakeServer } from './fake-server.ts'
import type { Parties } from '../handoff/parties.ts'
import { startParties } from '../handoff/parties.ts'

const NAMES = ['anthropic', 'openai', 'openai-chat', 'mistral', 'gemini', 'bedrock-claude', 'bedrock-nova']

const open: { parties?: Parties; aiSdk?: FakeServer } = {}
beforeAll(async () => {
  open.parties = await startParties()
})
afterAll(async () => {
  await open.parties?.close()
  await open.aiSdk?.close()
})

function picture(text: string): ContentPart {
  return { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: encodeBase64(text) } }
}

function encodeBase64(text: string): string {
  return Buffer.from(`picture of ${text}, `.repeat(20)).toString('base64')
}

const camera = tool({
  name: 'screen.show',
  description: 'Shows the screen',
  input: { type: 'object' },
  effect: 'pure',
  execute: () => ({ content: [{ type: 'text', text: 'The screen:' }, picture('the screen')] }),
})

/** Two turns; in the first one the model calls the camera. Returns the log. */
async function converse(model: Model): Promise<string> {
  const store = createMemoryStore()
  const host = createHost({ store, agent: defineAgent({ name: 'seeing', model, tools: [camera] }) })
  const session = await host.session('seeing')
  await session.send([{ type: 'text', text: 'Compare' }, picture('the user')]).answer
  await session.send('Sure?').answer
  await host.stop()
  const records: unknown[] = []
  for await (const record of store.read('seeing', 0)) records.push(record)
  return JSON.stringify(records)
}

test.each(NAMES)('%s is sent the picture of the user and the one of the tool, in every request', async (name) => {
  const party = open.parties?.all.find((one) => one.name === name)
  if (!party) throw new Error(`there is no ${name}`)
  party.queue.push({ calls: [{ tool: /show/, input: {} }] }, { text: 'They differ.' }, { text: 'Yes.' })
  const log = await converse(party.model)
  expect(party.refusals()).toEqual([])
  const [first, ...later] = party.bodies().map((body) => JSON.stringify(body))
  expect(first).toContain(encodeBase64('the user'))
  expect(later).toHaveLength(2)
  for (const body of later) {
    expect(body).toContain(encodeBase64('the user'))
    expect(body).toContain(encodeBase64('the screen'))
  }
  expect(log).not.toContain(encodeBase64('the user'))
  expect(log).not.toContain(encodeBase64('the screen'))
})

test('a model of the AI SDK is sent them as well', async () => {
  const server = await startFakeOpenAiChat({
    script: ({ index, toolLike }) =>
      index === 0 ? { calls: [{ name: toolLike(/show/), input: {} }] } : { text: 'They differ.' },
  })
  open.aiSdk = server
  const theirs = createOpenAICompatible({ name: 'theirs', baseURL: server.url, apiKey: 'key', includeUsage: true })
  const log = await converse(fromAiSdkModel(theirs('gpt-test')))
  expect(server.refusals).toEqual([])
  const [first, ...later] = server.requests.map(({ body }) => JSON.stringify(body))
  expect(first).toContain(encodeBase64('the user'))
  expect(later).toHaveLength(2)
  for (const body of later) expect(body).toContain(encodeBase64('the screen'))
  expect(log).not.toContain(encodeBase64('the screen'))
})
