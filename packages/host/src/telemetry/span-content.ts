// Content of people, models and tools as span attributes, only if enabled. The shapes are those of the GenAI
// conventions (gen-ai-input-messages.json, gen-ai-output-messages.json).
import type { AssistantPart, FinishReason, StoredPart } from '@baton/core/internal'
import type { FactOf, InputBody, Settlement } from '@baton/core/machine'
import type { Attributes } from './span-data.ts'

/** Maximum UTF-16 units of an attribute; longer ones are cut. */
const CONTENT_CHARS = 16_384

export function describeInputs(inputs: readonly FactOf<'input-accepted'>[]): Attributes {
  const messages = inputs.map(({ body }) => ({ role: 'user', parts: listParts(body) }))
  return { 'gen_ai.input.messages': cut(JSON.stringify(messages)) }
}

function listParts(body: InputBody): readonly object[] {
  if (body.type === 'transcript') return [{ type: 'text', content: `${body.speaker}: ${body.text}` }]
  if (body.type === 'urgent') return [{ type: 'text', content: `${body.name}: ${body.message ?? ''}` }]
  return body.parts.map(describePart)
}

/** Leaves out the bytes of images and files. */
function describePart(part: StoredPart): object {
  return part.type === 'text' ? { type: 'text', content: part.text } : { type: part.type, mime_type: part.mediaType }
}

export function describeAnswer(parts: readonly AssistantPart[], finish: FinishReason): Attributes {
  const said = parts.flatMap((part): object[] => {
    if (part.type === 'text') return [{ type: 'text', content: part.text }]
    if (part.type === 'reasoning') return [{ type: 'reasoning', content: part.text }]
    if (part.type !== 'call') return []
    return [{ type: 'tool_call', id: part.callId, name: part.name, arguments: part.arguments }]
  })
  const message = [{ role: 'assistant', parts: said, finish_reason: finish }]
  return { 'gen_ai.output.messages': cut(JSON.stringify(message)) }
}

export function describeArguments(parts: readonly AssistantPart[], callId: string): Attributes {
  const call = parts.find((part) => part.type === 'call' && part.callId === callId)
  return call?.type === 'call' ? { 'gen_ai.tool.call.arguments': cut(call.arguments) } : {}
}

export function describeResult(settlement: Settlement): Attributes {
  if (settlement.type !== 'ok') return {}
  return { 'gen_ai.tool.call.result': cut(JSON.stringify(settlement.value ?? settlement.content.map(describePart))) }
}

function cut(text: string): string {
  return text.length <= CONTENT_CHARS ? text : text.slice(0, CONTENT_CHARS).toWellFormed()
}
