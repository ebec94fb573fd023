// Maps errors of Chat Completions servers to codes. The same objects arrive as HTTP bodies and, after HTTP 200, in a
// stream. Servers differ in where the object is and whether its `code` is a word or a status.
import type { ErrorCode, JsonObject, JsonValue } from '@baton/core/internal'
import { BatonError, isJsonObject, parseJson } from '@baton/core/internal'
import type { HttpFailure } from '../transport/http-errors.ts'
import { codeOfStatus, errorFromResponse, readQuotedRetryInfo } from '../transport/http-errors.ts'
import { findWords, saysFailure } from '../transport/error-words.ts'
import { redact } from '../transport/redact.ts'
import { codeOfRefusal } from '../transport/refusals.ts'
import { readText } from '../json-fields.ts'

/** Words seen in `type` or `code`. For most errors, the status is enough. */
const CODE_OF_WORD: Readonly<Record<string, ErrorCode>> = {
  // 429, but retrying does not help: the account has no credit (OpenAI).
  insufficient_quota: 'model_auth_failed',
  invalid_api_key: 'model_auth_failed',
  authentication_error: 'model_auth_failed',
  // LiteLLM's proxy, 400 "No connected db.": sent for any key but its master key if it has no key database.
  no_db_connection: 'model_auth_failed',
  model_not_found: 'model_not_found',
  rate_limit_exceeded: 'model_rate_limited',
  rate_limit_error: 'model_rate_limited',
  overloaded_error: 'model_overloaded',
  server_is_overloaded: 'model_overloaded',
  // DeepSeek, as a finish_reason.
  insufficient_system_resource: 'model_overloaded',
  timeout: 'model_timeout',
  // Groq validates calls itself and rejects its own model's calls (recorded); retrying may help.
  tool_use_failed: 'model_malformed_answer',
}

/** More specific than `invalid_request_error`, which most of them have in `type`. */
const MORE_THAN_TYPE: ReadonlySet<string> = new Set(['tool_use_failed', 'model_not_found', 'insufficient_quota'])

/** Codes that a provider's word decides, whatever its message says. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'model_rate_limited',
  'model_overloaded',
  'model_auth_failed',
  'model_timeout',
])

function codeOfWord(word: string): ErrorCode | undefined {
  return Object.hasOwn(CODE_OF_WORD, word) ? CODE_OF_WORD[word] : undefined
}

export function errorFromHttp(failure: Omit<HttpFailure, 'codeOfType'>): BatonError {
  const parsed = parseJson(failure.body)
  const error = parsed.ok ? errorIn(parsed.value) : undefined
  const code = error ? readText(error, 'code') || undefined : undefined
  const special = code !== undefined && MORE_THAN_TYPE.has(code) ? codeOfWord(code) : undefined
  const failed = errorFromResponse({
    ...failure,
    body: error ? JSON.stringify({ error: { ...error, message: readWords(error) } }) : failure.body,
    codeOfType: (type) => special ?? codeOfWord(type),
  })
  if (!saysNoTools(failed.message)) return failed
  // llama.cpp sends it with a 500, but retrying would not help.
  return new BatonError({ code: 'model_without_tools', message: failed.message, data: failed.data })
}

/** Messages with which servers reject requests with tools, verbatim as seen. */
const NO_TOOLS = [
  // Ollama: "registry.ollama.ai/library/gemma3:4b does not support tools"; others say "tool use" or "tool calling"
  /(?:does not|doesn['’]t) support (?:tools\b|tool (?:use|calls?|calling)\b|function calling\b)/i,
  /requires (?:--enable-auto-tool-choice|--tool-call-parser)/, // vLLM: "\"auto\" tool choice requires --enable-auto-tool-choice and …"
  /tools param requires --jinja/, // llama.cpp: "tools param requires --jinja flag"
  /Unsupported param: tools/, // llama.cpp before 2025
  /No endpoints found that support tool use/, // OpenRouter
]

function saysNoTools(message: string): boolean {
  return NO_TOOLS.some((pattern) => pattern.test(message))
}

export interface StreamFailure {
  readonly label: string
  readonly requestId: string | undefined
  readonly secrets: readonly string[]
}

/** Maps an error inside an answer with status 200. `code` may be a word or a status (OpenRouter 502, vLLM 400). */
export function errorFromStream(error: JsonObject, { label, requestId, secrets }: StreamFailure): BatonError {
  const message = readWords(error)
  const words = [readText(error, 'code'), readText(error, 'type')].filter((word) => word !== '')
  const status = [error['status_code'], error['code'], error['status']].map(Number).find((each) => each >= 400)
  const byMessage = saysNoTools(message) ? 'model_without_tools' : undefined
  const byWord = byMessage ?? words.map(codeOfWord).find((code) => code !== undefined)
  // As over HTTP: "Too many tokens, please wait" with 429 is a rate limit, not a full window.
  const isRefusal = status === undefined || status === 400 || status === 413 || status === 422
  const refused =
    isRefusal && (byWord === undefined || !PASSING.has(byWord))
      ? codeOfRefusal({ message, code: readText(error, 'code'), type: readText(error, 'type') })
      : undefined
  const retryAfterMs = readQuotedRetryInfo(message)
  const type = words[0] ?? (status === undefined ? 'error' : String(status))
  const code = byWord ?? (status === undefined ? 'model_provider_failed' : codeOfStatus(status))
  return new BatonError({
    code: refused ?? code,
    message: redact(`${label} ended the stream with ${type}: ${message}`, secrets).slice(0, MESSAGE_LENGTH_MAX),
    data: {
      type: redact(type, secrets),
      ...(requestId !== undefined && { requestId: redact(requestId, secrets) }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    },
  })
}

const MESSAGE_LENGTH_MAX = 700

/**
 * Finds the error in a body or chunk: `{error:{…}}`, `{error:"text"}` (Ollama), `{object:"error",message}` (vLLM,
 * Mistral), `{detail:…}` (FastAPI), any of these in an array (Gemini), next to a choice (OpenRouter), or in a gateway's
 * own fields.
 */
export function errorIn(value: JsonValue): JsonObject | undefined {
  const root: JsonValue | undefined = Array.isArray(value) ? value[0] : value
  if (!isJsonObject(root)) return undefined
  const { error, base_resp: status } = root
  const isAnswer = hasAnswer(root)
  if (isJsonObject(error) && isAnswer && saysNothing(error)) return undefined
  if (isJsonObject(error)) return isJsonObject(error['error']) ? errorIn(error) : error
  if ((typeof error === 'string' && error !== '') || (Array.isArray(error) && error.length > 0))
    return { message: findWords(root) }
  if (root['object'] === 'error' || root['object'] === 'Error') return root
  if (isJsonObject(status) && Number(status['status_code'] ?? 0) !== 0) return errorOfMiniMax(status)
  if (isAnswer) return undefined
  if (typeof root['message'] === 'string') return root
  if (Array.isArray(root['choices'])) return undefined
  if (root['detail'] !== undefined) return { message: root['detail'] }
  if (saysFailure(root)) return { ...root, message: findWords(root) || JSON.stringify(root) }
  return undefined
}

/** Whether the root of a body or chunk has a choice. */
function hasAnswer({ choices }: JsonObject): boolean {
  return Array.isArray(choices) ? choices.length > 0 : choices !== undefined && choices !== null
}

/** Whether all fields are empty: programs in Go send such an error with each answer. */
export function saysNothing(error: JsonObject): boolean {
  return Object.values(error).every((value) => value === null || value === '' || value === 0 || value === false)
}

/** `{base_resp: {status_code, status_msg}}` with status 200 (platform.minimax.io, error codes). */
const STATUS_OF_MINIMAX: ReadonlyMap<number, number> = new Map([
  [1002, 429],
  [1004, 401],
  [1008, 402],
  [1039, 429],
  [2013, 400],
  [2049, 401],
])

function errorOfMiniMax({ status_code: code, status_msg: message }: JsonObject): JsonObject {
  return { message: message ?? 'no message', code: STATUS_OF_MINIMAX.get(Number(code)) ?? 500 }
}

/** A message is a string or a list of problems (Mistral 422: `{detail:[{loc,msg}]}`). */
function readWords(error: JsonObject): string {
  const { message } = error
  if (typeof message === 'string') return withRaw(message, error)
  const detail: JsonValue | undefined = isJsonObject(message) ? message['detail'] : message
  const list = Array.isArray(detail) ? (detail as readonly JsonValue[]) : []
  const said = list.filter(isJsonObject).map((each) => `${placeIn(each['loc'])}${readText(each, 'msg')}`)
  if (said.length > 0) return said.join('; ')
  const words = findWords(error)
  if (words !== '') return words
  return message === undefined || message === null ? 'no message' : JSON.stringify(message)
}

/** OpenRouter says "Provider returned error" and puts the provider's message in `metadata.raw`. */
function withRaw(message: string, error: JsonObject): string {
  const raw = isJsonObject(error['metadata']) ? error['metadata']['raw'] : undefined
  return typeof raw === 'string' && raw !== '' ? `${message}: ${raw}` : message
}

function placeIn(loc: JsonValue | undefined): string {
  return Array.isArray(loc) ? `${(loc as readonly JsonValue[]).map(String).join('.')}: ` : ''
}
