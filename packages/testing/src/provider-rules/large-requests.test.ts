// Conversations that exceed a provider's limits in bytes, images or pixels: under the real host, over HTTP to servers
// that reject with the providers' messages, every turn is answered with its latest picture, and few requests change the
// cached prefix.
import type { ContentPart, JsonObject, JsonValue, Model } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createHost } from '@baton/host'
import { createAnthropicModel } from '@baton/models/anthropic'
import { createBedrockModel } from '@baton/models/bedrock'
import { createGeminiModel } from '@baton/models/gemini'
import { createOpenAiChatModel } from '@baton/models/openai-chat'
import { afterEach, expect, test } from 'vitest'
import { startFakeAnthropic } from '../fake-providers/fake-anthropic.ts'
import { FAKE_BEDROCK_KEYS, startFakeBedrock } from '../fake-providers/fake-bedrock.ts'
import { startFakeGemini } from '../fake-providers/fake-gemini.ts'
import { startFakeOpenAiChat } from '../fake-providers/fake-openai-chat.ts'
import type { FakeServer } from '../fake-providers/fake-server.ts'

const open: FakeServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

interface Picture {
  readonly bytes: number
  /** Pixels per side. */
  readonly side?: number
  /** File type indicated by the first bytes; `image/png` by default. */
  readonly isJpeg?: boolean
}

/** The beginning of a real picture, containing a number. */
function draw(number: number, { bytes, side = 100, isJpeg = false }: Picture): string {
  const drawn = Buffer.alloc(bytes, number % 251)
  if (isJpeg) drawn.set([0xff, 0xd8, 0xff, 0xe0], 0)
  else {
    drawn.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52], 0)
    drawn.writeUInt32BE(side, 16)
    drawn.writeUInt32BE(side, 20)
  }
  drawn.writeUInt32BE(number, 24)
  return drawn.toString('base64')
}

function show(number: number, picture: Picture): ContentPart {
  return { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: draw(number, picture) } }
}

interface Played {
  readonly outcomes: ReadonlySet<string>
  /** Turns whose accepted request lacks its latest picture. */
  readonly blind: number
  /** Requests that do not start like the previous one. */
  readonly changed: number
  readonly refused: readonly string[]
  readonly leftOut: number
}

interface Play {
  readonly turns: number
  readonly pictures?: number
  readonly picture: Picture
  readonly history: string
}

async function play(
  model: Model,
  server: FakeServer,
  { turns, pictures = 1, picture, history }: Play,
): Promise<Played> {
  const host = createHost({ agent: defineAgent({ name: 'a', model, window: { summarise: false } }) })
  const session = await host.session('s')
  const outcomes = new Set<string>()
  let [blind, changed, number, leftOut] = [0, 0, 0, 0]
  let before: readonly string[] = []
  for (let turn = 0; turn < turns; turn++) {
    const shown = Array.from({ length: pictures }, () => show(number++, picture))
    const sent = session.send([{ type: 'text', text: `turn ${turn}` }, ...shown])
    for await (const event of sent) if (event.type === 'content-left-out') leftOut += event.messages.length
    outcomes.add((await sent.answer).text)
    const body = server.requests.at(-1)?.body ?? {}
    if (!JSON.stringify(body).includes(draw(number - 1, picture))) blind += 1
    const messages = listMessages(body[history])
    if (before.some((message, at) => message !== messages[at])) changed += 1
    before = messages
  }
  await host.stop()
  return { outcomes, blind, changed, refused: server.refusals.map(({ message }) => message), leftOut }
}

/** Without cache marks, which move with the latest message. */
function listMessages(value: JsonValue | undefined): readonly string[] {
  const messages = Array.isArray(value) ? (value as readonly JsonValue[]) : []
  const without = (key: string, field: unknown) => (key === 'cache_control' ? undefined : field)
  return messages.map((message) => JSON.stringify(message, without))
}

async function startAnthropic(init: { bytesMax?: number; requestBytesMax?: number } = {}) {
  const { bytesMax, requestBytesMax } = init
  const server = await startFakeAnthropic(() => ({ text: 'I see.' }), bytesMax === undefined ? {} : { bytesMax })
  open.push(server)
  const model = createAnthropicModel({
    model: 'claude-haiku-4-5',
    apiKey: 'k',
    baseUrl: server.url,
    ...(requestBytesMax !== undefined && { requestBytesMax }),
  })
  return { server, model }
}

const SEEN = new Set(['I see.'])

test('a gateway that takes less than its provider, with a 413: 51 turns', async () => {
  const { server, model } = await startAnthropic({ bytesMax: 1_000_000 })
  const played = await play(model, server, { turns: 51, picture: { bytes: 70_000 }, history: 'messages' })
  expect([played.outcomes, played.blind]).toEqual([SEEN, 0])
  expect(new Set(played.refused)).toEqual(new Set(['Request exceeds the maximum size']))
  // Ten pictures fit: half of them are dropped every fifth or sixth time.
  expect(played.refused.length).toBeLessThanOrEqual(10)
  expect(played.changed).toBe(played.refused.length)
  expect(played.leftOut).toBeGreaterThanOrEqual(40)
})

test('a gateway whose limit Baton is told is never asked for more: 51 turns', async () => {
  const { server, model } = await startAnthropic({ bytesMax: 1_000_000, requestBytesMax: 1_000_000 })
  const played = await play(model, server, { turns: 51, picture: { bytes: 70_000 }, history: 'messages' })
  expect([played.outcomes, played.blind, played.refused]).toEqual([SEEN, 0, []])
  expect(played.changed).toBeLessThanOrEqual(10)
})

test('more bytes than Anthropic takes are not sent', async () => {
  const { server, model } = await startAnthropic()
  // 34.5 MB as base64.
  const played = await play(model, server, {
    turns: 1,
    pictures: 7,
    picture: { bytes: 3_700_000 },
    history: 'messages',
  })
  expect([played.outcomes, played.blind, played.refused, played.leftOut]).toEqual([SEEN, 0, [], 1])
  expect(JSON.stringify(server.requests[0]?.body).match(/"type":"image"/g)).toHaveLength(3)
})

test('more bytes than Gemini takes are not sent', async () => {
  const server = await startFakeGemini({ script: () => ({ text: 'I see.' }) })
  open.push(server)
  const access = { type: 'gemini-api', apiKey: 'k' } as const
  const model = createGeminiModel({ model: 'gemini-3-pro-preview', access, baseUrl: server.url })
  // 24.7 MB as base64.
  const played = await play(model, server, {
    turns: 1,
    pictures: 5,
    picture: { bytes: 3_700_000 },
    history: 'contents',
  })
  expect([played.outcomes, played.blind, played.refused, played.leftOut]).toEqual([SEEN, 0, [], 1])
  expect(JSON.stringify(server.requests[0]?.body).match(/"inlineData"/g)).toHaveLength(2)
})

test.each([
  ['too many images', { pictures: 3, picture: { bytes: 64 } }, 'too many images and documents: 102 + 0 > 100'],
  [
    'pictures that are too large where there are many',
    { picture: { bytes: 64, side: 2500 } },
    'many-image requests: 2000 pixels',
  ],
] as const)('%s for Anthropic: 51 turns', async (_name, shown, refusal) => {
  const { server, model } = await startAnthropic()
  const played = await play(model, server, { turns: 51, history: 'messages', ...shown })
  expect([played.outcomes, played.blind]).toEqual([SEEN, 0])
  expect(played.refused[0]).toContain(refusal)
  expect(played.refused.length).toBeLessThanOrEqual(5)
  expect(played.changed).toBe(played.refused.length)
})

test('too many images for Claude on Bedrock: 51 turns', async () => {
  const server = await startFakeBedrock(() => ({ text: 'I see.' }))
  open.push(server)
  const model = createBedrockModel({
    model: 'anthropic.claude-haiku-4-5-20251001-v1:0',
    region: 'us-east-1',
    apiKey: FAKE_BEDROCK_KEYS.bearer,
    baseUrl: server.url,
  })
  const played = await play(model, server, { turns: 51, picture: { bytes: 64 }, history: 'messages' })
  expect([played.outcomes, played.blind]).toEqual([SEEN, 0])
  expect(played.refused.length).toBeLessThanOrEqual(5)
})

test('one image for vLLM as it starts by default: 51 turns', async () => {
  const server = await startFakeOpenAiChat({ imagesMax: 1, script: () => ({ text: 'I see.' }) })
  open.push(server)
  const model = createOpenAiChatModel({ model: 'qwen2.5-vl', apiKey: 'k', baseUrl: server.url })
  const played = await play(model, server, { turns: 51, picture: { bytes: 64 }, history: 'messages' })
  expect([played.outcomes, played.blind]).toEqual([SEEN, 0])
})

test('a JPEG that is called a PNG, of the user and of a tool: 51 turns', async () => {
  const server = await startFakeAnthropic(({ index, toolLike }) =>
    index === 0 ? { calls: [{ name: toolLike(/look/), input: {} }] } : { text: 'I see.' },
  )
  open.push(server)
  const model = createAnthropicModel({ model: 'claude-haiku-4-5', apiKey: 'k', baseUrl: server.url })
  const picture = { bytes: 64, isJpeg: true }
  const look = tool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: {} },
    effect: 'pure',
    execute: () => ({ content: [show(1, picture)] }),
  })
  const host = createHost({ agent: defineAgent({ name: 'a', model, tools: [look] }) })
  const session = await host.session('s')
  for (let turn = 0; turn < 51; turn++) {
    const { text } = await session.send(turn === 0 ? [show(2, picture)] : `turn ${turn}`).answer
    expect(text).toBe('I see.')
  }
  await host.stop()
  expect(server.refusals).toEqual([])
})

test('a signature of Gemini on a part of its own behind the call: 51 turns', async () => {
  const signed = (parts: readonly JsonObject[], finishReason?: string) =>
    `data: ${JSON.stringify({ candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) }] })}\r\n\r\n`
  const server = await startFakeGemini({
    script: ({ index, toolLike }) => {
      if (index % 2 === 1) return { text: 'I see.' }
      const call = { functionCall: { name: toolLike(/look/), args: {} } }
      const raw = signed([call]) + signed([{ text: '', thoughtSignature: 'c2lnbmVk' }]) + signed([], 'STOP')
      return { raw: { type: 'text/event-stream', text: raw } }
    },
  })
  open.push(server)
  const access = { type: 'gemini-api', apiKey: 'k' } as const
  const model = createGeminiModel({ model: 'gemini-3-pro-preview', access, baseUrl: server.url })
  const look = tool({
    name: 'look',
    description: 'Looks.',
    input: { type: 'object', properties: {} },
    effect: 'pure',
    execute: () => 'blue',
  })
  const host = createHost({ agent: defineAgent({ name: 'a', model, tools: [look] }) })
  const session = await host.session('s')
  for (let turn = 0; turn < 51; turn++) expect((await session.send(`turn ${turn}`).answer).text).toBe('I see.')
  await host.stop()
  expect(server.refusals).toEqual([])
  const calls = server.requests.flatMap(({ body }) => JSON.stringify(body).match(/"thoughtSignature":"[^"]*"/g) ?? [])
  expect(new Set(calls)).toEqual(new Set(['"thoughtSignature":"c2lnbmVk"']))
})

test('a request that is too large without pictures loses its older half three times, and then its turn fails', async () => {
  const { server, model } = await startAnthropic({ bytesMax: 20_000 })
  const asked: number[] = []
  const watched: Model = {
    ...model,
    run: async (request, ...others) => {
      asked.push(request.messages.length)
      return await model.run(request, ...others)
    },
  }
  const host = createHost({ agent: defineAgent({ name: 'a', model: watched, window: { summarise: false } }) })
  const session = await host.session('s')
  for (let turn = 0; turn < 16; turn++) expect((await session.send(`turn ${turn}`).answer).text).toBe('I see.')
  asked.length = 0
  await expect(session.send('x'.repeat(30_000)).answer).rejects.toMatchObject({ code: 'model_request_too_large' })
  expect(server.refusals).toHaveLength(4)
  // 16 exchanges and the new message, then 8, 4 and 2.
  expect(asked).toEqual([33, 17, 9, 5])
  expect((await session.send('still there?').answer).text).toBe('I see.')
  await host.stop()
})

test('a picture that is too large alone is left out, and the model is told so', async () => {
  const { server, model } = await startAnthropic({ bytesMax: 50_000 })
  const host = createHost({ agent: defineAgent({ name: 'a', model }) })
  const session = await host.session('s')
  const { text } = await session.send([{ type: 'text', text: 'What is it?' }, show(1, { bytes: 60_000 })]).answer
  await host.stop()
  expect(text).toBe('I see.')
  expect(JSON.stringify(server.requests.at(-1)?.body)).toContain(
    '[An image was left out: the request was too large with it]',
  )
})
