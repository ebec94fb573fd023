// Spans of tool calls and of what they wait for: a client to run them, a person's answer, an approval.
import type { Fact, FactOf, Settlement } from '@baton/core/machine'
import { describeArguments, describeResult } from './span-data.ts'
import type { Attributes, SpanEnd, SpanWriter } from './span-data.ts'

export function foldCall(fold: SpanWriter, fact: Fact): void {
  switch (fact.type) {
    case 'step-finished':
      beginCalls(fold, fact)
      return
    case 'call-started':
      fold.tell(keyOf(fact.callId), 'baton.call_started', { 'baton.attempt': fact.attempt })
      return
    case 'call-offered': {
      const { callId, connection, offer } = fact
      endWaits(fold, callId, 'away/', { 'baton.outcome': 'offered' })
      beginWait(fold, callId, {
        key: `offer/${callId}/${offer}`,
        name: 'wait client',
        attributes: { 'baton.wait': 'client', 'baton.connection': connection },
      })
      return
    }
    case 'call-claimed':
      fold.tell(keyOf(fact.callId), 'baton.call_claimed', { 'baton.connection': fact.connection })
      return
    case 'call-returned':
      endWaits(fold, fact.callId, 'offer/', { 'baton.outcome': 'returned', 'baton.reason': fact.reason })
      return
    case 'call-taken-over':
      endWaits(fold, fact.callId, 'away/', { 'baton.outcome': 'taken over' })
      fold.tell(keyOf(fact.callId), 'baton.call_taken_over', {})
      return
    case 'call-clock-set':
      foldClock(fold, fact)
      return
    case 'question-asked': {
      const { callId, questionId, n } = fact
      beginWait(fold, callId, {
        key: `question/${questionId}`,
        name: 'wait person',
        attributes: { 'baton.wait': 'person', 'baton.question': n },
      })
      return
    }
    case 'question-answered':
      fold.end(`question/${fact.questionId}`, {
        'baton.outcome': 'declined' in fact ? `declined: ${fact.declined}` : 'answered',
      })
      return
    case 'approval-requested': {
      const { callId, approvalId } = fact
      endWaits(fold, callId, 'approval/', { 'baton.outcome': 'replaced' })
      const tool = fold.open.get(keyOf(callId))?.start.attributes['gen_ai.tool.name']
      beginWait(fold, callId, {
        key: `approval/${approvalId}`,
        name: `approval ${String(tool ?? '')}`.trimEnd(),
        attributes: { 'baton.wait': 'person' },
      })
      return
    }
    case 'approval-decided':
      fold.end(`approval/${fact.approvalId}`, {
        'baton.outcome': fact.decision,
        ...(fact.remember && { 'baton.remember': fact.remember }),
      })
      return
    case 'call-settled':
      settle(fold, fact)
      return
    default:
      foldBelow(fold, fact)
  }
}

/** Requests of sessions below: waits of the delegated call. */
function foldBelow(fold: SpanWriter, fact: Fact): void {
  switch (fact.type) {
    case 'request-relayed': {
      const { callId, id, asking, path } = fact
      if (asking.type === 'call') return
      const who = { 'baton.wait': 'person', 'baton.agent': path.map(({ agent }) => agent).join('/') }
      const name = asking.type === 'approval' ? `approval ${asking.name}` : 'wait person'
      beginWait(fold, callId, { key: `${asking.type}/${id}`, name, attributes: who })
      return
    }
    case 'request-withdrawn':
      for (const type of ['approval', 'question']) fold.end(`${type}/${fact.id}`, { 'baton.outcome': fact.reason })
      return
    default:
  }
}

function keyOf(callId: string): string {
  return `call/${callId}`
}

function beginCalls(fold: SpanWriter, { step, calls, parts }: FactOf<'step-finished'>): void {
  const parentKey = fold.stepKeys.get(step)
  for (const { callId, name, runs, effect, provenance } of calls)
    fold.begin({
      key: keyOf(callId),
      ...(parentKey !== undefined && { parentKey }),
      name: `execute_tool ${name}`,
      kind: 'internal',
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.call.id': callId,
        'gen_ai.tool.type': provenance ? 'extension' : 'function',
        'gen_ai.conversation.id': fold.init.session,
        'baton.runs': runs,
        'baton.effect': effect,
        ...(fold.init.content && describeArguments(parts, callId)),
      },
    })
}

/** A call waits for a client while none that could run it is attached. */
function foldClock(fold: SpanWriter, { callId, mode }: FactOf<'call-clock-set'>): void {
  const key = `away/${callId}`
  if (mode === 'away')
    beginWait(fold, callId, {
      key: `${key}/${fold.pos}`,
      name: 'wait client',
      attributes: { 'baton.wait': 'client', 'baton.away': true },
    })
  else endWaits(fold, callId, key, { 'baton.outcome': 'back' })
}

interface Wait {
  readonly key: string
  readonly name: string
  readonly attributes: Attributes
}

function beginWait(fold: SpanWriter, callId: string, { key, name, attributes }: Wait): void {
  if (!fold.open.has(keyOf(callId))) return
  const waits = fold.waits.get(callId) ?? new Set()
  fold.waits.set(callId, waits.add(key))
  const ids = { 'gen_ai.tool.call.id': callId }
  fold.begin({ key, parentKey: keyOf(callId), name, kind: 'internal', attributes: { ...ids, ...attributes } })
}

/** Ends the call's waits whose keys start with `prefix`. */
function endWaits(fold: SpanWriter, callId: string, prefix: string, attributes: Attributes): void {
  for (const key of fold.waits.get(callId) ?? [])
    if (key.startsWith(prefix)) {
      fold.waits.get(callId)?.delete(key)
      fold.end(key, attributes)
    }
}

function settle(fold: SpanWriter, { callId, settlement }: FactOf<'call-settled'>): void {
  const outcome = { 'baton.outcome': settlement.type }
  endWaits(fold, callId, '', outcome)
  fold.waits.delete(callId)
  const reason = 'reason' in settlement ? { 'baton.reason': settlement.reason } : {}
  const code = settlement.type === 'denied' ? { 'baton.reason': settlement.code } : {}
  const result = fold.init.content ? describeResult(settlement) : {}
  fold.end(keyOf(callId), { ...outcome, ...reason, ...code, ...result }, findError(settlement))
}

/** A denied call and one withdrawn before it began are not errors; their outcome says enough. */
function findError(settlement: Settlement): SpanEnd['error'] {
  switch (settlement.type) {
    case 'ok':
    case 'denied':
      return undefined
    case 'error':
      return { type: settlement.code, message: settlement.message }
    case 'timed-out':
      return { type: 'timed_out' }
    case 'unknown':
      return { type: 'outcome_unknown' }
    case 'cancelled':
      return settlement.begun ? { type: 'cancelled' } : undefined
    default:
      return settlement satisfies never
  }
}
