// Lists the models of a server: GET …/models, in the various formats servers use. Knows nothing of presets or
// variables.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { BatonError, isBatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { mergeHeaders, moveUserInfo } from '../transport/sent-headers.ts'
import { describePlace, describeReason, redact, safeCause, listSecrets } from '../transport/redact.ts'
import { apiUrl, authorization } from './address.ts'
import { errorFromHttp } from './errors.ts'

/** A model in the list of a server. */
export interface ListedModel {
  readonly id: string
  /** Context window in tokens, input and output together; omitted if the server does not report it. */
  readonly contextTokens?: number
}

/** The subset of the web's `fetch` that is used. */
export type FetchLike = (
  url: string,
  init: {
    readonly headers: Record<string, string>
    readonly redirect: 'manual'
    readonly signal: AbortSignal
  },
) => Promise<{
  readonly status: number
  readonly headers: { forEach(callback: (value: string, name: string) => void): void }
  readonly body: { getReader(): ReaderLike } | null
}>

interface ReaderLike {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

export interface ListModelsOptions {
  /** Includes the version: `https://api.groq.com/openai/v1`. */
  readonly baseUrl: string
  readonly apiKey?: string
  /** Name shown in errors, for example `Groq`. */
  readonly label: string
  readonly headers?: Readonly<Record<string, string>>
  /** Timeout in milliseconds for the whole response; 10 s by default. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** The global `fetch` by default. */
  readonly fetch?: FetchLike
}

const TIMEOUT_MS = 10_000
/** OpenRouter's list is 1 MiB. */
const BODY_BYTES_MAX = 16 * 1024 * 1024
const MODELS_MAX = 10_000

/**
 * Returns up to 10,000 distinct models, sorted by id.
 * @throws BatonError `model_network_failed` (unreachable), `model_timeout`, `model_auth_failed` and other rejection
 * codes, `model_malformed_answer`, `cancelled`
 */
export async function listModels(init: ListModelsOptions): Promise<readonly ListedModel[]> {
  const given = apiUrl(init.baseUrl, 'models')
  const merged = mergeHeaders({ accept: 'application/json', ...authorization(init.apiKey) }, init.headers ?? {})
  const { url, headers } = moveUserInfo({ url: given, headers: merged })
  const secrets = [...listSecrets({ url: given, headers: {} }), ...listSecrets({ url, headers })]
  const asking = { init, url, headers: { ...headers }, secrets }
  const { status, head, body } = await get(asking)
  if (status < 200 || status >= 300) {
    const failure = { provider: init.label, head: { status, headers: head }, body, nowMs: Date.now() }
    throw errorFromHttp({ ...failure, secrets: asking.secrets })
  }
  const parsed = parseJson(body)
  const listed = parsed.ok ? readList(parsed.value) : undefined
  if (!listed) {
    const message = `${init.label} (${describePlace(url)}) did not respond with a list of models`
    throw new BatonError({ code: 'model_malformed_answer', message, hint: ADDRESS_HINT, retryable: false })
  }
  return listed
}

const ADDRESS_HINT = 'Check that the base address belongs to an OpenAI-compatible API; most end in /v1.'

interface Asking {
  readonly init: ListModelsOptions
  readonly url: string
  readonly headers: Record<string, string>
  readonly secrets: readonly string[]
}

interface Fetched {
  readonly status: number
  readonly head: Readonly<Record<string, string>>
  readonly body: string
}

async function get({ init, url, headers, secrets }: Asking): Promise<Fetched> {
  const timeoutMs = init.timeoutMs ?? TIMEOUT_MS
  const deadline = AbortSignal.timeout(timeoutMs)
  const signal = init.signal ? AbortSignal.any([init.signal, deadline]) : deadline
  const fetch: FetchLike = init.fetch ?? ((to, how) => globalThis.fetch(to, how))
  const place = describePlace(url)
  try {
    const answer = await fetch(url, { headers, redirect: 'manual', signal })
    const head: Record<string, string> = {}
    answer.headers.forEach((value, name) => {
      head[name.toLowerCase()] = value
    })
    return { status: answer.status, head, body: await readBody(answer.body?.getReader(), init.label) }
  } catch (thrown) {
    if (isBatonError(thrown)) throw thrown
    if (init.signal?.aborted === true)
      throw new BatonError({
        code: 'cancelled',
        message: 'listing models was cancelled',
        cause: init.signal.reason,
      })
    if (deadline.aborted)
      throw new BatonError({ code: 'model_timeout', message: `${place} did not answer within ${timeoutMs} ms` })
    const message = redact(`${init.label} is not reachable at ${place}: ${describeReason(thrown)}`, secrets)
    throw new BatonError({
      code: 'model_network_failed',
      message,
      hint: 'Start the server, or correct its base address.',
      cause: safeCause(thrown, secrets),
    })
  }
}

async function readBody(reader: ReaderLike | undefined, label: string): Promise<string> {
  const text = new TextDecoder()
  let body = ''
  let bytes = 0
  while (reader) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value?.length ?? 0
    if (bytes > BODY_BYTES_MAX) {
      await reader.cancel()
      const message = `${label}’s list of models is larger than ${BODY_BYTES_MAX} bytes`
      throw new BatonError({ code: 'model_malformed_answer', message, retryable: false })
    }
    body += text.decode(value, { stream: true })
  }
  return body
}

/** `{data:[{id}]}` (OpenAI), `{models:[{name}]}` (Ollama's own, Gemini), or a bare list (Together). */
function readList(value: JsonValue): readonly ListedModel[] | undefined {
  const list = isJsonObject(value) ? (value['data'] ?? value['models']) : value
  if (!Array.isArray(list)) return undefined
  const models = new Map<string, ListedModel>()
  for (const each of list as readonly JsonValue[]) {
    const model = readModel(each)
    if (model && models.size < MODELS_MAX) models.set(model.id, model)
  }
  return [...models.values()].sort((left, right) => (left.id < right.id ? -1 : 1))
}

/** vLLM, OpenRouter, Mistral, Groq, Together and LM Studio each use their own field for the window. */
const CONTEXT_FIELDS = [
  'max_model_len',
  'context_length',
  'max_context_length',
  'context_window',
  'inputTokenLimit',
] as const

function readModel(value: JsonValue): ListedModel | undefined {
  if (typeof value === 'string') return value === '' ? undefined : { id: value }
  if (!isJsonObject(value)) return undefined
  const id = ['id', 'model', 'name'].map((field) => value[field]).find(isName)
  if (id === undefined) return undefined
  const contextTokens = CONTEXT_FIELDS.map((field) => value[field]).find(isCount)
  return { id, ...(contextTokens !== undefined && { contextTokens }) }
}

function isName(value: JsonObject[string] | undefined): value is string {
  return typeof value === 'string' && value !== ''
}

function isCount(value: JsonObject[string] | undefined): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}
