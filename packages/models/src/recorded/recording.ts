// The recording file: lines of JSON, first the model, then each of its calls with its request, streamed events and
// outcome. Requests are compared without the parts that vary between runs.
import { hash } from 'node:crypto'
import type {
  JsonObject,
  JsonValue,
  ModelAnswer,
  ModelCapabilities,
  ModelEvent,
  ModelRequest,
} from '@baton/core/internal'
import { BatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { readFileSync } from 'node:fs'

export const RECORDING_VERSION = 1

export interface RecordedModel {
  readonly type: 'baton-model-recording'
  readonly version: number
  readonly id: string
  readonly provider: string
  readonly capabilities: ModelCapabilities
}

export interface RecordedCall {
  readonly type: 'call'
  /** Hash of the request. */
  readonly hash: string
  readonly request: JsonObject
  readonly events: readonly ModelEvent[]
  readonly answer?: ModelAnswer
  readonly error?: {
    readonly code: string
    readonly message: string
    readonly retryable: boolean
    readonly data: JsonObject
  }
}

/**
 * The part of a request that is compared: without the session, and with calls numbered by order because their ids vary.
 */
export function describeRequest(request: ModelRequest, hide: (text: string) => string): JsonObject {
  const { session: _, ...asked } = request
  let text = JSON.stringify(asked)
  const ids = new Set(request.messages.flatMap((message) => message.parts.flatMap((part) => listCallIds(part))))
  for (const [index, id] of [...ids].entries()) text = text.replaceAll(id, `call#${index + 1}`)
  return JSON.parse(hide(text)) as JsonObject // an object without its session
}

function listCallIds(part: object): readonly string[] {
  return 'callId' in part && typeof part.callId === 'string' ? [part.callId] : []
}

export function hashRequest(request: JsonObject): string {
  return hash('sha256', JSON.stringify(sortFields(request)), 'hex').slice(0, 32)
}

function sortFields(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortFields)
  if (!isJsonObject(value)) return value
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, sortFields(field)]))
}

/** Typical provider keys, tokens after `Bearer`, and secrets in addresses: passwords and parameters named like keys. */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:sk|pk|rk|xai|gsk|pplx|hf|key)[-_][\w-]{16,}/g, '[redacted]'],
  [/\bAIza[\w-]{30,}/g, '[redacted]'],
  [/\b(?:AKIA|ASIA)[A-Z\d]{16}\b/g, '[redacted]'],
  [/\bgh[pousr]_\w{20,}/g, '[redacted]'],
  [/\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi, '$1 [redacted]'],
  [/(:\/\/)[^\s/@"\\]+@/g, '$1[redacted]@'],
  [/([?&](?:api[-_]?key|key|token|access[-_]token|sig|signature|secret|password)=)[^&\s"\\]+/gi, '$1[redacted]'],
  [
    /("(?:authorization|x-api-key|x-goog-api-key|api[-_]?key|cookie|password)"\s*:\s*")(?:[^"\\]|\\.)+/gi,
    '$1[redacted]',
  ],
]

/**
 * Removes secrets from JSON text. Given secrets are replaced everywhere; those shorter than 4 characters are ordinary
 * words.
 */
export function createHider(secrets: readonly string[] = []): (text: string) => string {
  const given = secrets.filter((secret) => secret.length >= 4).map((secret) => JSON.stringify(secret).slice(1, -1))
  return (text) => {
    const hidden = given.reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), text)
    return SECRETS.reduce((shown, [pattern, by]) => shown.replace(pattern, by), hidden)
  }
}

/** A secret may be spread over several pieces, which are then merged without it. */
export function hideInPieces(events: readonly ModelEvent[], hide: (text: string) => string): readonly ModelEvent[] {
  const shown: ModelEvent[] = []
  let from = 0
  while (from < events.length) {
    let to = from + 1
    while (to < events.length && isContinued(events[from], events[to])) to += 1
    const pieces = events.slice(from, to)
    const text = pieces.map((piece) => ('text' in piece ? piece.text : '')).join('')
    const [first] = pieces
    if (first && 'text' in first && hide(text) !== text) shown.push({ ...first, text: hide(text) })
    else shown.push(...pieces)
    from = to
  }
  return shown
}

function isContinued(one: ModelEvent | undefined, other: ModelEvent | undefined): boolean {
  if (!one || !other || !('text' in one) || one.type !== other.type) return false
  return one.type !== 'call-delta' || (other.type === 'call-delta' && one.index === other.index)
}

export interface Recording {
  readonly model: RecordedModel
  readonly calls: readonly RecordedCall[]
}

/** @throws BatonError `invalid_option`, with the line number, if the file cannot be read or is not a recording */
export function readRecording(file: string): Recording {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw refuse(`the recording ${file} cannot be read: ${why}`)
  }
  const lines = text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [{ line, number: index + 1 }]))
  const [head, ...calls] = lines.map(({ line, number }) => parseLine(line, `line ${number} of ${file}`))
  if (head?.type !== 'baton-model-recording') throw refuse(`${file} is not a recording of a model`)
  if (head.version !== RECORDING_VERSION)
    throw refuse(`${file} is a recording of version ${head.version}; this Baton reads version ${RECORDING_VERSION}`)
  return { model: head, calls: calls.filter((call) => call.type === 'call') }
}

function parseLine(line: string, place: string): RecordedModel | RecordedCall {
  const parsed = parseJson(line)
  if (!parsed.ok) throw refuse(`${place} is not JSON`)
  const value = isJsonObject(parsed.value) ? parsed.value : {}
  const { type, id, provider, capabilities, hash: requestHash, request, events, answer, error } = value
  const isHead = typeof id === 'string' && typeof provider === 'string' && isJsonObject(capabilities)
  if (type === 'baton-model-recording' && isHead) return value as unknown as RecordedModel // checked above
  const isAsked = typeof requestHash === 'string' && isJsonObject(request) && Array.isArray(events)
  if (type === 'call' && isAsked && (isJsonObject(answer) || isJsonObject(error)))
    return value as unknown as RecordedCall // checked above; hosts decode the contents
  throw refuse(`${place} is neither a model nor a call to one`)
}

function refuse(message: string): BatonError {
  return new BatonError({
    code: 'invalid_option',
    message,
    hint: 'Record it with recordModel(model, file).',
  })
}
