// Every Gemini recording: whole, byte by byte, truncated at every byte, and valid as history of the next request.
// Google's SDK returns chunks and has no accumulator to compare with.
import type { AssistantPart, Message, ModelAnswer, ModelEvent } from '@baton/core/internal'
import { isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { validateGeminiRequest } from '@baton/testing/wires'
import type { RecordedExchange } from '@baton/testing/recordings'
import { countLine, openRecordings } from '@baton/testing/recordings'
import { afterAll, describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { createSseReader } from '../transport/sse.ts'
import { createGeminiDecoder } from './decode-stream.ts'
import { encodeGeminiRequest } from './encode-request.ts'
import { createJsonElementReader } from './json-elements.ts'

const recordings = openRecordings('decoding of Gemini’s recordings', (message) => console.warn(message))
/** A stream of the Interactions API, which has a different grammar. */
const isOther = ({ file }: RecordedExchange) => file.endsWith('vercel.tool-call-step1.chunks.txt')
const exchanges = (recordings?.exchangesOf('google') ?? []).filter((exchange) => !isOther(exchange))
const readName = ({ file, index }: RecordedExchange) =>
  `${file.replace(/^google\//, '').replace(/\.(http\.json|chunks\.txt)$/, '')} #${index}`
const cases = exchanges.map((exchange) => [readName(exchange), exchange] as const)
const counts = {
  files: new Set(exchanges.map(({ file }) => file)).size,
  answers: 0,
  calls: 0,
  signatures: 0,
  'errors as bodies': 0,
  'byte cuts': 0,
}

afterAll(() => {
  if (recordings) console.info(countLine('recordings gemini', counts))
})

const MODEL = 'gemini-3-pro-preview'
type Outcome = ModelAnswer | Error

interface Decoding {
  readonly pieceLength: number
  readonly afterPiece?: (outcome: Outcome, end: number) => void
  readonly sink?: (event: ModelEvent) => void
}

function decode({ body, isStream }: RecordedExchange, { pieceLength, afterPiece, sink }: Decoding): Outcome {
  const decoder = createGeminiDecoder({ model: MODEL, names: createToolNames([]), ...(sink && { sink }) })
  const reader = isStream
    ? createSseReader((event) => decoder.push(event))
    : createJsonElementReader((data) => decoder.push({ data }))
  for (let start = 0; start < body.length; start += pieceLength) {
    const end = Math.min(start + pieceLength, body.length)
    reader.push(body.subarray(start, end))
    afterPiece?.(decoder.end(), end)
  }
  return decoder.end()
}

const whole = (exchange: RecordedExchange, sink?: (event: ModelEvent) => void) =>
  decode(exchange, { pieceLength: exchange.body.length, ...(sink && { sink }) })

function asPlain(outcome: Outcome): unknown {
  return isBatonError(outcome) ? { code: outcome.code, data: outcome.data } : outcome
}

/** All parts as on the wire, read without the decoder. */
function wireParts({ body, isStream }: RecordedExchange) {
  const text = new TextDecoder().decode(body)
  const lines = text.split('\n').filter((line) => line.startsWith('data:'))
  const parsed = isStream ? lines.map((line) => parseJson(line.slice(5))) : [parseJson(text)]
  const chunks = parsed.flatMap((each) => (each.ok ? [each.value].flat() : []))
  return chunks.flatMap((chunk) => objectsAt(chunk, 'candidates').flatMap(({ content }) => objectsAt(content, 'parts')))
}

function objectsAt(value: unknown, key: string) {
  const list = isJsonObject(value) ? value[key] : undefined
  return Array.isArray(list) ? (list as readonly unknown[]).filter(isJsonObject) : []
}

describe.skipIf(!recordings)('recordings of Gemini', () => {
  test('there are some, in both framings', () => {
    expect(exchanges.length).toBeGreaterThan(20)
    expect(exchanges.some(({ body }) => body[0] === '['.charCodeAt(0))).toBe(true)
    expect(exchanges.some(({ body }) => new TextDecoder().decode(body).includes('\r\n\r\n'))).toBe(true)
  })

  test.each(cases)('%s: read whole and a byte at a time', (_name, exchange) => {
    const outcome = whole(exchange)
    expect(asPlain(decode(exchange, { pieceLength: 1 }))).toEqual(asPlain(outcome))
    const isError = exchange.file.includes('429')
    expect(isBatonError(outcome) ? [outcome.code, outcome.data] : 'answer').toEqual(
      isError ? ['model_rate_limited', { type: 'RESOURCE_EXHAUSTED', retryAfterMs: 34_400 }] : 'answer',
    )
    counts[isError ? 'errors as bodies' : 'answers']++
  })

  test.each(cases)('%s: nothing of the wire is lost', (_name, exchange) => {
    const answer = whole(exchange)
    if (answer instanceof Error) return
    const parts = wireParts(exchange)
    const readText = (isThought: boolean) =>
      parts
        .map((part) =>
          (part['thought'] === true) === isThought && typeof part['text'] === 'string' ? part['text'] : '',
        )
        .join('')
    const ours = (type: string) => answer.parts.map((part) => (part.type === type && 'text' in part ? part.text : ''))
    expect({ text: ours('text').join(''), thoughts: ours('reasoning').join('') }).toEqual({
      text: readText(false),
      thoughts: readText(true),
    })
    const signatures = parts.flatMap((part) => part['thoughtSignature'] ?? [])
    const states = answer.parts.flatMap((part) => ('state' in part ? (part.state ?? []) : []))
    const kept = states.map(({ data }) => (isJsonObject(data) ? data['thoughtSignature'] : []))
    expect(kept.flat().filter((each) => each !== undefined)).toEqual(signatures)
    const named = parts.flatMap(({ functionCall: call }) =>
      isJsonObject(call) && call['name'] !== undefined ? [call] : [],
    )
    const calls = answer.parts.flatMap((part) => (part.type === 'call' ? [part] : []))
    expect(calls.map((call) => call.name)).toEqual(named.map((call) => call['name']))
    // Arguments that arrived in pieces are compared by hand in decode-stream.test.ts.
    const isWhole = named.map(({ willContinue }) => willContinue !== true)
    const given = calls.map((call): unknown => JSON.parse(call.arguments)).filter((_args, index) => isWhole[index])
    expect(given).toEqual(named.flatMap(({ args = {} }, index) => (isWhole[index] === true ? [args] : [])))
    expect(answer.finish).toBe(
      exchange.file.includes('max_tokens') ? 'max-tokens' : calls.length > 0 ? 'tool-calls' : 'end',
    )
    counts.calls += calls.length
    counts.signatures += signatures.length
  })

  test.each(cases)('%s: the events tell what the answer says', (_name, exchange) => {
    const events: ModelEvent[] = []
    const answer = whole(exchange, (event) => events.push(event))
    if (answer instanceof Error) return
    const calls = answer.parts.flatMap((part) => (part.type === 'call' ? [part] : []))
    const told = calls.map((_call, index) => {
      const mine = events.filter((event) => 'index' in event && event.index === index)
      return mine.map((event) => (event.type === 'call-start' ? event.name : 'text' in event ? event.text : event.type))
    })
    expect(told).toEqual(calls.map((call) => [call.name, call.arguments, 'call-end']))
    const said = (type: string) => events.map((event) => (event.type === type && 'text' in event ? event.text : ''))
    const ours = (type: string) => answer.parts.map((part) => (part.type === type && 'text' in part ? part.text : ''))
    expect(said('text-delta').join('')).toBe(ours('text').join(''))
    expect(said('reasoning-delta').join('')).toBe(ours('reasoning').join(''))
  })

  test.each(cases)('%s: ended at every byte', (_name, exchange) => {
    const wrong: unknown[] = []
    const near = exchange.body.length > 20_000 ? nearBoundaries(exchange.body) : undefined
    let cuts = 0
    const all = asPlain(whole(exchange))
    decode(exchange, {
      pieceLength: 1,
      afterPiece: (outcome, end) => {
        if (near && !near.has(end)) return
        cuts++
        if (isBatonError(outcome)) return
        // Only the whole recording is complete, and only once its reason has arrived.
        const hasReason = /"finishReason"/.test(new TextDecoder().decode(exchange.body.subarray(0, end)))
        if (!hasReason || JSON.stringify(outcome) !== JSON.stringify(all)) wrong.push([end, outcome])
      },
    })
    counts['byte cuts'] += cuts
    expect(wrong).toEqual([])
  })

  test.each(cases)('%s: what was answered may stand in the next request', (_name, exchange) => {
    const answer = whole(exchange)
    if (answer instanceof Error) return
    const request = { instructions: '', tools: [], toolChoice: { type: 'auto' }, settings: {}, session: 's' } as const
    const body: unknown = JSON.parse(
      JSON.stringify(encodeGeminiRequest({ ...request, messages: historyWith(answer) }, { model: MODEL })),
    )
    expect(validateGeminiRequest(body, { model: MODEL })).toEqual([])
    // Each signature is sent back on the kind of part it arrived on.
    const sent = objectsAt(body, 'contents')
      .flatMap((content) => objectsAt(content, 'parts'))
      .filter(isSignedByModel)
    const findKind = (part: object) => [
      Object.keys(part).find((key) => key === 'functionCall') ?? 'text',
      'thought' in part,
    ]
    expect(sent.map((part) => [part['thoughtSignature'], ...findKind(part)])).toEqual(
      wireParts(exchange)
        .filter(isSignedByModel)
        .map((part) => [part['thoughtSignature'], ...findKind(part)]),
    )
  })
})

function isSignedByModel(part: object): boolean {
  return 'thoughtSignature' in part && part.thoughtSignature !== 'skip_thought_signature_validator'
}

function historyWith(answer: ModelAnswer): readonly Message[] {
  const parts = answer.parts.map((part, index): AssistantPart =>
    part.type === 'call' ? { ...part, callId: `call_0_${index}` } : part,
  )
  const results = parts.flatMap((part) =>
    part.type === 'call'
      ? [{ type: 'result' as const, callId: part.callId, name: part.name, isError: false, content: [] }]
      : [],
  )
  return [
    { role: 'user', parts: [{ type: 'text', text: 'go' }] },
    ...(parts.length > 0 ? [{ role: 'assistant' as const, parts }] : []),
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
