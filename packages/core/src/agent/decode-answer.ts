// Decodes a model's answer at the boundary. Adapters are foreign code: an answer may have any shape, and its objects
// may be proxies. It reads only own data fields, so that no getter runs, and returns a plain copy.
import type { JsonValue } from '../json.ts'
import type { ProviderState, SourcePart, Usage } from '../messages.ts'
import { FinishReason, USAGE_COUNTS } from '../messages.ts'
import { wellFormed } from '../machine/render.ts'
import type { Limits } from '../machine/spec.ts'
import { DEFAULT_LIMITS } from '../machine/spec.ts'
import type { ModelAnswer, ModelPart } from './model.ts'
import * as s from '../shape/shape.ts'
import type { Decoded, Read } from '../shape/value-reader.ts'
import { decodeWith, describeValue } from '../shape/value-reader.ts'

/**
 * Bounds of one answer, streamed or complete, in addition to the agent's `limits.answerChars`; beyond them it fails as
 * `model_answer_too_large`.
 */
export const ANSWER_LIMITS = {
  parts: 10_000,
  /** Pieces of a streamed answer. */
  pieces: 1_000_000,
} as const

/** Readers count the calls of an answer by index, so a huge one would cost them as much as that many calls. */
export function isCallIndex(index: unknown): index is number {
  return Number.isSafeInteger(index) && Number(index) >= 0 && Number(index) < ANSWER_LIMITS.parts
}

type AnswerBound = Pick<Limits, 'answerChars'>

/** Maximum UTF-16 units; longer ids are cut. */
const REQUEST_ID_CHARS = 200

/** Reports what is wrong, and where. */
type Refuse = (where: string, problem: string, code?: Code) => never
type Code = 'model_malformed_answer' | 'model_answer_too_large'

/**
 * Decodes the result of a model's `run`. Unknown fields and invalid usage counts are dropped; half of a surrogate pair
 * becomes U+FFFD. Any other deviation from the documented shape is refused as `model_malformed_answer` or
 * `model_answer_too_large`, naming the field. Never throws.
 */
export function decodeModelAnswer(
  answer: unknown,
  { answerChars }: AnswerBound = DEFAULT_LIMITS,
): Decoded<ModelAnswer> {
  let refused: { readonly code: Code; readonly message: string } = {
    code: 'model_malformed_answer',
    message: 'the answer cannot be read: it is or contains a proxy that throws',
  }
  const refuse: Refuse = (where, problem, code = 'model_malformed_answer') => {
    refused = { code, message: `the model returned an invalid answer: ${where} ${problem}` }
    throw new Error(problem)
  }
  try {
    if (typeof answer !== 'object' || answer === null)
      return refuse('it', `must be an object, not ${describeValue(answer)}`)
    const { parts, finish, model, usage: counts, requestId } = own(answer)
    if (!Array.isArray(parts)) return refuse('parts', `must be an array, not ${describeValue(parts)}`)
    const count = Number(itemOf(parts, 'length'))
    if (!(count <= ANSWER_LIMITS.parts))
      return refuse('parts', `has ${count} items; at most ${ANSWER_LIMITS.parts} are allowed`, 'model_answer_too_large')
    const copies: ModelPart[] = []
    let chars = 0
    for (let index = 0; index < count; index++) {
      const part = readPart(itemOf(parts, index), `parts[${index}]`, refuse)
      copies.push(part)
      if (part.type === 'text' || part.type === 'reasoning') chars += part.text.length
      else if (part.type === 'call') chars += part.name.length + part.arguments.length
      else if (part.type === 'source')
        for (const text of Object.values<string | undefined>(part)) chars += text?.length ?? 0
      if (chars > answerChars)
        return refuse('it', `has more than ${answerChars} characters (limits.answerChars)`, 'model_answer_too_large')
    }
    if (typeof finish !== 'string' || !FINISHES.has(finish))
      return refuse('finish', `must be ${s.listWords(FinishReason.words)}, not ${describeValue(finish)}`)
    if (typeof model !== 'string') return refuse('model', `must be text, not ${describeValue(model)}`)
    if (typeof counts !== 'object' || counts === null)
      return refuse('usage', `must be an object, not ${describeValue(counts)}`)
    const usage: { -readonly [Name in keyof Usage]: Usage[Name] } = {}
    const given = own(counts)
    for (const name of USAGE_COUNTS) {
      const value = given[name]
      // JSON writes NaN as null, and beyond the safe integers sums would be wrong.
      if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) usage[name] = value
    }
    const value: ModelAnswer = {
      parts: copies,
      finish: finish as FinishReason, // checked above
      usage,
      model: wellFormed(model.slice(0, MODEL_CHARS)),
      ...(typeof requestId === 'string' && { requestId: wellFormed(requestId.slice(0, REQUEST_ID_CHARS)) }),
    }
    return { ok: true, value }
  } catch {
    return { ok: false, refusal: refused }
  }
}

const FINISHES: ReadonlySet<string> = new Set(FinishReason.words)

/** Maximum UTF-16 units of the model name that a provider reports. */
const MODEL_CHARS = 256

function readPart(part: unknown, where: string, refuse: Refuse): ModelPart {
  if (typeof part !== 'object' || part === null) return refuse(where, `must be an object, not ${describeValue(part)}`)
  const { type, state: given, text, name, arguments: json, unreadable, repairs: done } = own(part)
  const state = given === undefined ? undefined : readState(given, `${where}.state`, refuse)
  switch (type) {
    case 'text':
    case 'reasoning':
      if (typeof text !== 'string') return refuse(`${where}.text`, `must be text, not ${describeValue(text)}`)
      return { type, text: wellFormed(text), ...(state && { state }) }
    case 'call': {
      if (typeof name !== 'string') return refuse(`${where}.name`, `must be text, not ${describeValue(name)}`)
      if (typeof json !== 'string') return refuse(`${where}.arguments`, `must be JSON text, not ${describeValue(json)}`)
      if (unreadable !== undefined && typeof unreadable !== 'string')
        return refuse(`${where}.unreadable`, `must be text, not ${describeValue(unreadable)}`)
      const repairs = done === undefined ? undefined : readRepairs(done, `${where}.repairs`, refuse)
      return {
        type,
        name: wellFormed(name),
        arguments: wellFormed(json),
        ...(state && { state }),
        ...(repairs && { repairs }),
        ...(unreadable !== undefined && { unreadable: wellFormed(unreadable.slice(0, UNREADABLE_CHARS)) }),
      }
    }
    case 'source':
      return readSource(part, where, refuse)
    case 'provider':
      return state ? { type, state } : refuse(`${where}.state`, 'is missing')
    default:
      return refuse(`${where}.type`, `must be the type of a part such as "text" or "call", not ${describeValue(type)}`)
  }
}

/** Maximum UTF-16 units of why a call cannot be read: the text goes into the log and every later request. */
const UNREADABLE_CHARS = 2000
const REPAIRS_MAX = 16

function readRepairs(given: unknown, where: string, refuse: Refuse): readonly string[] {
  if (!Array.isArray(given)) return refuse(where, `must be an array, not ${describeValue(given)}`)
  const words: string[] = []
  for (let index = 0; index < Math.min(REPAIRS_MAX, Number(itemOf(given, 'length'))); index++) {
    const word = itemOf(given, index)
    if (typeof word !== 'string') return refuse(`${where}[${index}]`, `must be text, not ${describeValue(word)}`)
    words.push(wellFormed(word.slice(0, 64)))
  }
  return words
}

/** Maximum UTF-16 units of a source's fields; a longer address is dropped, not cut. */
const SOURCE_CHARS = { id: 256, url: 2048, title: 512, mediaType: 256, quote: 4096 }

/** People may click it, so only `http` and `https` addresses are kept. */
function readSource(part: object, where: string, refuse: Refuse): SourcePart {
  const fields = own(part)
  const readText = (name: keyof typeof SOURCE_CHARS): string | undefined => {
    const text = fields[name]
    if (text === undefined) return undefined
    if (typeof text === 'string') return wellFormed(text.slice(0, SOURCE_CHARS[name] + (name === 'url' ? 1 : 0)))
    return refuse(`${where}.${name}`, `must be text, not ${describeValue(text)}`)
  }
  const [id, url, title] = [readText('id'), readText('url'), readText('title')]
  const [mediaType, quote] = [readText('mediaType'), readText('quote')]
  if (id === undefined) return refuse(`${where}.id`, 'is missing')
  return {
    type: 'source',
    id,
    ...(url !== undefined && url.length <= SOURCE_CHARS.url && /^https?:\/\//i.test(url) && { url }),
    ...(title !== undefined && { title }),
    ...(mediaType !== undefined && { mediaType }),
    ...(quote !== undefined && { quote }),
  }
}

/** Opaque, but stored and sent back, so it must be JSON. */
function readState(state: unknown, where: string, refuse: Refuse): ProviderState {
  if (typeof state !== 'object' || state === null)
    return refuse(where, `must be an object, not ${describeValue(state)}`)
  const { provider, model, data: given } = own(state)
  if (typeof provider !== 'string') return refuse(`${where}.provider`, `must be text, not ${describeValue(provider)}`)
  if (typeof model !== 'string') return refuse(`${where}.model`, `must be text, not ${describeValue(model)}`)
  const data = decodeWith(`${where}.data`, given, readData)
  if (!data.ok) return refuse('its state is not JSON:', data.refusal.message)
  return { provider, model, data: data.value }
}

/** JSON with well-formed text: a server may have cut a surrogate pair in half. */
const readData: Read<JsonValue> = (reader, value) => {
  if (typeof value === 'string') {
    reader.countChars(value.length)
    return wellFormed(value)
  }
  if (Array.isArray(value))
    return reader.openList(value, 'an array').map((item, index) => reader.at(index, item, readData))
  if (typeof value !== 'object' || value === null) return s.json.read(reader, value)
  const copy: Record<string, JsonValue> = {}
  for (const [name, field] of reader.openObject(value)) {
    // Assigned to an object later, it would become its prototype.
    if (name === '__proto__') return reader.refuse('may not have a field "__proto__"')
    copy[wellFormed(name)] = reader.at(name, field, readData)
  }
  return copy
}

/** The own data fields of an object; those of getters are undefined. */
function own(value: object): Readonly<Record<string, unknown>> {
  const found = Object.getOwnPropertyDescriptors(value)
  const fields: Record<string, unknown> = Object.create(null)
  for (const name in found) fields[name] = found[name]?.value
  return fields
}

/** One of many items, without reading the others. */
function itemOf(list: readonly unknown[], key: number | 'length'): unknown {
  return Object.getOwnPropertyDescriptor(list, key)?.value
}
