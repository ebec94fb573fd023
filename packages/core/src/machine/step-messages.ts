// A closed step as messages: the assistant's parts, and the results of its calls as the model reads them.
import type { AssistantMessage, AssistantPart, MediaSource, ResultPart, StoredMessage } from '../messages.ts'
import type { CallProposal } from './fact.ts'
import type { OpenBody, SettledCall } from './history.ts'
import { isVisible, renderSettlement, text } from './render.ts'

export function describeCalls(calls: readonly CallProposal[]): OpenBody['described'] {
  const described = calls.filter(({ about, provenance }) => about || provenance)
  return described.map(({ callId, about, provenance, answer }) => ({
    callId,
    ...(about && { about }),
    ...(provenance && { provenance }),
    ...(answer && { answer }),
  }))
}

/** The approval of an answer is a call for people only: no model reads it. */
function withoutApproval(open: OpenBody): readonly AssistantPart[] {
  const approval = open.described.find(({ answer }) => answer)
  if (!approval) return open.parts
  return open.parts.filter((part) => part.type !== 'call' || part.callId !== approval.callId)
}

const MISSING: SettledCall = { settlement: { type: 'unknown', reason: 'missing' } }

export function stepMessages(full: OpenBody): readonly StoredMessage[] {
  const open = full.described.length > 0 ? { ...full, parts: withoutApproval(full) } : full
  const assistant: AssistantMessage = { role: 'assistant', parts: open.parts, ...(open.rebased && { rebased: true }) }
  const provenances = new Map(open.described.map(({ callId, provenance }) => [callId, provenance]))
  const results: ResultPart<MediaSource>[] = []
  for (const part of open.parts) {
    if (part.type !== 'call') continue
    const { callId, name } = part
    const { settlement, detail, ...source }: SettledCall = open.settlements.get(callId) ?? MISSING
    const edited = open.edited.get(callId)
    const rendered = renderSettlement(settlement)
    const said = detail === undefined ? rendered : [...rendered, text(detail)]
    const content = edited === undefined ? said : [text(`[A person changed the arguments to ${edited}]`), ...said]
    const isError = settlement.type !== 'ok' && !(settlement.type === 'cancelled' && settlement.detached)
    const provenance = source.provenance ?? provenances.get(callId)
    const result = { type: 'result', callId, name, isError, content } as const
    results.push(provenance ? { ...result, provenance } : result)
  }
  if (results.length > 0) return [assistant, { role: 'tool', parts: results }]
  return isVisible(open.parts) ? [assistant] : []
}
