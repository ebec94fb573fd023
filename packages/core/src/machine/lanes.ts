// The two lanes between a session and its child, as functions of records: `report` reads what a child's log says to its
// parent, `itemsFor` what a parent's log says to one of its children. Each reader keeps in its own log how far it has read.
import type { JsonValue } from '../json.ts'
import { parseJson } from '../json.ts'
import type { Fact, FactOf, TurnOutcome } from './fact.ts'
import type { History } from './history.ts'
import { restsAsChild } from './parent-state.ts'
import type { SessionRecord } from './record.ts'
import type { Limits, Spec } from './spec.ts'
import type { Call, State } from './state.ts'
import { findApproval, findCall, findQuestion, findRelayed } from './state.ts'
import type { ChildEnd, ChildReport, ChildRequest, ParentItem } from './lane-values.ts'
import type { ChildStop } from './tree-values.ts'

/** A child as of its last record. */
export interface ReportedChild {
  readonly state: State
  readonly history: Pick<History, 'openCall'>
  readonly spec: { readonly limits: Pick<Limits, 'awayMs'>; readonly tools: Spec['tools'] }
  /** Its agent has an output schema: the answer is JSON. */
  readonly hasOutput?: boolean
  /** Records that end with the reported ones and have its answer, which an earlier report may have passed. */
  readonly answered?: readonly SessionRecord[]
}

export interface LaneReport {
  /** Position up to which the records were read. */
  readonly to: number
  readonly report: ChildReport
}

/** Reads what records of a child say; the last one must be the child's last. Undefined without records. */
export function report(records: readonly SessionRecord[], child: ReportedChild): LaneReport | undefined {
  const last = records.at(-1)
  const { parent } = child.state
  if (!last || !parent) return undefined
  const requests = new Map<string, ChildRequest>()
  const closed = new Set<string>()
  const ended = new Set<string>()
  for (const record of records)
    for (const fact of record.facts) {
      const request = readRequest(fact, record.nowMs, child)
      if (request) requests.set(request.id, request)
      const gone = readClosed(fact)
      if (gone !== undefined) closed.add(gone)
      if (fact.type === 'request-withdrawn' && fact.reason === 'ended' && findRelayed(child.state, fact.id)?.call)
        ended.add(fact.id)
    }
  const { spent, acted, did, untrusted } = parent
  const { turn } = child.state
  return {
    to: last.pos,
    report: {
      spent,
      acted,
      waits: turn !== null && turn.deadline === null,
      untrusted,
      did,
      requests: [...requests.values()],
      closed: [...closed].filter((id) => !ended.has(id)),
      ended: [...ended],
      ...(restsAsChild(child.state) && { end: readEnd(child.answered ?? records, child) }),
    },
  }
}

/** Whether the reported end has an answer, whose text only the log has, and these records do not have it. */
export function lacksAnswer(records: readonly SessionRecord[], state: State): boolean {
  if (state.parent?.finished?.outcome !== 'answered' || !restsAsChild(state)) return false
  return !records.some(({ facts }) => facts.some(({ type }) => type === 'turn-finished'))
}

/** Reads a request that is still open at the end of the log. */
function readRequest(fact: Fact, nowMs: number, child: ReportedChild): ChildRequest | undefined {
  switch (fact.type) {
    case 'approval-requested':
      return readApproval(fact, nowMs, child)
    case 'question-asked': {
      const { questionId: id, callId, n, message, schema, expiresAtMs } = fact
      if (!findQuestion(child.state, id)) return undefined
      return { id, path: [], asking: { type: 'question', callId, n, message, schema, withinMs: expiresAtMs - nowMs } }
    }
    case 'call-offered': {
      const call = findCall(child.state, fact.callId)
      const isOpen = call && !call.relayed && (call.state === 'offered' || call.state === 'claimed')
      return isOpen ? readCall(call, child) : undefined
    }
    case 'request-relayed': {
      const below = findRelayed(child.state, fact.id)
      if (!below || below.isDecided || below.isLeaving) return undefined
      return { id: fact.id, path: fact.path, asking: fact.asking }
    }
    default:
      return undefined
  }
}

function readApproval(
  { approvalId, callId, expiresAtMs }: FactOf<'approval-requested'>,
  nowMs: number,
  { state, history }: ReportedChild,
): ChildRequest | undefined {
  const call = findApproval(state, approvalId)
  const shown = history.openCall(callId)
  if (call?.state !== 'awaiting-approval' || !shown) return undefined
  const { name, argumentsHash, effect, asksFor, asksEach, deciders, answer } = call
  return {
    id: approvalId,
    path: [],
    asking: {
      type: 'approval',
      callId,
      name,
      arguments: shown.arguments,
      argumentsHash,
      ...(shown.about && { about: shown.about }),
      effect,
      ...(asksFor !== undefined && { asksFor }),
      ...(asksEach && { asksEach }),
      ...(deciders && { deciders }),
      ...(answer && { answer: answer.by ? { by: answer.by } : {} }),
      withinMs: expiresAtMs - nowMs,
    },
  }
}

function readCall(call: Call, { history, spec }: ReportedChild): ChildRequest | undefined {
  const { callId, name, effect, runs, timeoutMs, parallel, onInterrupt, provenance, argumentsHash } = call
  const shown = history.openCall(callId)
  if (!shown) return undefined
  const tool = spec.tools.find((other) => other.name === name)
  return {
    id: callId,
    path: [],
    asking: {
      type: 'call',
      callId,
      name,
      arguments: shown.arguments,
      argumentsHash,
      ...(shown.about && { about: shown.about }),
      effect,
      runs,
      timeoutMs,
      parallel,
      onInterrupt,
      ...(provenance && { provenance }),
      awayMs: tool?.awayMs ?? spec.limits.awayMs,
      ...(tool?.fallback && { fallback: true as const }),
    },
  }
}

/** The id of a request that the child closes by this fact. Decisions that it only passes on close nothing. */
function readClosed(fact: Fact): string | undefined {
  switch (fact.type) {
    case 'approval-decided':
      return fact.via === undefined ? fact.approvalId : undefined
    case 'question-answered':
      return fact.via === undefined ? fact.questionId : undefined
    case 'call-settled':
    case 'call-taken-over':
      return fact.via === undefined ? fact.callId : undefined
    case 'task-settled':
      return fact.callId
    case 'request-withdrawn':
      return fact.id
    default:
      return undefined
  }
}

function readEnd(records: readonly SessionRecord[], { state, hasOutput }: ReportedChild): ChildEnd {
  const { finished } = state.parent ?? {}
  if (!finished) return { stop: 'cancelled', text: '' }
  const { outcome, error } = finished
  if (outcome !== 'answered') return { stop: STOPS[outcome], text: '', ...(error && { error }) }
  const facts = records.flatMap((record) => record.facts)
  const text = facts.findLast((fact) => fact.type === 'turn-finished')?.text ?? ''
  const step = facts.findLast((fact) => fact.type === 'step-finished')
  const parsed = hasOutput ? parseJson(text) : undefined
  const value: { readonly value?: JsonValue } = parsed?.ok ? { value: parsed.value } : {}
  return { stop: step?.finish === 'max-tokens' ? 'max-tokens' : 'end', text, ...value }
}

const STOPS: Readonly<Record<Exclude<TurnOutcome, 'answered'>, ChildStop>> = {
  tool: 'tool',
  silent: 'silent',
  interrupted: 'cancelled',
  refused: 'refused',
  failed: 'failed',
  stopped: 'stopped',
}

/** Reads what records of a parent say to the child of the call, in order. */
export function itemsFor(records: readonly SessionRecord[], callId: string): readonly ParentItem[] {
  return records.flatMap(({ facts }) => facts.flatMap((fact) => readItem(fact, callId) ?? []))
}

function readItem(fact: Fact, callId: string): ParentItem | undefined {
  switch (fact.type) {
    case 'session-paused':
      return { type: 'pause' }
    case 'session-continued':
      return { type: 'continue' }
    case 'child-begun': {
      if (fact.callId !== callId) return undefined
      const { task, untrusted, known, grant } = fact
      return { type: 'task', callId, task, ...(untrusted && { untrusted }), ...(known && { known }), grant }
    }
    case 'child-ending':
      return fact.callId === callId ? { type: 'end', reason: fact.reason } : undefined
    case 'request-withdrawn':
      if (fact.callId !== callId || fact.reason === 'closed' || fact.reason === 'ended') return undefined
      return { type: 'request-over', id: fact.id, why: fact.reason }
    default:
      return 'via' in fact && fact.via === callId ? readDecision(fact) : undefined
  }
}

function readDecision(fact: Fact): ParentItem | undefined {
  switch (fact.type) {
    case 'approval-decided': {
      const { approvalId: id, decision, principal, reason, edited } = fact
      const why = reason !== undefined && { reason }
      if (!edited) return { type: fact.type, id, decision, principal, ...why }
      const { arguments: text, argumentsHash, delegate } = edited
      const change = { arguments: text, argumentsHash, ...(delegate && { delegate }) }
      return { type: fact.type, id, decision, principal, ...why, edited: change }
    }
    case 'question-answered':
      if ('value' in fact) return { type: fact.type, id: fact.questionId, value: fact.value }
      return {
        type: fact.type,
        id: fact.questionId,
        declined: fact.declined,
        ...(fact.reason !== undefined && { reason: fact.reason }),
      }
    case 'call-settled':
      return { type: fact.type, id: fact.callId, settlement: fact.settlement }
    case 'call-taken-over':
      return { type: fact.type, id: fact.callId }
    default:
      return undefined
  }
}
