// One call of a streaming answer: complete in one part, or in pieces streamed by Vertex (`partialArgs`,
// `willContinue`).
import type { JsonObject, JsonValue, ModelCallPart } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import { isNothing, readGivenArguments, readMeantArguments } from '../meant-arguments.ts'
import type { ToolNames } from '../tool-names.ts'
import { PartialArguments } from './partial-arguments.ts'
import { PROVIDER } from './wire.ts'

export interface CallDraft {
  readonly type: 'call'
  /** Position in the answer, from 0. */
  readonly number: number
  /** The name on the wire. */
  readonly name: string
  readonly id: string | undefined
  signature: string | undefined
  readonly pieces: PartialArguments
  /** JSON text, set once the call is complete. */
  arguments: string | undefined
}

/** Starts a draft from the first part of a call. */
export function openCall(call: JsonObject, number: number): CallDraft {
  const { name, id } = call
  return {
    type: 'call',
    number,
    name: typeof name === 'string' ? name : '',
    id: typeof id === 'string' && id !== '' ? id : undefined,
    signature: undefined,
    pieces: new PartialArguments(),
    arguments: undefined,
  }
}

/** Adds a part to the call; the last one has no `willContinue`. Returns false if the call cannot be read. */
export function addToCall(draft: CallDraft, call: JsonObject): boolean {
  const { args, partialArgs } = call
  const isLast = call['willContinue'] !== true
  // Complete, as it nearly always arrives: keep the provider's order and spelling.
  if (isLast && partialArgs === undefined && draft.pieces.isEmpty) {
    const given = readObject(args ?? call['arguments'] ?? call['parameters'])
    if (!given) return false
    draft.arguments = JSON.stringify(given)
    return true
  }
  if (isJsonObject(args)) draft.pieces.set(args)
  if (Array.isArray(partialArgs)) for (const piece of partialArgs as readonly JsonValue[]) draft.pieces.push(piece)
  if (!draft.pieces.isReadable) return false
  if (!isLast) return true
  if (!draft.pieces.isWhole) return false
  draft.arguments = draft.pieces.toString()
  return true
}

/** Some gateways send the object as JSON text, even twice, or an empty list instead of an empty object. */
function readObject(given: JsonValue | undefined, isInner = false): JsonObject | undefined {
  if (isJsonObject(given)) return given
  const text = readGivenArguments(given) ?? ''
  const parsed = parseJson(isNothing(text) ? '{}' : readMeantArguments({ text }).text)
  if (!parsed.ok || (isInner && typeof parsed.value === 'string')) return undefined
  return isJsonObject(parsed.value) || typeof parsed.value === 'string' ? readObject(parsed.value, true) : undefined
}

export function buildCallPart(draft: CallDraft, model: string, names: Pick<ToolNames, 'decode'>): ModelCallPart {
  const data: JsonObject = {
    ...(draft.id !== undefined && { id: draft.id }),
    ...(draft.signature !== undefined && { thoughtSignature: draft.signature }),
  }
  return {
    type: 'call',
    name: names.decode(draft.name),
    // A truncated call has no trustworthy arguments.
    arguments: draft.arguments ?? '{}',
    ...(Object.keys(data).length > 0 && { state: { provider: PROVIDER, model, data } }),
  }
}
