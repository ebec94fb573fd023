// The chunks of a fake answer of Gemini, in the grammar that the recordings show: whole calls without ids and with signatures on
// the API, arguments in pieces on Vertex. What no recording has is hand-made and says so.
import type { JsonObject } from '@baton/core'

export interface FakeGeminiSaid {
  readonly thought?: string
  readonly text?: string
  readonly calls?: readonly FakeGeminiCall[]
  readonly finishReason?: string
  readonly finishMessage?: string
  /** The question is refused: `promptFeedback` and no candidates (recorded). */
  readonly blockReason?: string
  /** The connection breaks after so many chunks. */
  readonly cutAfterChunks?: number
  /** The stream ends properly after so many chunks, without a reason. */
  readonly endAfterChunks?: number
  /** The stream stands still after so many chunks, until the client goes away. */
  readonly stallAfterChunks?: number
  /** Hand-made: said inside of the stream, in place of its end. */
  readonly errorInStream?: { readonly code: number; readonly status: string; readonly message: string }
}

export interface FakeGeminiCall {
  /** As it stands on the wire: one of the request's tools. */
  readonly name: string
  readonly args: JsonObject
}

/**
 * `sse`: events with CRLF, as with `alt=sse`. `array`: one JSON array, as without it or from proxies that drop it. `pieces`: the
 * arguments of calls in pieces, as Vertex streams them.
 */
export type FakeGeminiFraming = 'sse' | 'array' | 'pieces'

export interface FakeGeminiStreamInit {
  readonly model: string
  readonly index: number
  readonly framing: FakeGeminiFraming
}

/** Characters of one chunk: small, so that every answer comes in several. */
const CHUNK_CHARS = 7
const USAGE = { promptTokenCount: 100, candidatesTokenCount: 20, thoughtsTokenCount: 5, totalTokenCount: 125 }

export function listChunks(said: FakeGeminiSaid, init: FakeGeminiStreamInit): readonly JsonObject[] {
  const meta = { modelVersion: init.model, responseId: `fake-${init.index}` }
  const wrap = (parts: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 100, totalTokenCount: 100 },
    ...meta,
  })
  if (said.blockReason !== undefined)
    return [{ promptFeedback: { blockReason: said.blockReason }, usageMetadata: USAGE, ...meta }]
  const chunks = [
    ...splitPieces(said.thought ?? '').map((text) => wrap([{ text, thought: true }])),
    ...splitPieces(said.text ?? '').map((text) => wrap([{ text }])),
    ...callParts(said, init).map((parts) => wrap(parts)),
  ]
  if (said.errorInStream) return [...chunks, { error: said.errorInStream }]
  const reason: JsonObject = {
    finishReason: said.finishReason ?? 'STOP',
    ...(said.finishMessage !== undefined && { finishMessage: said.finishMessage }),
  }
  return [...chunks, { ...wrap([{ text: '' }], reason), usageMetadata: USAGE }]
}

/** The first of parallel calls carries the signature. */
function callParts({ calls = [] }: FakeGeminiSaid, init: FakeGeminiStreamInit): readonly (readonly JsonObject[])[] {
  const signed = (number: number) => (number === 0 ? { thoughtSignature: buildSignature(init.index) } : {})
  if (init.framing !== 'pieces')
    return [calls.map(({ name, args }, number) => ({ functionCall: { name, args }, ...signed(number) }))].filter(
      (parts) => parts.length > 0,
    )
  return calls.flatMap(({ name, args }, number) => [
    [{ functionCall: { name, willContinue: true }, ...signed(number) }],
    ...Object.entries(args).flatMap(([key, value]) =>
      partialArgs(key, value).map((piece) => [{ functionCall: { partialArgs: [piece], willContinue: true } }]),
    ),
    [{ functionCall: {} }],
  ])
}

/** A text in two pieces and its end; other scalar values whole. */
function partialArgs(key: string, value: unknown): readonly JsonObject[] {
  const jsonPath = `$.${key}`
  if (typeof value === 'number') return [{ jsonPath, numberValue: value }]
  if (typeof value === 'boolean') return [{ jsonPath, boolValue: value }]
  if (typeof value !== 'string') throw new Error(`this server streams texts, numbers and booleans, not ${key}`)
  return [
    { jsonPath, stringValue: value.slice(0, 3), willContinue: true },
    { jsonPath, stringValue: value.slice(3), willContinue: true },
    { jsonPath, stringValue: '' },
  ]
}

export function buildSignature(index: number): string {
  return `signature-of-answer-${index}`
}

function splitPieces(text: string): readonly string[] {
  return text.match(new RegExp(`[^]{1,${CHUNK_CHARS}}`, 'gu')) ?? []
}
