// Recorded answers as written by servers that almost follow a wire: no call runs with arguments other than the model's,
// none is silently lost, and each answer ends even though its connection stays open.
import type { Model, ModelAnswer, Transport } from '@baton/core/internal'
import { isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { createRandom } from '@baton/core/testing'
import { createAnthropicModel } from '@baton/models/anthropic'
import { createBedrockModel } from '@baton/models/bedrock'
import { encodeFrame } from '@baton/models/internal'
import { createGeminiModel } from '@baton/models/gemini'
import { COMPATIBLE_QUIRKS, createOpenAiChatModel } from '@baton/models/openai-chat'
import { createOpenAiResponsesModel } from '@baton/models/openai-responses'
import { fitToolName } from '@baton/runtime'
import { afterAll, expect, test } from 'vitest'
import { chooseCount } from '../components/depth.ts'
import { countLine, openRecordings } from '../fake-providers/recordings.ts'
import type { Framing, Operator, WireEvent } from './operators.test-kit.ts'
import { chooseTogether, FRAMINGS, OPERATORS, writeEvents } from './operators.test-kit.ts'
import type { Truth, Wire } from './truth.test-kit.ts'
import { parseFrames, parseNamed } from './google-aws.test-kit.ts'
import { parseEvents, readTruth } from './truth.test-kit.ts'

const recordings = openRecordings('answers of servers that nearly speak a wire', (message) => console.warn(message))

interface Sample {
  readonly name: string
  readonly wire: Wire
  readonly events: readonly WireEvent[]
  readonly truth: Truth
}

const FOLDERS: Readonly<Record<Wire, readonly string[]>> = {
  messages: ['anthropic'],
  chat: ['openai-chat', 'openai-compatible'],
  responses: ['openai-responses'],
  gemini: ['google'],
  bedrock: ['bedrock'],
}

function listSamples(wire: Wire): readonly Sample[] {
  const exchanges = FOLDERS[wire].flatMap((folder) => recordings?.exchangesOf(folder) ?? [])
  return exchanges.flatMap(({ file, index, status, isStream, body }) => {
    if (!isStream || status !== 200) return []
    const text = new TextDecoder().decode(body)
    const isBinary = wire === 'bedrock' && !file.endsWith('.txt')
    const told = isBinary ? parseFrames(body) : parseEvents(text)
    const events = wire === 'bedrock' && !isBinary ? parseNamed(told) : told
    const truth = readTruth(wire, events)
    const ended: readonly WireEvent[] = text.includes('data: [DONE]') ? [...events, '[DONE]'] : events
    return truth ? [{ name: `${file} #${index}`, wire, events: ended, truth }] : []
  })
}

const WIRES = ['messages', 'chat', 'responses', 'gemini', 'bedrock'] as const
const SAMPLES = WIRES.flatMap(listSamples)
const counts = {
  recordings: SAMPLES.length,
  operators: OPERATORS.length,
  played: 0,
  same: 0,
  refused: 0,
  'left open': 0,
  gemini: 0,
  bedrock: 0,
}
afterAll(() => {
  if (recordings) console.info(countLine('garbled answers', counts))
})

type Feeding = 'whole' | 'byte by byte' | 'left open'

interface Play {
  readonly sample: Sample
  readonly operators: readonly Operator[]
  readonly framing: Framing
  readonly feeding: Feeding
}

/** Maximum wait, in virtual milliseconds. */
const WAIT_MS = 10_000

/** The events as written. */
function garble({ sample, operators }: Play, seed: number): readonly WireEvent[] {
  const random = createRandom(seed)
  return operators.reduce((events, operator) => operator.apply(events, random), sample.events)
}

/** Input and output tokens together, from the provider's own fields. */
function readTotal(events: readonly WireEvent[]): number {
  const usages = events.flatMap((event) => {
    if (event === '[DONE]') return []
    const { usage, response, usageMetadata } = event
    return [usage, usageMetadata, isJsonObject(response) ? response['usage'] : undefined].filter(isJsonObject)
  })
  const last = usages.at(-1) ?? {}
  const total = last['total_tokens'] ?? last['totalTokens'] ?? last['totalTokenCount']
  return typeof total === 'number' ? total : Infinity
}

const CONTENT_TYPES: Readonly<Partial<Record<Wire, string>>> = { bedrock: 'application/vnd.amazon.eventstream' }

function writeFrames(events: readonly WireEvent[]): Uint8Array {
  const frames = events.filter(isJsonObject).map(({ type, ...payload }) => {
    const headers = { ':message-type': 'event', ':event-type': typeof type === 'string' ? type : '' }
    return encodeFrame({ headers, body: new TextEncoder().encode(JSON.stringify(payload)) })
  })
  return Buffer.concat(frames)
}

async function answer(play: Play, events: readonly WireEvent[]): Promise<ModelAnswer | Error> {
  const { sample, framing, feeding } = play
  const bytes = sample.wire === 'bedrock' ? writeFrames(events) : new TextEncoder().encode(writeEvents(events, framing))
  const timers: { readonly ms: number; readonly callback: () => void }[] = []
  const transport: Transport = {
    post: async (_request, signal, onBytes) => {
      const head = { status: 200, headers: { 'content-type': CONTENT_TYPES[sample.wire] ?? 'text/event-stream' } }
      const step = feeding === 'byte by byte' ? 1 : bytes.length
      for (let at = 0; at < bytes.length; at += step) onBytes(bytes.subarray(at, at + step), head)
      if (feeding !== 'left open') return head
      // Nothing more arrives, and the connection stays open.
      queueMicrotask(() => {
        for (const { ms, callback } of timers.splice(0)) if (ms <= WAIT_MS) callback()
      })
      return await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('closed')))
        setImmediate(() => setImmediate(() => reject(new Error('it waits for ever'))))
      })
    },
  }
  const start = (ms: number, callback: () => void): (() => void) => {
    const timer = { ms, callback }
    timers.push(timer)
    return () => void timers.splice(timers.indexOf(timer) >>> 0, 1)
  }
  const options = { model: 'm', transport, timers: { start } }
  const request = {
    instructions: '',
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }],
    tools: sample.truth.calls.map(({ name }) => ({ name, description: '', inputSchema: { type: 'object' } })),
    toolChoice: { type: 'auto' },
    settings: {},
    session: 's',
  } as const
  try {
    return await openModel(sample.wire, options).run(request, () => undefined, new AbortController().signal)
  } catch (cause) {
    return cause instanceof Error ? cause : new Error(String(cause))
  }
}

type Options = {
  readonly model: string
  readonly transport: Transport
  readonly timers: { start(ms: number, callback: () => void): () => void }
}

function openModel(wire: Wire, options: Options): Model {
  if (wire === 'messages') return createAnthropicModel({ ...options, apiKey: 'key' })
  if (wire === 'gemini') return createGeminiModel({ ...options, access: { type: 'gemini-api', apiKey: 'key' } })
  if (wire === 'bedrock') return createBedrockModel({ ...options, region: 'us-east-1', apiKey: 'key' })
  if (wire === 'responses') return createOpenAiResponsesModel({ ...options, apiKey: 'key' })
  return createOpenAiChatModel({ ...options, quirks: COMPATIBLE_QUIRKS, provider: 'theirs' })
}

/** Calls that would run, calls reported as errors, and the text. */
function readAnswer({ parts }: ModelAnswer, truth: Truth) {
  const tools = truth.calls.map(({ name }) => ({ name }))
  const calls = parts.flatMap((part) => (part.type === 'call' ? [part] : []))
  const isRunnable = (text: string): boolean => {
    const parsed = parseJson(text)
    return parsed.ok && isJsonObject(parsed.value)
  }
  return {
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    runs: calls
      .filter((call) => isRunnable(call.arguments))
      .map((call) => ({
        name: fitToolName(call.name, tools) ?? call.name,
        arguments: JSON.stringify(JSON.parse(call.arguments)),
      })),
    refused: calls.filter((call) => !isRunnable(call.arguments)).length,
  }
}

/** Finds a fault; undefined if the answer matches the truth, or was rejected explicitly. */
async function judge(play: Play, seed: number): Promise<string | undefined> {
  const { truth } = play.sample
  const events = garble(play, seed)
  const got = await answer(play, events)
  counts.played += 1
  const { wire } = play.sample
  if (wire === 'gemini' || wire === 'bedrock') counts[wire] += 1
  if (play.feeding === 'left open') counts['left open'] += 1
  const isSingle = play.operators.length === 1
  if (got instanceof Error) {
    if (isBatonError(got) && !isSingle) {
      counts.refused += 1
      return undefined
    }
    return `it failed: ${got.message}`
  }
  const { text, runs, refused } = readAnswer(got, truth)
  const meant = truth.calls.map((call) => ({ name: call.name, arguments: JSON.stringify(JSON.parse(call.arguments)) }))
  const foreign = runs.find((call) => !meant.some((one) => one.name === call.name && one.arguments === call.arguments))
  if (foreign) return `a call runs with other arguments: ${JSON.stringify(foreign)}`
  if (runs.length > meant.length) return `${runs.length} calls run instead of ${meant.length}`
  if (runs.length + refused < meant.length) return `calls are lost: ${runs.length} of ${meant.length}`
  if (text.trim() !== truth.text.trim()) return `the text is other: ${JSON.stringify(text.slice(0, 80))}`
  const { inputTokens = 0, outputTokens = 0 } = got.usage
  if (inputTokens + outputTokens > readTotal(events))
    return `more tokens are counted than there were: ${inputTokens} + ${outputTokens}`
  if (got.finish === 'max-tokens' && meant.length > 0) return 'its calls are refused as cut off'
  if (refused > 0 && isSingle) return `${refused} calls are refused whose meaning is certain`
  counts[refused > 0 ? 'refused' : 'same'] += 1
  return undefined
}

function describe({ sample, operators, framing, feeding }: Play): string {
  return `${sample.name}, ${operators.map(({ name }) => name).join(' + ') || 'as recorded'}, ${framing}, ${feeding}`
}

test.skipIf(!recordings)('recordings as they are have the truth that was read of them', async () => {
  const wrong: string[] = []
  for (const sample of SAMPLES) {
    const play: Play = { sample, operators: [], framing: 'plain', feeding: 'whole' }
    const problem = await judge({ ...play, operators: [] }, 0)
    if (problem !== undefined) wrong.push(`${describe(play)}: ${problem}`)
  }
  expect(wrong).toEqual([])
})

test.skipIf(!recordings)('each kind of server alone: the same calls and the same text', async () => {
  const wrong: string[] = []
  for (const sample of SAMPLES)
    for (const operator of OPERATORS.filter(({ wire }) => wire === sample.wire))
      for (const feeding of ['whole', 'left open'] as const) {
        const play: Play = { sample, operators: [operator], framing: 'plain', feeding }
        const problem = await judge(play, 1)
        if (problem !== undefined) wrong.push(`${describe(play)}: ${problem}`)
      }
  expect(wrong).toEqual([])
})

test.skipIf(!recordings)('several at once, cut anywhere: the truth, or a named refusal', async () => {
  const wrong: string[] = []
  const count = chooseCount({ quick: 300, landing: 1000, deep: 20_000 })
  for (let seed = 1; seed <= count; seed++) {
    const random = createRandom(seed)
    const sample = SAMPLES[random.below(SAMPLES.length)]
    if (!sample) continue
    const kinds = OPERATORS.filter(({ wire }) => wire === sample.wire)
    const drawn = Array.from({ length: 2 + random.below(3) }, () => kinds[random.below(kinds.length)] as Operator)
    const operators = chooseTogether(drawn)
    const feeding = (['whole', 'byte by byte', 'left open'] as const)[random.below(3)] ?? 'whole'
    const framing = FRAMINGS[random.below(FRAMINGS.length)] ?? 'plain'
    const play: Play = { sample, operators, framing, feeding }
    const problem = await judge(play, seed)
    if (problem !== undefined) wrong.push(`seed ${seed}: ${describe(play)}: ${problem}`)
  }
  expect(wrong).toEqual([])
})
