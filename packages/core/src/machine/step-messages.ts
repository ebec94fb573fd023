// The open step with its texts, and a closed one as messages: the assistant's parts, and the results of its calls as the model
// reads them.
import type { JsonObject } from '../json.ts'
import type { AssistantMessage, AssistantPart, MediaSource, ResultPart, StoredMessage } from '../messages.ts'
import type { CallProposal, FactOf, QuestionAnswer } from './fact.ts'
import { isVisible, renderSettlement, text } from './render.ts'

export interface OpenCall {
  readonly callId: string
  readonly name: string
  /** JSON text, as edited by a person if one did. */
  readonly arguments: string
  /** It has ended, and only waits for the other calls of its step. */
  readonly settled: boolean
  /** The description for people: a title, a kind, places, a diff. */
  readonly about?: JsonObject
}

/** An unanswered question of a tool. */
export interface OpenQuestion {
  readonly callId: string
  readonly questionId: string
  /** From 1, per call. */
  readonly n: number
  readonly message: string
  /** JSON Schema of the answer. */
  readonly schema: JsonObject
  readonly expiresAtMs: number
}

export interface SettledCall extends Pick<FactOf<'call-settled'>, 'settlement' | 'provenance' | 'detail'> {}

export interface AskedQuestion extends OpenQuestion {
  readonly answer?: QuestionAnswer
}

export interface PlainOpenBody {
  readonly step: number
  readonly exchange: number
  readonly parts: readonly AssistantPart[]
  /** See `AssistantMessage.rebased`. */
  readonly rebased: boolean
  /** The calls of the step that have a description, a provenance or a choice. */
  readonly described: readonly Pick<CallProposal, 'callId' | 'about' | 'provenance' | 'answer' | 'chooses'>[]
}

/** Its maps grow in place: a step may have thousands of calls. Snapshots copy them. */
export interface OpenBody extends PlainOpenBody {
  readonly edited: Map<string, string>
  readonly settlements: Map<string, SettledCall>
  /** Questions by id. */
  readonly questions: Map<string, AskedQuestion>
}

export function answerIn(fact: FactOf<'question-answered'>): QuestionAnswer {
  if ('value' in fact) return { value: fact.value }
  return { declined: fact.declined, ...(fact.reason !== undefined && { reason: fact.reason }) }
}

export function describeCalls(calls: readonly CallProposal[]): OpenBody['described'] {
  const described = calls.filter(({ about, provenance, chooses }) => about || provenance || chooses)
  return described.map(({ callId, about, provenance, answer, chooses }) => ({
    callId,
    ...(about && { about }),
    ...(provenance && { provenance }),
    ...(answer && { answer }),
    ...(chooses && { chooses }),
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
