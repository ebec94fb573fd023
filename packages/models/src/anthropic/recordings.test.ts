// Every Anthropic recording: whole, byte by byte, truncated at every byte, and compared with the accumulator of
// Anthropic's SDK.
import Anthropic from '@anthropic-ai/sdk'
import type { ModelAnswer } from '@baton/core/internal'
import { isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import type { RecordedExchange } from '@baton/testing/recordings'
import { countLine, openRecordings } from '@baton/testing/recordings'
import { afterAll, describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { readSseInto } from '../transport/answer-reader.ts'
import { overlay, readUsage, createAnthropicDecoder, decodeAnthropicMessage } from './decode-stream.ts'
import { encodeAssistantParts } from './encode-messages.ts'

const recordings = openRecordings('decoding of Anthropic’s recordings', (message) => console.warn(message))
const exchanges = (recordings?.exchangesOf('anthropic') ?? []).filter((exchange) => exchange.status === 200)
const names = createToolNames([])
const options = { model: 'recorded', names }
/** Recordings of the API must decode; handmade or edited ones may also end in a typed error. */
const isGenuine = (exchange: RecordedExchange) => exchange.origin === 'recorded'
const readName = (exchange: RecordedExchange) => `${exchange.file.replace(/^anthropic\//, '')} #${exchange.index}`
const cases = exchanges.map((exchange) => [readName(exchange), exchange] as const)
const streams = cases.filter(([, exchange]) => exchange.isStream)
const counts = {
  files: new Set(exchanges.map(({ file }) => file)).size,
  answers: 0,
  'byte cuts': 0,
  'equal to the SDK': 0,
}

afterAll(() => {
  if (recordings) console.info(countLine('recordings anthropic', counts))
})

type Outcome = ModelAnswer | Error

function decode(
  exchange: RecordedExchange,
  pieceLength: number,
  afterPiece?: (outcome: Outcome, end: number) => void,
): Outcome {
  if (!exchange.isStream) {
    const parsed = parseJson(new TextDecoder().decode(exchange.body))
    return decodeAnthropicMessage(parsed.ok ? parsed.value : null, options)
  }
  const decoder = createAnthropicDecoder(options)
  const reader = readSseInto(decoder)
  for (let start = 0; start < exchange.body.length; start += pieceLength) {
    const end = Math.min(start + pieceLength, exchange.body.length)
    reader.push(exchange.body.subarray(start, end))
    afterPiece?.(decoder.end(), end)
  }
  return decoder.end()
}

function asPlain(outcome: Outcome): unknown {
  return isBatonError(outcome) ? { code: outcome.code, message: outcome.message } : outcome
}

async function sdkMessage(exchange: RecordedExchange): Promise<Anthropic.Message | Error> {
  if (!exchange.isStream) return JSON.parse(new TextDecoder().decode(exchange.body)) as Anthropic.Message
  const body = exchange.body.slice()
  const client = new Anthropic({
    apiKey: 'none',
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } })),
  })
  const stream = client.messages.stream({
    model: 'recorded',
    max_tokens: 1,
    messages: [{ role: 'user', content: 'x' }],
  })
  return stream.finalMessage().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
}

/** Our answer as Anthropic blocks, including unknown ones, for comparison with the SDK's. */
function listBlocks(answer: ModelAnswer): unknown {
  return answer.parts.flatMap((part): unknown[] => {
    // The state of the whole answer (its container) is not a block.
    if (part.type === 'provider' && isJsonObject(part.state.data)) return [part.state.data['block'] ?? []].flat()
    const neutral = part.type === 'call' ? { ...part, callId: 'not used: the part has its own id' } : part
    return [...encodeAssistantParts([neutral], { ...options, keepThinking: true })]
  })
}

/** Blank text is not sent back; `citations: null` equals no citations. */
function sdkBlocks(message: Anthropic.Message): unknown {
  const plain: unknown[] = JSON.parse(JSON.stringify(message.content))
  return plain
    .filter((block) => !isBlankText(block))
    .map((block) => {
      if (!isJsonObject(block) || block['citations'] !== null) return block
      const { citations: _none, ...rest } = block
      return rest
    })
}

describe.skipIf(!recordings)('Anthropic’s recordings', () => {
  test('there are some', () => {
    expect(exchanges.length).toBeGreaterThan(30)
  })

  test.each(cases)('%s: read whole and a byte at a time', (_name, exchange) => {
    const whole = decode(exchange, exchange.body.length)
    expect(asPlain(decode(exchange, 1))).toEqual(asPlain(whole))
    expect(isBatonError(whole) ? [whole.code, isGenuine(exchange)] : []).toSatisfy(
      (failure: readonly unknown[]) => failure.length === 0 || failure[1] === false,
    )
    counts.answers++
  })

  test.each(cases)('%s: the same as Anthropic’s SDK makes of it', async (_name, exchange) => {
    const ours = decode(exchange, exchange.body.length)
    const theirs = await sdkMessage(exchange)
    // A rejected handmade stream has nothing to compare.
    const isComparable = !(ours instanceof Error) && !(theirs instanceof Error)
    expect(isComparable || !isGenuine(exchange)).toBe(true)
    const compared = isComparable
      ? { ours: { blocks: listBlocks(ours), usage: ours.usage, model: ours.model }, theirs: toNeutral(theirs) }
      : { ours: 0, theirs: 0 }
    expect(compared.ours).toEqual(compared.theirs)
    if (isComparable) counts['equal to the SDK']++
  })

  test.each(streams)('%s: ended at every byte', (_name, exchange) => {
    const wrong: unknown[] = []
    let cuts = 0
    const whole = asPlain(decode(exchange, exchange.body.length))
    const near = exchange.body.length > 20_000 ? nearBoundaries(exchange.body) : undefined
    decode(exchange, 1, (outcome, end) => {
      if (near && !near.has(end)) return
      cuts++
      if (isBatonError(outcome)) return
      // Only the whole recording is complete, and only once its reason has arrived.
      const came = new TextDecoder().decode(exchange.body.subarray(0, end))
      const hasStopped = came.includes('"message_delta"') || came.includes('"message_stop"')
      if (!hasStopped || JSON.stringify(outcome) !== JSON.stringify(whole)) wrong.push([end, outcome])
    })
    counts['byte cuts'] += cuts
    expect(wrong).toEqual([])
  })
})

function isBlankText(block: unknown): boolean {
  return (
    isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string' && block['text'].trim() === ''
  )
}

function toNeutral(message: Anthropic.Message): unknown {
  const usage: unknown = JSON.parse(JSON.stringify(message.usage))
  return {
    blocks: sdkBlocks(message),
    usage: readUsage(isJsonObject(usage) ? overlay({}, usage) : {}),
    model: message.model,
  }
}

function nearBoundaries(body: Uint8Array): ReadonlySet<number> {
  const near = new Set<number>()
  const text = Buffer.from(body)
  for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n', at + 2))
    for (let distance = -8; distance <= 8; distance++) near.add(at + 2 + distance)
  return near
}
