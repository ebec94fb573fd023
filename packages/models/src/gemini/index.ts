// Gemini, by the Gemini API and by Vertex AI: `createGeminiModel` joins the two pure halves (encode-request, decode-stream) with
// a transport.
import type { AbortSignalLike, Clock, HttpHead, HttpRequest, Model, ModelAnswer, Transport } from '@baton/core'
import { BatonError, isBatonError, parseJson } from '@baton/core'
import { createRequestMemory } from '../request-memory.ts'
import { chooseToolNames } from '../tool-names.ts'
import { listSecrets } from '../transport/redact.ts'
import { createSseReader } from '../transport/sse.ts'
import { createStreamTail } from '../transport/stream-tail.ts'
import { describeCapabilities } from '../traits/find-traits.ts'
import type { TraitsOverride } from '../traits/model-traits.ts'
import type { GeminiAccess } from './address.ts'
import { authorization, streamUrl } from './address.ts'
import type { GeminiDecoderOptions } from './decode-stream.ts'
import { createGeminiDecoder } from './decode-stream.ts'
import { encodeGeminiRequest } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import { createJsonElementReader } from './json-elements.ts'
import type { WireContent } from './wire.ts'
import { PROVIDER } from './wire.ts'

export type { GeminiAccess, GeminiApiAccess, VertexAccess } from './address.ts'
export { createGeminiDecoder } from './decode-stream.ts'
export type { GeminiDecoder, GeminiDecoderOptions } from './decode-stream.ts'
export { encodeGeminiRequest } from './encode-request.ts'
export type { GeminiEncodeOptions } from './encode-request.ts'
export type { GeminiRequest } from './wire.ts'

export interface GeminiModelOptions {
  /** `gemini-2.5-flash`. */
  readonly model: string
  /** A key of the Gemini API, or a project of Vertex AI. */
  readonly access: GeminiAccess
  readonly transport: Transport
  readonly clock: Clock
  /** As in GOOGLE_GEMINI_BASE_URL; Google's own by default. */
  readonly baseUrl?: string
  /** Added to each request, over the adapter's own: what a gateway asks for. */
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds; 30 s by default, both; 3 minutes where thoughts are asked for. */
  readonly firstByteTimeoutMs?: number
  readonly betweenBytesTimeoutMs?: number
  /** What you know better of the model than the table of traits: `{ contextTokens: 32_768 }`. */
  readonly traits?: TraitsOverride
  /** Most characters of one answer, as they stand on the wire; 8 Mi by default. */
  readonly answerLengthMax?: number
}

const TIMEOUT_MS = 30_000
const THINKING_TIMEOUT_MS = 180_000
/** Characters of an error that are read, and bytes of a stream's end. */
const BODY_LENGTH_MAX = 64 * 1024

/** @throws BatonError `model_not_configured` without a model, a key, a project or a token */
export function createGeminiModel(options: GeminiModelOptions): Model {
  assertConfigured(options)
  const { model, answerLengthMax } = options
  const memory = createRequestMemory<WireContent>()
  const url = streamUrl(model, options.access, options.baseUrl)
  const findProof = createProofs(options, url)
  return {
    id: `${PROVIDER}/${model}`,
    provider: PROVIDER,
    capabilities: {
      tools: 'native',
      ...describeCapabilities({ model, family: 'gemini', override: options.traits }),
    },
    async run(request, sink, signal) {
      const names = chooseToolNames(request)
      const { effort = 'none', reasoningTokens = 0 } = request.settings
      const thinks = effort !== 'none' || reasoningTokens > 0
      const body = memory.write(encodeGeminiRequest(request, options, memory), 'contents')
      const { headers, secrets } = await findProof(signal)
      const http = { url, headers, body, ...findTimeouts(options, thinks) }
      const reading = readAnswer({
        model,
        names,
        sink,
        secrets,
        ...(answerLengthMax !== undefined && { answerLengthMax }),
      })
      const head = await options.transport.post(http, signal, reading.push)
      return reading.end(head, options.clock.nowMs())
    },
  }
}

function assertConfigured({ model, access }: GeminiModelOptions): void {
  const needed: readonly (readonly [string, unknown])[] =
    access.type === 'gemini-api'
      ? [['apiKey', access.apiKey]]
      : [
          ['project', access.project],
          ['accessToken', access.accessToken],
        ]
  for (const [field, value] of [['model', model] as const, ...needed]) {
    if (typeof value === 'string' && value.trim() === '')
      throw new BatonError({ code: 'model_not_configured', message: `createGeminiModel: ${field} is empty` })
  }
}

interface Proof {
  readonly headers: HttpRequest['headers']
  readonly secrets: readonly string[]
}

/** The same objects for as long as the key or the token is the same. */
function createProofs(options: GeminiModelOptions, url: string): (signal: AbortSignalLike) => Promise<Proof> {
  const plain = { 'content-type': 'application/json', accept: 'text/event-stream' }
  let known: (Proof & { readonly proof: HttpRequest['headers'] }) | undefined
  return async (signal) => {
    const proof = await authorization(options.access, signal)
    if (known && isSameProof(known.proof, proof)) return known
    const headers = { ...plain, ...proof, ...options.headers }
    known = { proof, headers, secrets: listSecrets({ url, headers }) }
    return known
  }
}

function isSameProof(one: HttpRequest['headers'], other: HttpRequest['headers']): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

function findTimeouts(options: GeminiModelOptions, thinks: boolean): Omit<HttpRequest, 'headers' | 'url' | 'body'> {
  const timeoutMs = thinks ? THINKING_TIMEOUT_MS : TIMEOUT_MS
  const { firstByteTimeoutMs = timeoutMs, betweenBytesTimeoutMs = timeoutMs } = options
  return { firstByteTimeoutMs, betweenBytesTimeoutMs }
}

interface Reading {
  readonly push: (bytes: Uint8Array, head: HttpHead) => void
  /** @throws BatonError */
  readonly end: (head: HttpHead, nowMs: number) => ModelAnswer
}

/** Events, or the elements of an array (from a proxy that drops `alt=sse`), are decoded as they come; an error is collected. */
function readAnswer(options: GeminiDecoderOptions & { readonly secrets: readonly string[] }): Reading {
  const decoder = createGeminiDecoder(options)
  const text = new TextDecoder()
  const tail = createStreamTail(BODY_LENGTH_MAX)
  let reader: { push(bytes: Uint8Array): void } | undefined
  /** Of an error, its beginning. */
  let body = ''
  return {
    push(bytes, head) {
      if (!isSuccess(head)) {
        if (body.length < BODY_LENGTH_MAX) body += text.decode(bytes, { stream: true })
        return
      }
      tail.push(bytes)
      const isArray = (head.headers['content-type'] ?? '').includes('application/json')
      reader ??= isArray
        ? createJsonElementReader((data) => decoder.push({ data }))
        : createSseReader((event) => decoder.push(event))
      reader.push(bytes)
      // Nothing more can come of it, and the provider would go on writing.
      if (decoder.failure) throw decoder.failure
    },
    end(head, nowMs) {
      const { secrets } = options
      if (!isSuccess(head)) throw errorFromHttp({ head, body, nowMs, secrets })
      let answer = decoder.end()
      const late = isBatonError(answer) ? bareErrorIn(tail.text()) : undefined
      if (late !== undefined) {
        decoder.push({ data: late })
        answer = decoder.end()
      }
      if (isBatonError(answer)) throw answer
      return answer
    },
  }
}

/** An error that breaks into a stream of events comes without `data:` (js-genai looks for it in every piece). */
function bareErrorIn(tail: string): string | undefined {
  const last =
    tail
      .trim()
      .split(/\r?\n\r?\n/)
      .at(-1) ?? ''
  const parsed = /^[[{]/.test(last) && last.includes('"error"') ? parseJson(last) : undefined
  return parsed?.ok === true ? last : undefined
}

function isSuccess(head: HttpHead): boolean {
  return head.status >= 200 && head.status < 300
}
