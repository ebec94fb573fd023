// Cleans text from a provider before it is kept: removes the request's keys and control characters, and bounds its
// length.
import type { JsonValue, ModelAnswer, ModelPart } from '@baton/core/internal'
import { BatonError, isBatonError, isJsonObject } from '@baton/core/internal'
import { redact } from './redact.ts'
import { isHttpUrl } from './transport-errors.ts'

const MESSAGE_CHARS = 2000
/** Maximum characters of model names, request ids and error types. */
const NAME_CHARS = 256
const URL_CHARS = 2048
const TITLE_CHARS = 512
const QUOTE_CHARS = 4096

/** Cleans the model, the request id and the sources of an answer. Decoding already bounds everything else. */
export function cleanAnswer(answer: ModelAnswer, secrets: readonly string[]): ModelAnswer {
  const { requestId } = answer
  return {
    ...answer,
    parts: cleanSources(mergeRepeated(answer.parts), secrets),
    model: cleanName(answer.model, secrets),
    ...(requestId !== undefined && { requestId: cleanName(requestId, secrets) }),
  }
}

/**
 * Merges calls with the same provider id, name and arguments, and records that in `repairs`. With different arguments
 * they are separate calls: servers reuse one id for several.
 */
function mergeRepeated(parts: readonly ModelPart[]): readonly ModelPart[] {
  const ids = parts.map(readCallId).filter((id) => id !== undefined)
  if (ids.length < 2 || new Set(ids).size === ids.length) return parts
  const first = new Map<string, number>()
  const kept: ModelPart[] = []
  for (const part of parts) {
    const id = readCallId(part)
    const key = part.type === 'call' && id !== undefined ? JSON.stringify([id, part.name, part.arguments]) : ''
    const known = key === '' ? undefined : first.get(key)
    const before = known === undefined ? undefined : kept[known]
    if (known !== undefined && before?.type === 'call')
      kept[known] = { ...before, repairs: [...new Set([...(before.repairs ?? []), 'repeated-call'])] }
    else {
      first.set(key, kept.length)
      kept.push(part)
    }
  }
  return kept
}

function readCallId(part: ModelPart): string | undefined {
  const data = part.type === 'call' ? part.state?.data : undefined
  const id = isJsonObject(data) ? data['id'] : undefined
  return typeof id === 'string' ? id : undefined
}

/** Cleans anything thrown while an answer was read. */
export function cleanError(thrown: unknown, label: string, secrets: readonly string[]): BatonError {
  if (!isBatonError(thrown)) {
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    const message = redact(`could not read ${label}’s answer: ${why}`, secrets).slice(0, MESSAGE_CHARS)
    return new BatonError({ code: 'model_malformed_answer', message })
  }
  const { code, message, retryable, hint, data, cause } = thrown
  return new BatonError({
    code,
    message: redact(message, secrets).slice(0, MESSAGE_CHARS),
    retryable,
    hint,
    ...(data !== undefined && { data: cleanData(data, secrets) }),
    ...(cause !== undefined && { cause }),
  })
}

function cleanData<Data extends JsonValue>(data: Data, secrets: readonly string[]): Data {
  if (!isJsonObject(data)) return data
  const entries = Object.entries(data).map(([key, value]) => [
    key,
    typeof value === 'string' ? cleanName(value, secrets) : value,
  ])
  return Object.fromEntries(entries) as Data // with the same keys and types
}

// Redact before truncating: half a key is still too much.
function cleanName(text: string, secrets: readonly string[]): string {
  return redact(text, secrets)
    .slice(0, NAME_CHARS)
    .replace(/[\p{Cc}\p{Cf}]/gu, '')
}

function cleanSources(parts: readonly ModelPart[], secrets: readonly string[]): readonly ModelPart[] {
  if (!parts.some(({ type }) => type === 'source')) return parts
  return parts.flatMap((part) => cleanSource(part, secrets))
}

/** A source may be shown as a link, so its address must be a web address or none. */
function cleanSource(part: ModelPart, secrets: readonly string[]): readonly ModelPart[] {
  if (part.type !== 'source') return [part]
  const { url, title, quote, ...rest } = part
  const shown = url === undefined ? undefined : redact(url, secrets)
  const isShown = shown !== undefined && shown.length <= URL_CHARS && isHttpUrl(shown)
  if (!isShown && title === undefined) return []
  return [
    {
      ...rest,
      ...(isShown && { url: shown }),
      ...(title !== undefined && { title: redact(title, secrets).slice(0, TITLE_CHARS) }),
      ...(quote !== undefined && { quote: redact(quote, secrets).slice(0, QUOTE_CHARS) }),
    },
  ]
}
