// Gemini, through the Gemini API or Vertex AI: `createGeminiModel` connects the pure encoder (encode-request) and
// decoder (decode-stream) to a transport.
import type { BatonError, HttpHead, HttpRequest, Model, ModelAnswer, ModelRequest } from '@baton/core/internal'
import { isBatonError, parseJson } from '@baton/core/internal'
import type { Prove, HttpModelOptions, OptionNames } from '../http-model.ts'
import { assertConfigured, refuseOtherNames, createHttpModel, HTTP_OPTIONS } from '../http-model.ts'
import type { RequestMemory } from '../request-memory.ts'
import { describeCapabilities } from '../traits/find-traits.ts'
import type { TraitsOverride } from '../traits/model-traits.ts'
import type { Answering, BodyReader, StreamDecoder } from '../transport/answer-reader.ts'
import { findShape, isJson, joinReader, readSseInto } from '../transport/answer-reader.ts'
import { createStreamTail } from '../transport/stream-tail.ts'
import type { AnswerProgress } from '../transport/whole-answer.ts'
import type { GeminiAccess } from './address.ts'
import { authorization, streamUrl } from './address.ts'
import type { GeminiDecoder } from './decode-stream.ts'
import { createGeminiDecoder } from './decode-stream.ts'
import { encodeGeminiRequest } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import { createJsonElementReader } from './json-elements.ts'
import type { WireContent } from './wire.ts'
import { PROVIDER } from './wire.ts'

/** Options of `createGeminiModel`: `{ model: 'gemini-2.5-flash', access: { apiKey } }`. */
export interface GeminiModelOptions extends HttpModelOptions {
  /** A Gemini API key, or a Vertex AI project. */
  readonly access: GeminiAccess
  /** Same format as GOOGLE_GEMINI_BASE_URL; Google's own address by default. */
  readonly baseUrl?: string
  /** Overrides for the model's row in the traits table: `{ contextTokens: 32_768 }`. */
  readonly traits?: TraitsOverride
}

const TIMEOUT_MS = 30_000
const THINKING_TIMEOUT_MS = 180_000
/**
 * "Request payload size exceeds the limit: 20971520 bytes."; since January 2026 some models and accounts allow more.
 */
const REQUEST_BYTES_MAX = 20_971_520
/** Bytes kept of the end of a stream. */
const TAIL_LENGTH = 64 * 1024

/**
 * Deadlines are 3 minutes if thinking was requested.
 * @throws BatonError `model_not_configured` without a model, a key, a project or a token
 */
export function createGeminiModel(options: GeminiModelOptions): Model {
  refuseOtherNames('createGeminiModel', options, OPTIONS)
  const { model, access } = options
  assertConfigured('createGeminiModel', { model, access })
  const { type } = access
  assertConfigured(
    'createGeminiModel',
    type === 'vertex' ? { ...access, location: access.location ?? 'global' } : { apiKey: access.apiKey },
  )
  return createHttpModel(options, {
    id: `${PROVIDER}/${model}`,
    provider: PROVIDER,
    label: 'Gemini',
    capabilities: {
      tools: 'native',
      ...describeCapabilities({ model, family: 'gemini', override: options.traits }),
    },
    url: streamUrl(model, access, options.baseUrl),
    headers: { ...options.headers },
    prove: proveWith(access),
    requestIdHeaders: [],
    requestBytesMax: REQUEST_BYTES_MAX,
    history: 'contents',
    encode: (request, memory: RequestMemory<WireContent>) => encodeGeminiRequest(request, options, memory),
    findTimeoutMs: (_body, request) => (asksForThoughts(request) ? THINKING_TIMEOUT_MS : TIMEOUT_MS),
    createReader: (answering, _body, head) => readStream(answering, head),
    readError: errorFromHttp,
  })
}

/** Returns the same object while the key or token is unchanged. */
function proveWith(access: GeminiAccess): Prove {
  let known: { readonly proof: HttpRequest['headers']; readonly headers: HttpRequest['headers'] } | undefined
  return async ({ headers }, signal) => {
    const proof = await authorization(access, signal)
    if (!known || Object.entries(proof).some(([name, value]) => known?.proof[name] !== value))
      known = { proof, headers: { ...proof, ...headers } }
    return known.headers
  }
}

function asksForThoughts({ settings: { effort = 'none', reasoningTokens = 0 } }: ModelRequest): boolean {
  return effort !== 'none' || reasoningTokens > 0
}

/** Reads events, or the elements of an array (from a proxy that drops `alt=sse`), and an error that may follow them. */
function readStream(answering: Answering, head: HttpHead): BodyReader {
  const decoder = createGeminiDecoder(answering)
  const tail = createStreamTail(TAIL_LENGTH)
  let reader: BodyReader | undefined
  const open = (isElements: boolean): BodyReader =>
    isElements
      ? joinReader(
          createJsonElementReader((data) => decoder.push({ data })),
          decoder,
        )
      : readSseInto(decoder)
  return joinReader(
    {
      push: (bytes) => {
        tail.push(bytes)
        const shape = findShape(bytes)
        if (!reader && shape === 'blank') return
        reader ??= open(shape === undefined ? isJson(head) : shape === 'json')
        reader.push(bytes)
      },
      end: () => void reader?.end(),
    },
    new TailedDecoder(decoder, () => tail.text()),
  )
}

/** Also reports an error found after the last event of the stream. */
class TailedDecoder implements StreamDecoder {
  readonly #decoder: GeminiDecoder
  readonly #readTail: () => string

  constructor(decoder: GeminiDecoder, readTail: () => string) {
    this.#decoder = decoder
    this.#readTail = readTail
  }

  get failure(): BatonError | undefined {
    return this.#decoder.failure
  }

  get progress(): AnswerProgress {
    return this.#decoder.progress
  }

  get heard(): number {
    return this.#decoder.heard
  }

  end(): ModelAnswer | BatonError {
    const late = isBatonError(this.#decoder.end()) ? bareErrorIn(this.#readTail()) : undefined
    if (late !== undefined) this.#decoder.push({ data: late })
    return this.#decoder.end()
  }
}

/** An error in the middle of an event stream arrives without `data:` (js-genai checks every piece for it). */
function bareErrorIn(tail: string): string | undefined {
  const last =
    tail
      .trim()
      .split(/\r?\n\r?\n/)
      .at(-1) ?? ''
  const parsed = /^[[{]/.test(last) && last.includes('"error"') ? parseJson(last) : undefined
  return parsed?.ok === true ? last : undefined
}

const OPTIONS: OptionNames<GeminiModelOptions> = {
  ...HTTP_OPTIONS,
  access: true,
  baseUrl: true,
  traits: true,
}
