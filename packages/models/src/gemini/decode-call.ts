// One call of an answer while it arrives: whole in one part, or in pieces that Vertex streams (`partialArgs`, `willContinue`).
import type { JsonObject, JsonValue, ModelCallPart } from '@baton/core'
import { isJsonObject, parseJson } from '@baton/core'
import type { ToolNames } from '../tool-names.ts'
import { PartialArguments } from './partial-arguments.ts'
import { PROVIDER } from './wire.ts'

export interface CallDraft {
  readonly type: 'call'
  /** Number in the answer, from 0. */
  readonly number: number
  /** On the wire. */
  readonly name: string
  readonly id: string | undefined
  signature: string | undefined
  readonly pieces: PartialArguments
  /** JSON text; known once the call is whole. */
  arguments: string | undefined
}

/** The call that a part begins. */
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

/** Adds what a part says of the call; the last one says no `willContinue`. False when the call cannot be read. */
export function addToCall(draft: CallDraft, call: JsonObject): boolean {
  const { args, partialArgs } = call
  const isLast = call['willContinue'] !== true
  // Whole, as it nearly always comes: the order and spelling of the provider stay.
  if (isLast && partialArgs === undefined && draft.pieces.isEmpty) {
    // Gateways write the object as text.
    const given = typeof args === 'string' ? readObject(args) : (args ?? {})
    if (!isJsonObject(given)) return false
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

function readObject(text: string): JsonValue | undefined {
  const parsed = parseJson(text)
  return parsed.ok ? parsed.value : undefined
}

export function buildCallPart(draft: CallDraft, model: string, names: Pick<ToolNames, 'decode'>): ModelCallPart {
  const data: JsonObject = {
    ...(draft.id !== undefined && { id: draft.id }),
    ...(draft.signature !== undefined && { thoughtSignature: draft.signature }),
  }
  return {
    type: 'call',
    name: names.decode(draft.name),
    // A call that was cut off has none that could be trusted.
    arguments: draft.arguments ?? '{}',
    ...(Object.keys(data).length > 0 && { state: { provider: PROVIDER, model, data } }),
  }
}
