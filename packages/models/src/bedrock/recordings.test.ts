// Every Bedrock recording: whole, byte by byte, truncated at every byte, and with flipped bits.
import type { ModelAnswer } from '@baton/core/internal'
import { isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import type { RecordedExchange } from '@baton/testing/recordings'
import { countLine, openRecordings } from '@baton/testing/recordings'
import { afterAll, describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { createSseReader } from '../transport/sse.ts'
import { createBedrockDecoder, decodeBedrockMessage } from './decode-stream.ts'
import { errorFromHttp } from './errors.ts'
import { createEventStreamReader } from './event-stream.ts'
import { encodeFrame } from './frames.ts'

const recordings = openRecordings('decoding of Bedrock’s recordings', (message) => console.warn(message))
const all = recordings?.exchangesOf('bedrock') ?? []
const exchanges = all.filter(({ status }) => status === 200).map((exchange) => framed(exchange))
const refusals = all.filter(({ status }) => status !== 200)
const names = createToolNames([])
const readName = ({ file, index }: RecordedExchange) => `${file.replace(/^bedrock\//, '')} #${index}`
const cases = exchanges.map((exchange) => [readName(exchange), exchange] as const)
const streams = cases.filter(([, exchange]) => exchange.isStream)
const counts = {
  files: new Set(all.map(({ file }) => file)).size,
  answers: 0,
  'byte cuts': 0,
}

afterAll(() => {
  if (recordings) console.info(countLine('recordings bedrock', counts))
})

/** Restores the binary frames of recordings that were stored as lines of JSON. */
function framed(exchange: RecordedExchange): RecordedExchange {
  if (!exchange.file.endsWith('.txt')) return exchange
  const frames: Uint8Array[] = []
  const reader = createSseReader(({ data }) => {
    const parsed = parseJson(data)
    const [entry] = parsed.ok && isJsonObject(parsed.value) ? Object.entries(parsed.value) : []
    if (!entry) throw new Error(`no event: ${data}`)
    const headers = { ':message-type': 'event', ':event-type': entry[0] }
    frames.push(encodeFrame({ headers, body: new TextEncoder().encode(JSON.stringify(entry[1])) }))
  })
  reader.push(exchange.body)
  return { ...exchange, body: Buffer.concat(frames) }
}

type Outcome = ModelAnswer | Error

function modelOf({ request }: RecordedExchange): string {
  return decodeURIComponent(/\/model\/([^/]+)\//.exec(request?.uri ?? '')?.[1] ?? 'amazon.nova-recorded')
}

function decode(
  exchange: RecordedExchange,
  pieceLength: number,
  afterPiece?: (outcome: Outcome, end: number) => void,
): Outcome {
  const options = { model: modelOf(exchange), names }
  if (!exchange.isStream) {
    const parsed = parseJson(new TextDecoder().decode(exchange.body))
    return decodeBedrockMessage(parsed.ok ? parsed.value : null, options)
  }
  const decoder = createBedrockDecoder(options)
  const reader = createEventStreamReader((event) => decoder.push(event))
  for (let start = 0; start < exchange.body.length; start += pieceLength) {
    const end = Math.min(start + pieceLength, exchange.body.length)
    reader.push(exchange.body.subarray(start, end))
    afterPiece?.(decoder.end(), end)
  }
  return decoder.end()
}

function ends({ body }: RecordedExchange): { readonly stop: number; readonly near: ReadonlySet<number> } {
  const near = new Set<number>()
  let stop = body.length
  for (let at = 0; at < body.length;) {
    const next = at + new DataView(body.buffer, body.byteOffset + at, 4).getUint32(0)
    if (Buffer.from(body.subarray(at, next)).includes('messageStop')) stop = next
    for (let distance = -8; distance <= 8; distance++) near.add(next + distance)
    at = next
  }
  return { stop, near }
}

describe.skipIf(!recordings)('Bedrock’s recordings', () => {
  test('there are some', () => {
    expect([streams.length > 10, exchanges.length > 16, refusals.length]).toEqual([true, true, 2])
  })

  test.each(cases)('%s: read whole and a byte at a time', (_name, exchange) => {
    const whole = decode(exchange, exchange.body.length)
    expect(isBatonError(whole) ? whole.message : '').toBe('')
    expect(decode(exchange, 1)).toEqual(whole)
    counts.answers++
  })

  test.each(streams)('%s: ended at every byte', (_name, exchange) => {
    const whole = decode(exchange, exchange.body.length)
    const { stop, near } = ends(exchange)
    const wrong: unknown[] = []
    decode(exchange, 1, (outcome, end) => {
      if (exchange.body.length > 20_000 && !near.has(end)) return
      counts['byte cuts']++
      const isRight = end < stop ? isBatonError(outcome) && outcome.code === 'model_cut_off' : sameParts(outcome, whole)
      if (!isRight) wrong.push([end, outcome])
    })
    expect(wrong).toEqual([])
  })

  test.each(streams)('%s: one wrong bit anywhere is found', (_name, exchange) => {
    const found: unknown[] = []
    for (let at = 0; at < exchange.body.length; at += 97) {
      const body = Buffer.from(exchange.body)
      body[at] = (body[at] ?? 0) ^ 4
      found.push(findOutcome({ ...exchange, body }))
    }
    expect(new Set(found)).toEqual(new Set(['model_malformed_answer']))
  })

  test('refusals are typed', () => {
    const errors = refusals.map(({ status, headers, body }) =>
      errorFromHttp({ head: { status, headers }, body: new TextDecoder().decode(body), nowMs: 0, secrets: [] }),
    )
    expect(errors.map(({ code }) => code).sort()).toEqual(['context_overflow', 'model_not_found'])
  })
})

function sameParts(outcome: Outcome, whole: Outcome): boolean {
  if (outcome instanceof Error || whole instanceof Error) return false
  const { usage: _ours, ...rest } = outcome
  const { usage: _theirs, ...expected } = whole
  return JSON.stringify(rest) === JSON.stringify(expected)
}

function findOutcome(exchange: RecordedExchange): unknown {
  try {
    const outcome = decode(exchange, exchange.body.length)
    return isBatonError(outcome) ? outcome.code : outcome
  } catch (thrown) {
    return isBatonError(thrown) ? thrown.code : thrown
  }
}
