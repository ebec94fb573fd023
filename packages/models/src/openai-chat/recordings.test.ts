// Every Chat Completions recording, of OpenAI and others: whole, byte by byte, truncated at every byte, compared with
// the accumulator of OpenAI's SDK, and valid as history of the next request.
import type { AssistantPart, Message, ModelAnswer, ModelEvent } from '@baton/core/internal'
import { isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { validateOpenAiChatRequest } from '@baton/testing/wires'
import type { RecordedExchange } from '@baton/testing/recordings'
import { countLine, openRecordings } from '@baton/testing/recordings'
import OpenAI from 'openai'
import { afterAll, describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { createSseReader } from '../transport/sse.ts'
import { overlay, readUsage } from './decode-end.ts'
import { createOpenAiChatDecoder, decodeOpenAiChatCompletion } from './decode-stream.ts'
import { encodeOpenAiChatRequest } from './encode-request.ts'
import { COMPATIBLE_QUIRKS } from './quirks.ts'

const recordings = openRecordings('decoding of Chat Completions recordings', (message) => console.warn(message))
const exchanges = ['openai-chat', 'openai-compatible'].flatMap((folder) => recordings?.exchangesOf(folder) ?? [])
const names = createToolNames([])
const readName = (exchange: RecordedExchange) =>
  `${exchange.file.replace(/^openai-/, '').replace(/\.http\.json$/, '')} #${exchange.index}`
const cases = exchanges.map((exchange) => [readName(exchange), exchange] as const)
const streams = cases.filter(([, exchange]) => exchange.isStream)
const counts = {
  files: new Set(exchanges.map(({ file }) => file)).size,
  answers: 0,
  calls: 0,
  'errors in streams': 0,
  'byte cuts': 0,
  'equal to the SDK': 0,
  'not read by the SDK': 0,
}

afterAll(() => {
  if (recordings) console.info(countLine('recordings openai-chat', counts))
})

type Outcome = ModelAnswer | Error

function decode(
  exchange: RecordedExchange,
  pieceLength: number,
  afterPiece?: (outcome: Outcome, end: number) => void,
  sink?: (event: ModelEvent) => void,
): Outcome {
  const options = { model: 'recorded', provider: 'recorded', names, ...(sink && { sink }) }
  if (!exchange.isStream) {
    const parsed = parseJson(new TextDecoder().decode(exchange.body))
    return decodeOpenAiChatCompletion(parsed.ok ? parsed.value : null, options)
  }
  const decoder = createOpenAiChatDecoder(options)
  const reader = createSseReader((event) => decoder.push(event))
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

async function sdkCompletion(exchange: RecordedExchange): Promise<OpenAI.ChatCompletion | Error> {
  if (!exchange.isStream) return JSON.parse(new TextDecoder().decode(exchange.body)) as OpenAI.ChatCompletion
  const body = exchange.body.slice()
  const client = new OpenAI({
    apiKey: 'none',
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } })),
  })
  const stream = client.chat.completions.stream({ model: 'recorded', messages: [{ role: 'user', content: 'x' }] })
  return stream
    .finalChatCompletion()
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
}

function ourContent(answer: ModelAnswer): unknown {
  const texts = answer.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const calls = answer.parts.flatMap((part) => (part.type === 'call' ? [part] : []))
  return {
    text: texts.join(''),
    calls: calls.map((call) => [call.name, call.arguments, readId(call.state?.data)]),
    usage: answer.usage,
    model: answer.model,
  }
}

const readId = (data: unknown) => (isJsonObject(data) && typeof data['id'] === 'string' ? data['id'] : '')

function sdkContent(completion: OpenAI.ChatCompletion): unknown {
  const message = completion.choices[0]?.message
  const usage: unknown = JSON.parse(JSON.stringify(completion.usage ?? {}))
  return {
    text: message?.content ?? '',
    calls: (message?.tool_calls ?? []).map((call) =>
      call.type === 'function' ? [call.function.name, call.function.arguments, call.id] : [],
    ),
    usage: readUsage(isJsonObject(usage) ? overlay({}, usage) : {}),
    model: completion.model,
  }
}

/** Streams that OpenAI's own SDK cannot read: calls without an index or starting at 1, and an answer without a role. */
const SDK_CANNOT = ['mistral', 'anthropic-fallback', 'gpustack']

describe.skipIf(!recordings)('recordings of Chat Completions', () => {
  test('there are some', () => {
    expect(exchanges.length).toBeGreaterThan(25)
  })

  test.each(cases)('%s: read whole and a byte at a time', (_name, exchange) => {
    const whole = decode(exchange, exchange.body.length)
    expect(asPlain(decode(exchange, 1))).toEqual(asPlain(whole))
    const hasError = new TextDecoder().decode(exchange.body).includes('event: error')
    expect(isBatonError(whole) ? whole.code : 'answer').toBe(hasError ? 'model_malformed_answer' : 'answer')
    if (hasError) counts['errors in streams']++
    else counts.answers++
  })

  test.each(cases)('%s: the same as OpenAI’s SDK makes of it', async (_name, exchange) => {
    const ours = decode(exchange, exchange.body.length)
    const theirs = await sdkCompletion(exchange)
    const isComparable = !(ours instanceof Error) && !(theirs instanceof Error)
    const isExpected = isComparable || ours instanceof Error || SDK_CANNOT.some((each) => exchange.file.includes(each))
    expect([isExpected, theirs instanceof Error ? theirs.message : '']).toEqual([true, expect.any(String)])
    expect(isComparable ? ourContent(ours) : 0).toEqual(isComparable ? sdkContent(theirs) : 0)
    counts[isComparable ? 'equal to the SDK' : 'not read by the SDK']++
  })

  test.each(cases)('%s: the events tell what the answer says', (_name, exchange) => {
    const events: ModelEvent[] = []
    const answer = decode(exchange, 1024, undefined, (event) => events.push(event))
    if (isBatonError(answer) || answer instanceof Error) return
    const text = events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')
    const reasoning = events.flatMap((event) => (event.type === 'reasoning-delta' ? [event.text] : [])).join('')
    const calls = answer.parts.flatMap((part) => (part.type === 'call' ? [part] : []))
    const told = calls.map((_call, index) => callIn(events, index))
    expect(told).toEqual(calls.map((call) => [call.name, call.arguments, true]))
    expect({ text, reasoning }).toEqual({
      text: answer.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
      reasoning: answer.parts.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join(''),
    })
    counts.calls += calls.length
  })

  test.each(streams)('%s: ended at every byte', (_name, exchange) => {
    const wrong: unknown[] = []
    let cuts = 0
    const whole = decode(exchange, exchange.body.length)
    const near = exchange.body.length > 20_000 ? nearBoundaries(exchange.body) : undefined
    decode(exchange, 1, (outcome, end) => {
      if (near && !near.has(end)) return
      cuts++
      if (isBatonError(outcome)) return
      // An answer is complete only once its reason has arrived; its cost may follow later.
      const hasReason = /"finish_reason": ?"/.test(new TextDecoder().decode(exchange.body.subarray(0, end)))
      if (!hasReason || outcome instanceof Error || said(outcome) !== said(whole)) wrong.push([end, outcome])
    })
    counts['byte cuts'] += cuts
    expect(wrong).toEqual([])
  })

  test.each(cases)('%s: what was answered may stand in the next request', (_name, exchange) => {
    const answer = decode(exchange, exchange.body.length)
    if (answer instanceof Error) return
    const messages = historyWith(answer)
    const request = { instructions: '', tools: [], toolChoice: { type: 'auto' }, settings: {}, session: 's' } as const
    const body = encodeOpenAiChatRequest(
      { ...request, messages },
      { model: 'recorded', provider: 'recorded', quirks: COMPATIBLE_QUIRKS },
    )
    expect(validateOpenAiChatRequest(JSON.parse(JSON.stringify(body)))).toEqual([])
  })
})

function callIn(events: readonly ModelEvent[], index: number): unknown {
  const mine = events.filter((event) => 'index' in event && event.index === index)
  const name = mine.flatMap((event) => (event.type === 'call-start' ? [event.name] : [])).join('+')
  const given = mine.flatMap((event) => (event.type === 'call-delta' ? [event.text] : [])).join('')
  return [name, given === '' ? '{}' : given, mine.at(-1)?.type === 'call-end']
}

/** Everything but the cost. */
function said(outcome: Outcome): string {
  return JSON.stringify(outcome instanceof Error ? outcome.message : { ...outcome, usage: {} })
}

function historyWith(answer: ModelAnswer): readonly Message[] {
  const parts = answer.parts.map((part, index): AssistantPart =>
    part.type === 'call' ? { ...part, callId: `call_0_${index}` } : part,
  )
  const results = parts.flatMap((part) =>
    part.type === 'call' ? [{ ...part, type: 'result' as const, isError: false, content: [] }] : [],
  )
  return [
    { role: 'user', parts: [{ type: 'text', text: 'go' }] },
    { role: 'assistant', parts },
    ...(results.length > 0 ? [{ role: 'tool' as const, parts: results }] : []),
    { role: 'user', parts: [{ type: 'text', text: 'on' }] },
  ]
}

function nearBoundaries(body: Uint8Array): ReadonlySet<number> {
  const near = new Set<number>()
  const text = Buffer.from(body)
  for (let at = text.indexOf('\n\n'); at !== -1; at = text.indexOf('\n\n', at + 2))
    for (let distance = -4; distance <= 4; distance++) near.add(at + 2 + distance)
  return near
}
