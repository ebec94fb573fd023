// Every Responses API recording, of OpenAI and others: whole, byte by byte, truncated at every byte, compared with the
// accumulator of OpenAI's SDK, and valid as history of the next request.
import type { AssistantPart, Message, ModelAnswer, ModelEvent, ProviderState } from '@baton/core/internal'
import { isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { validateOpenAiResponsesRequest } from '@baton/testing/wires'
import type { RecordedExchange } from '@baton/testing/recordings'
import { countLine, openRecordings } from '@baton/testing/recordings'
import OpenAI from 'openai'
import { afterAll, describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { createSseReader } from '../transport/sse.ts'
import { readUsage, createOpenAiResponsesDecoder, decodeOpenAiResponse } from './decode-stream.ts'
import { encodeOpenAiResponsesRequest } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'

const recordings = openRecordings('decoding of Responses recordings', (message) => console.warn(message))
const exchanges = recordings?.exchangesOf('openai-responses') ?? []
const names = createToolNames([])
const readName = (exchange: RecordedExchange) =>
  `${exchange.file.replace(/^openai-responses\//, '').replace(/\.http\.json$/, '')} #${exchange.index}`
/** Rejections by the API: by status, or the one stored only as a body. */
const isError = ({ status, file }: RecordedExchange) => status !== 200 || file.includes('openai-error')
const all = exchanges.map((exchange) => [readName(exchange), exchange] as const)
/** An edited recording with lines that are not JSON; the SDK fails on it too. */
const isMalformed = ({ file }: RecordedExchange) => file.includes('parallel-tool-call-wrapper')
const cases = all.filter(([, exchange]) => !isError(exchange) && !isMalformed(exchange))
const streams = cases.filter(([, exchange]) => exchange.isStream)
const counts = {
  files: new Set(exchanges.map(({ file }) => file)).size,
  answers: 0,
  calls: 0,
  'errors of the API': 0,
  'byte cuts': 0,
  'equal to the SDK': 0,
  'malformed, also to the SDK': 0,
  'thoughts replayed': 0,
}

afterAll(() => {
  if (recordings) console.info(countLine('recordings openai-responses', counts))
})

type Outcome = ModelAnswer | Error

function decode(
  exchange: RecordedExchange,
  pieceLength: number,
  afterPiece?: (outcome: Outcome, end: number) => void,
  sink?: (event: ModelEvent) => void,
): Outcome {
  const options = { model: 'gpt-5', names, ...(sink && { sink }) }
  if (!exchange.isStream) {
    const parsed = parseJson(new TextDecoder().decode(exchange.body))
    return decodeOpenAiResponse(parsed.ok ? parsed.value : null, options)
  }
  const decoder = createOpenAiResponsesDecoder(options)
  const reader = createSseReader((event) => decoder.push(event))
  for (let start = 0; start < exchange.body.length; start += pieceLength) {
    const end = Math.min(start + pieceLength, exchange.body.length)
    reader.push(exchange.body.subarray(start, end))
    afterPiece?.(decoder.end(), end)
  }
  return decoder.end()
}

const asPlain = (outcome: Outcome): unknown =>
  isBatonError(outcome) ? { code: outcome.code, message: outcome.message } : outcome

async function sdkResponse(exchange: RecordedExchange): Promise<OpenAI.Responses.Response | Error> {
  if (!exchange.isStream) return JSON.parse(new TextDecoder().decode(exchange.body)) as OpenAI.Responses.Response
  const body = exchange.body.slice()
  const client = new OpenAI({
    apiKey: 'none',
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } })),
  })
  const stream = client.responses.stream({ model: 'recorded', input: 'x' })
  return stream.finalResponse().catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))))
}

const encryptedIn = ({ state }: { readonly state?: ProviderState }) =>
  isJsonObject(state?.data) ? state.data['encrypted_content'] : undefined
const readId = (data: unknown) => (isJsonObject(data) ? data['id'] : undefined)

function ourContent(answer: ModelAnswer): unknown {
  return {
    text: answer.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(''),
    calls: answer.parts.flatMap((part) =>
      part.type === 'call' ? [[part.name, part.arguments, readId(part.state?.data)]] : [],
    ),
    others: answer.parts.filter((part) => part.type === 'provider').length,
    usage: answer.usage,
    model: answer.model,
  }
}

function sdkContent(response: OpenAI.Responses.Response): unknown {
  const usage: unknown = JSON.parse(JSON.stringify(response.usage ?? {}))
  const others = response.output.filter(({ type }) => !['message', 'reasoning', 'function_call'].includes(type))
  const texts = response.output.flatMap((item) => (item.type === 'message' ? item.content : []))
  return {
    text: texts.map((part) => (part.type === 'output_text' ? part.text : part.refusal)).join(''),
    calls: response.output.flatMap((item) =>
      item.type === 'function_call' ? [[item.name, item.arguments, item.call_id]] : [],
    ),
    others: others.length,
    usage: readUsage(isJsonObject(usage) ? usage : {}),
    model: response.model,
  }
}

describe.skipIf(!recordings)('recordings of the Responses API', () => {
  test('there are some', () => {
    expect(exchanges.length).toBeGreaterThan(20)
  })

  test.each(cases)('%s: read whole and a byte at a time', (_name, exchange) => {
    const whole = decode(exchange, exchange.body.length)
    expect(asPlain(decode(exchange, 1))).toEqual(asPlain(whole))
    expect(isBatonError(whole) ? whole.message : 'answer').toBe('answer')
    counts.answers++
  })

  test.each(all.filter(([, exchange]) => isError(exchange)))('%s: an error of the API', (_name, exchange) => {
    const body = new TextDecoder().decode(exchange.body)
    const status = exchange.status === 200 ? 429 : exchange.status
    const head = { status, headers: exchange.headers }
    const { code } = errorFromHttp({ provider: 'OpenAI', head, body, nowMs: 0, secrets: [] })
    expect(code).toBe(body.includes('quota') ? 'model_auth_failed' : 'context_overflow')
    counts['errors of the API']++
  })

  test.each(all.filter(([, exchange]) => isMalformed(exchange)))('%s: is no answer', async (_name, exchange) => {
    const ours = [decode(exchange, 1), decode(exchange, exchange.body.length)]
    expect(ours.map((outcome) => (isBatonError(outcome) ? outcome.code : outcome))).toEqual([
      'model_malformed_answer',
      'model_malformed_answer',
    ])
    expect(await sdkResponse(exchange)).toBeInstanceOf(Error)
    counts['malformed, also to the SDK']++
  })

  test.each(cases)('%s: the same as OpenAI’s SDK makes of it', async (_name, exchange) => {
    const ours = decode(exchange, exchange.body.length)
    const theirs = await sdkResponse(exchange)
    if (ours instanceof Error) throw ours
    if (theirs instanceof Error) throw theirs
    expect(ourContent(ours)).toEqual(sdkContent(theirs))
    counts['equal to the SDK']++
  })

  test.each(cases)('%s: the events tell what the answer says', (_name, exchange) => {
    const events: ModelEvent[] = []
    const answer = decode(exchange, 1024, undefined, (event) => events.push(event))
    if (answer instanceof Error) throw answer
    const calls = answer.parts.flatMap((part) => (part.type === 'call' ? [part] : []))
    expect(calls.map((_call, index) => callIn(events, index))).toEqual(
      calls.map((call) => [call.name, call.arguments, true]),
    )
    for (const type of ['text', 'reasoning'] as const) {
      const told = events.flatMap((event) => ('text' in event && event.type === `${type}-delta` ? [event.text] : []))
      expect(told.join('')).toBe(answer.parts.flatMap((part) => (part.type === type ? [part.text] : [])).join(''))
    }
    expect(answer.finish).toBe(calls.length > 0 ? 'tool-calls' : 'end')
    counts.calls += calls.length
  })

  test.each(streams)('%s: ended at every byte', (_name, exchange) => {
    const wrong: unknown[] = []
    let cuts = 0
    const whole = decode(exchange, exchange.body.length)
    const near = exchange.body.length > 20_000 ? nearBoundaries(exchange.body) : undefined
    const terminal = Buffer.from(exchange.body).indexOf('"type":"response.completed"')
    decode(exchange, 1, (outcome, end) => {
      if (near && !near.has(end)) return
      cuts++
      if (isBatonError(outcome)) {
        if (outcome.code !== 'model_cut_off') wrong.push([end, outcome.code])
        return
      }
      // An answer is complete only once the response is completed.
      if (end <= terminal || JSON.stringify(outcome) !== JSON.stringify(whole)) wrong.push([end, outcome])
    })
    counts['byte cuts'] += cuts
    expect(cuts).toBeGreaterThan(100)
    expect(wrong).toEqual([])
  })

  test.each(cases)('%s: what was answered may stand in the next request', (_name, exchange) => {
    const answer = decode(exchange, exchange.body.length)
    if (answer instanceof Error) throw answer
    const request = { instructions: '', tools: [], toolChoice: { type: 'auto' }, settings: {}, session: 's' } as const
    const body = JSON.stringify(
      encodeOpenAiResponsesRequest({ ...request, messages: historyWith(answer) }, { model: 'gpt-5-2025-08-07' }),
    )
    expect(validateOpenAiResponsesRequest(JSON.parse(body))).toEqual([])
    const thoughts = answer.parts.flatMap((part) => (part.type === 'reasoning' ? [encryptedIn(part)] : []))
    const recorded = new TextDecoder().decode(exchange.body)
    for (const thought of thoughts.filter((each) => typeof each === 'string')) {
      expect([body.includes(thought), recorded.includes(thought)]).toEqual([true, true])
      counts['thoughts replayed']++
    }
  })
})

function callIn(events: readonly ModelEvent[], index: number): unknown {
  const mine = events.filter((event) => 'index' in event && event.index === index)
  const name = mine.flatMap((event) => (event.type === 'call-start' ? [event.name] : [])).join('+')
  const given = mine.flatMap((event) => (event.type === 'call-delta' ? [event.text] : [])).join('')
  return [name, given === '' ? '{}' : given, mine.at(-1)?.type === 'call-end']
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
    for (let distance = -8; distance <= 8; distance++) near.add(at + 2 + distance)
  return near
}
