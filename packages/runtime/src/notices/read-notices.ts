// Notices that a record gives rise to, as a pure function: each host reads the same ones from the same log. They name
// requests, calls and people, and have no text of the conversation.
import type { JsonObject, NoticeType } from '@baton/core/internal'
import type { Fact, SessionRecord } from '@baton/core/machine'

export interface RecordNotice {
  readonly type: NoticeType
  /** Milliseconds since 1970. */
  readonly atMs: number
  readonly data: JsonObject
}

/** Characters of an error's message in a notice. */
const MESSAGE_CHARS = 1000

/** In the order of the record's facts. */
export function readNotices({ facts, nowMs, wallMs = nowMs }: SessionRecord): readonly RecordNotice[] {
  // Facts have session time.
  const writeTime = (ms: number): string => new Date(Math.floor(ms - nowMs + wallMs)).toISOString()
  return facts.flatMap((fact) => {
    const found = readFact(fact, writeTime)
    return found ? [{ ...found, atMs: wallMs }] : []
  })
}

function readFact(fact: Fact, writeTime: (ms: number) => string): Omit<RecordNotice, 'atMs'> | undefined {
  switch (fact.type) {
    case 'approval-requested': {
      const { approvalId, callId, expiresAtMs } = fact
      return { type: 'approval.requested', data: { approvalId, callId, expiresAt: writeTime(expiresAtMs) } }
    }
    case 'question-asked': {
      const { questionId, callId, expiresAtMs } = fact
      return { type: 'question.asked', data: { questionId, callId, expiresAt: writeTime(expiresAtMs) } }
    }
    case 'request-relayed': {
      const { id, asking, expiresAtMs } = fact
      if (asking.type === 'call' || expiresAtMs === undefined) return undefined
      const { callId } = asking
      const about = { callId, expiresAt: writeTime(expiresAtMs) }
      return asking.type === 'approval'
        ? { type: 'approval.requested', data: { approvalId: id, ...about } }
        : { type: 'question.asked', data: { questionId: id, ...about } }
    }
    case 'approval-decided': {
      const { approvalId, callId, decision, principal } = fact
      return { type: 'approval.decided', data: { approvalId, callId, decision, by: { id: principal } } }
    }
    case 'call-settled': {
      const { callId, undecided, settlement } = fact
      const isExpired = settlement.type === 'denied' && settlement.code === 'approval_expired'
      return undecided === undefined ? undefined : writeWithdrawn(undecided, callId, isExpired)
    }
    case 'request-withdrawn': {
      const { id, undecided, reason } = fact
      return undecided === undefined ? undefined : writeWithdrawn(id, undecided, reason === 'expired')
    }
    case 'task-settled':
      return { type: 'task.finished', data: { callId: fact.callId, outcome: fact.settlement.type } }
    case 'turn-finished': {
      const { turn, outcome, error } = fact
      if (outcome !== 'failed') return { type: 'turn.finished', data: { turn, outcome } }
      const { code = 'internal', message = '' } = error ?? {}
      return { type: 'turn.failed', data: { turn, error: { code, message: message.slice(0, MESSAGE_CHARS) } } }
    }
    default:
      return undefined
  }
}

function writeWithdrawn(approvalId: string, callId: string, isExpired: boolean): Omit<RecordNotice, 'atMs'> {
  return { type: 'approval.withdrawn', data: { approvalId, callId, reason: isExpired ? 'expired' : 'ended' } }
}
