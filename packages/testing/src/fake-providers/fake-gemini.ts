// A fake Gemini streamGenerateContent server, as Gemini API or Vertex AI: whole calls without ids and with signatures
// on the API, arguments in pieces on Vertex. Anything without a recording is handmade and marked as such.
import type { JsonObject } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { findTooLarge } from './media-limits.ts'
import { validateGeminiRequest } from '../wires/index.ts'
import type { FakeAsked, FakeError, FakeRequest, FakeSaid, FakeScript, FakeServer, FakeStream } from './fake-server.ts'
import { findJsonIssue, joinIssues, listObjects, readText, splitPieces, startFakeServer } from './fake-server.ts'

export interface FakeGeminiSaid extends FakeSaid {
  readonly finishMessage?: string
  /** The prompt is rejected: `promptFeedback` and no candidates (recorded). */
  readonly blockReason?: string
}

/**
 * `sse`: events with CRLF, as with `alt=sse`. `array`: one JSON array, as without it or from proxies that drop it.
 * `pieces`: call arguments in pieces, as streamed by Vertex.
 */
export type FakeGeminiFraming = 'sse' | 'array' | 'pieces'

export interface FakeGeminiOptions {
  /** `sse` by default. */
  readonly framing?: FakeGeminiFraming
  readonly script: FakeScript<FakeGeminiSaid>
}

/** Use its address as GOOGLE_GEMINI_BASE_URL. */
export function startFakeGemini({ framing = 'sse', script }: FakeGeminiOptions): Promise<FakeServer> {
  return startFakeServer<FakeGeminiSaid>(
    {
      findRefusal,
      readModel,
      listTools: (body) =>
        listObjects(body['tools'])
          // Google accepts both spellings of every field; proxies mix them.
          .flatMap((tool) => listObjects(tool['functionDeclarations'] ?? tool['function_declarations']))
          .map(({ name }) => readText(name)),
      listResults,
      encodeError: (error) => ({ body: describeError(error) }),
      encodeStream: (said, { model, index }) => encodeChunks(listChunks(said, { model, index, framing }), framing),
      encodeWhole,
    },
    script,
  )
}

const API = /^\/v1beta\/models\/([^/:?]+):streamGenerateContent\?alt=sse$/
const VERTEX =
  /^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/google\/models\/([^/:?]+):streamGenerateContent\?alt=sse$/

function readModel({ url }: Pick<FakeAsked, 'url'>): string {
  return (API.exec(url) ?? VERTEX.exec(url))?.[1] ?? ''
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

/** The delay is in a RetryInfo (recorded format, handmade delay). */
function describeError({ status, message, type = TYPES[status] ?? 'UNKNOWN', retryAfter }: FakeError): JsonObject {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfter}s` }]
  return { error: { code: status, message, status: type, ...(retryAfter !== undefined && { details }) } }
}

/** Verbatim messages of the Gemini API and Vertex AI. */
function findRefusal(asked: FakeAsked): FakeError | undefined {
  const { method, url, headers, body } = asked
  const model = readModel(asked)
  if (method !== 'POST' || model === '')
    return { status: 404, message: `Requested entity was not found: ${method} ${url}` }
  const unknown =
    'Method doesn’t allow unregistered callers. Please use API Key or other form of API consumer identity.'
  const key = headers['x-goog-api-key']
  if (API.test(url) && key === undefined) return { status: 403, message: unknown }
  if (VERTEX.test(url) && !/^Bearer \S+$/.test(headers.authorization ?? ''))
    return { status: 401, message: 'Request is missing required authentication credential.' }
  if (key === 'bad') return { status: 400, message: 'API key not valid. Please pass a valid API key.' }
  const tooLarge = findTooLarge('gemini', asked)
  if (tooLarge) return tooLarge
  const issue = findJsonIssue(asked) ?? joinIssues(validateGeminiRequest(body ?? {}, { model }))
  return issue === undefined ? undefined : { status: 400, message: issue }
}

function listResults(body: JsonObject): readonly string[] {
  return listObjects(listObjects(body['contents']).at(-1)?.['parts']).flatMap((part) => {
    const given = part['functionResponse'] ?? part['function_response']
    const result = isJsonObject(given) ? given['response'] : undefined
    if (!isJsonObject(result)) return []
    // `content` is LiteLLM's field.
    const { error, content, output = content } = result
    if (typeof error === 'string') return [`error: ${error}`]
    return typeof output === 'string' ? [output] : []
  })
}

/** An error between events is sent bare (js-genai checks every piece for it). */
function encodeChunks(chunks: readonly JsonObject[], framing: FakeGeminiFraming): FakeStream {
  const pretty = (chunk: JsonObject): string => JSON.stringify(chunk, null, 2)
  if (framing === 'array') {
    const pieces = chunks.map((chunk, number) => `${number === 0 ? '[' : '\n,\n'}${pretty(chunk)}`)
    return { type: 'application/json; charset=UTF-8', pieces, end: '\n]' }
  }
  const encode = (chunk: JsonObject) => ('error' in chunk ? pretty(chunk) : `data: ${JSON.stringify(chunk)}\r\n\r\n`)
  return { type: 'text/event-stream', pieces: chunks.map(encode) }
}

interface Streaming {
  readonly model: string
  readonly index: number
  readonly framing: FakeGeminiFraming
}

/** One response with all parts, as without a stream. */
function encodeWhole(said: FakeGeminiSaid, { model, index }: FakeRequest): JsonObject {
  const { reasoning, text } = said
  const parts = [
    ...(reasoning === undefined ? [] : [{ text: reasoning, thought: true }]),
    ...(text === undefined ? [] : [{ text }]),
    ...callParts(said, { model, index, framing: 'sse' }).flat(),
  ]
  const candidates = [{ content: { parts, role: 'model' }, index: 0, finishReason: said.stopReason ?? 'STOP' }]
  return { candidates, usageMetadata: USAGE, modelVersion: model, responseId: `fake-${index}` }
}

const USAGE = { promptTokenCount: 100, candidatesTokenCount: 20, thoughtsTokenCount: 5, totalTokenCount: 125 }

function listChunks(said: FakeGeminiSaid, init: Streaming): readonly JsonObject[] {
  const meta = { modelVersion: init.model, responseId: `fake-${init.index}` }
  const wrap = (parts: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
    usageMetadata: { promptTokenCount: 100, totalTokenCount: 100 },
    ...meta,
  })
  if (said.blockReason !== undefined)
    return [{ promptFeedback: { blockReason: said.blockReason }, usageMetadata: USAGE, ...meta }]
  const chunks = [
    ...splitPieces(said.reasoning ?? '').map((text) => wrap([{ text, thought: true }])),
    ...splitPieces(said.text ?? '').map((text) => wrap([{ text }])),
    ...callParts(said, init).map((parts) => wrap(parts)),
  ]
  if (said.fails) return [...chunks, describeError(said.fails)]
  const reason: JsonObject = {
    finishReason: said.stopReason ?? 'STOP',
    ...(said.finishMessage !== undefined && { finishMessage: said.finishMessage }),
  }
  return [...chunks, { ...wrap([{ text: '' }], reason), usageMetadata: USAGE }]
}

/** The first of parallel calls carries the signature. */
function callParts({ calls = [] }: FakeGeminiSaid, init: Streaming): readonly (readonly JsonObject[])[] {
  const signed = (number: number) => (number === 0 ? { thoughtSignature: buildSignature(init.index) } : {})
  if (init.framing !== 'pieces')
    return [calls.map(({ name, input: args }, number) => ({ functionCall: { name, args }, ...signed(number) }))].filter(
      (parts) => parts.length > 0,
    )
  return calls.flatMap(({ name, input: args }, number) => [
    [{ functionCall: { name, willContinue: true }, ...signed(number) }],
    ...Object.entries(args).flatMap(([key, value]) =>
      partialArgs(key, value).map((piece) => [{ functionCall: { partialArgs: [piece], willContinue: true } }]),
    ),
    [{ functionCall: {} }],
  ])
}

/** A string in two pieces and its end; other scalars whole. */
function partialArgs(key: string, value: unknown): readonly JsonObject[] {
  const jsonPath = `$.${key}`
  if (typeof value === 'number') return [{ jsonPath, numberValue: value }]
  if (typeof value === 'boolean') return [{ jsonPath, boolValue: value }]
  if (typeof value !== 'string') throw new Error(`this server streams strings, numbers and booleans, not ${key}`)
  return [
    { jsonPath, stringValue: value.slice(0, 3), willContinue: true },
    { jsonPath, stringValue: value.slice(3), willContinue: true },
    { jsonPath, stringValue: '' },
  ]
}

function buildSignature(index: number): string {
  return `signature-of-answer-${index}`
}
