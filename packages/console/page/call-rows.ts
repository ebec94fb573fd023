// How facts about calls change their rows: approvals, offers, leases, attempts, questions, children, results.
import type { FactOf, FactType, Settlement } from '@baton/core/machine'
import { shortName } from './amounts.ts'
import type { Place, TimelineDraft } from './timeline-draft.ts'
import type { CallDetails, RowState, TaintSource } from './timeline-row.ts'

type Fold = { readonly [Type in FactType]?: (draft: TimelineDraft, fact: FactOf<Type>, place: Place) => void }

const APPROVALS: Fold = {
  'approval-requested': (draft, fact, place) => {
    const call = callOf(draft, fact.callId)
    if (!call) return
    const approval = { id: fact.approvalId, askedMs: place.nowMs, expiresAtMs: fact.expiresAtMs, given: [] }
    draft.changeCall(fact.callId, place, { approvals: [...call.approvals, approval] })
    draft.change(fact.callId, place, { outcome: 'waiting for a person' })
    draft.go(fact.callId, place, { state: 'person', note: 'waiting for a person' })
  },
  'approval-given': (draft, fact, place) => {
    const id = fact.via ?? fact.callId
    draft.mark(id, place, { kind: 'decision', text: `${fact.principal} approved it, ${fact.left} more to go` })
    changeApproval(draft, fact, place, (approval) => ({ ...approval, given: [...approval.given, fact] }))
  },
  'approval-decided': (draft, fact, place) => {
    const id = fact.via ?? fact.callId
    draft.mark(id, place, { kind: 'decision', text: describeDecision(fact) })
    if (fact.via !== undefined) return
    changeApproval(draft, fact, place, (approval) => ({ ...approval, decided: fact, decidedMs: place.nowMs }))
    if (fact.edited) draft.changeCall(id, place, { edited: fact.edited.arguments })
    if (fact.decision === 'deny') return
    draft.change(id, place, { outcome: 'not started' })
    draft.go(id, place, { state: 'queued', note: `${describeDecision(fact)}; not started` })
  },
  'question-asked': (draft, fact, place) => {
    const call = callOf(draft, fact.callId)
    if (!call || fact.via !== undefined) return
    draft.changeCall(fact.callId, place, { questions: [...call.questions, fact] })
    draft.change(fact.callId, place, { outcome: `asks: ${fact.message}` })
    draft.go(fact.callId, place, { state: 'person', note: `asks: ${fact.message}` })
  },
  'question-answered': (draft, fact, place) => {
    const call = callOf(draft, fact.callId)
    if (!call || fact.via !== undefined) return
    const questions = call.questions.filter(({ questionId }) => questionId !== fact.questionId)
    draft.changeCall(fact.callId, place, { questions })
    const said = 'declined' in fact ? `no answer (${fact.declined})` : 'answered'
    draft.mark(fact.callId, place, { kind: 'decision', text: `question ${fact.n}: ${said}` })
    if (questions.length > 0) return
    draft.change(fact.callId, place, { outcome: 'running' })
    draft.go(fact.callId, place, { state: 'running', note: 'running' })
  },
}

const WORK: Fold = {
  'call-started': (draft, fact, place) => {
    const call = callOf(draft, fact.callId)
    if (!call) return
    const attempt = { attempt: fact.attempt, fromMs: place.nowMs, deadlineMs: fact.deadlineMs }
    const again = call.attempts.length > 0
    draft.changeCall(fact.callId, place, { attempts: [...call.attempts, attempt] })
    if (again) draft.mark(fact.callId, place, { kind: 'retry', text: `began again, attempt ${fact.attempt}` })
    const note = call.task ? 'running in the background' : again ? `running, attempt ${fact.attempt}` : 'running'
    draft.change(fact.callId, place, { outcome: note })
    draft.go(fact.callId, place, { state: 'running', note })
  },
  'call-offered': (draft, fact, place) => {
    const call = callOf(draft, fact.callId)
    if (!call) return
    draft.changeCall(fact.callId, place, { offeredTo: [...call.offeredTo, fact.connection] })
    const note = `offered to ${shortName(fact.connection)}`
    draft.change(fact.callId, place, { outcome: note })
    draft.go(fact.callId, place, { state: 'client', note })
  },
  'call-claimed': (draft, fact, place) => {
    const call = callOf(draft, fact.callId)
    if (!call || call.claimedBy === fact.connection) return
    draft.changeCall(fact.callId, place, { claimedBy: fact.connection })
    const note = `running on ${shortName(fact.connection)}`
    draft.change(fact.callId, place, { outcome: note })
    draft.go(fact.callId, place, { state: 'running', note })
  },
  'call-returned': (draft, fact, place) => {
    const call = callOf(draft, fact.callId)
    if (!call) return
    const { claimedBy, ...rest } = call
    draft.change(fact.callId, place, { call: rest, outcome: 'waiting for a client' })
    const who = claimedBy ?? call.offeredTo.at(-1)
    const why = fact.reason === 'detach' ? `${who === undefined ? 'its client' : shortName(who)} is gone` : fact.reason
    draft.mark(fact.callId, place, { kind: 'retry', text: `came back: ${why}` })
    draft.go(fact.callId, place, { state: 'client', note: `waiting for a client: ${why}` })
  },
  'call-taken-over': (draft, fact, place) => {
    draft.mark(fact.via ?? fact.callId, place, {
      kind: 'retry',
      text: 'no client took it: the server runs its fallback',
    })
  },
  'call-clock-set': (draft, fact, place) => {
    const row = draft.find(fact.callId)
    if (!row?.call) return
    draft.changeCall(fact.callId, place, { clock: fact })
    if (fact.mode !== 'away' || row.state !== 'queued') return
    draft.change(fact.callId, place, { outcome: 'waiting for a client' })
    draft.go(fact.callId, place, { state: 'client', note: 'waiting for a client: none is connected that has the tool' })
  },
  'call-settled': (draft, fact, place) => {
    if (fact.via !== undefined) return
    if (fact.task) {
      draft.changeCall(fact.callId, place, { task: 'running' })
      draft.change(fact.callId, place, { outcome: 'continues in the background' })
      draft.go(fact.callId, place, { state: 'running', note: 'continues in the background' })
      return
    }
    settle(draft, fact, place)
  },
  'task-settled': (draft, fact, place) => {
    draft.changeCall(fact.callId, place, { task: 'settled' })
    settle(draft, fact, place)
  },
  'task-cancelled': (draft, fact, place) => {
    draft.mark(fact.callId, place, { kind: 'decision', text: `cancelled by ${fact.principal ?? `the ${fact.by}`}` })
  },
  'result-ignored': (draft, fact, place) => {
    const call = callOf(draft, fact.callId)
    if (call) draft.changeCall(fact.callId, place, { ignored: [...call.ignored, fact] })
    draft.mark(fact.callId, place, { kind: 'late', text: `a result was ignored (${fact.reason}): ${fact.preview}` })
  },
}

const CHILDREN: Fold = {
  'child-begun': (draft, fact, place) => {
    draft.changeCall(fact.callId, place, { child: { agent: fact.agent, depth: fact.depth, waits: false } })
    draft.change(fact.callId, place, { outcome: `the agent ${fact.agent} is working on it` })
    draft.go(fact.callId, place, { state: 'running', note: `the agent ${fact.agent} is working on it` })
  },
  'child-reported': (draft, fact, place) => {
    const row = draft.find(fact.callId)
    const child = row?.call?.child
    if (!row || !child || child.stop) return
    draft.changeCall(fact.callId, place, { child: { ...child, waits: fact.waits, spent: fact.spent } })
    const state: RowState = fact.waits ? 'child' : 'running'
    if (row.state === state || row.toMs !== undefined) return
    const note = fact.waits
      ? `the agent ${child.agent} is waiting for a person or a client`
      : `the agent ${child.agent} is working on it`
    draft.change(fact.callId, place, { outcome: note })
    draft.go(fact.callId, place, { state, note })
  },
  'child-closed': (draft, fact, place) => {
    const child = callOf(draft, fact.callId)?.child
    if (child)
      draft.changeCall(fact.callId, place, { child: { ...child, waits: false, stop: fact.stop, spent: fact.spent } })
  },
  'child-lost': (draft, fact, place) => {
    const child = callOf(draft, fact.callId)?.child
    if (child) draft.changeCall(fact.callId, place, { child: { ...child, lost: fact.message } })
    draft.mark(fact.callId, place, { kind: 'note', text: `its agent is lost: ${fact.message}` })
  },
  'child-ending': (draft, fact, place) =>
    draft.mark(fact.callId, place, { kind: 'note', text: `its agent has to end: ${fact.reason}` }),
  'request-relayed': (draft, fact, place) => {
    const { asking, path } = fact
    const what = asking.type === 'question' ? asking.message : asking.name
    const who = path.map(({ agent }) => agent).join(' › ')
    const words = { approval: 'wants to be allowed', question: 'asks', call: 'wants a client to run' }[asking.type]
    draft.mark(fact.callId, place, { kind: 'note', text: `${who} ${words}: ${what}` })
  },
}

export const CALL_FOLD: Fold = { ...APPROVALS, ...WORK, ...CHILDREN }

function callOf(draft: TimelineDraft, callId: string): CallDetails | undefined {
  return draft.find(callId)?.call
}

type Approval = CallDetails['approvals'][number]

function changeApproval(
  draft: TimelineDraft,
  { callId, approvalId }: { readonly callId: string; readonly approvalId: string },
  place: Place,
  change: (approval: Approval) => Approval,
): void {
  const call = callOf(draft, callId)
  if (!call) return
  draft.changeCall(callId, place, {
    approvals: call.approvals.map((one) => (one.id === approvalId ? change(one) : one)),
  })
}

export function describeDecision({ decision, principal, reason, note }: FactOf<'approval-decided'>): string {
  const past = { approve: 'approved', deny: 'denied', edit: 'changed and approved' }[decision]
  return `${past} by ${principal}${reason === undefined ? '' : `: ${reason}`}${note === undefined ? '' : ` (note: ${note})`}`
}

const ENDS: Readonly<Record<Settlement['type'], RowState>> = {
  ok: 'ok',
  error: 'error',
  denied: 'denied',
  'timed-out': 'timed-out',
  cancelled: 'cancelled',
  unknown: 'unknown',
}

function settle(draft: TimelineDraft, fact: FactOf<'call-settled'> | FactOf<'task-settled'>, place: Place): void {
  const { settlement } = fact
  const call = callOf(draft, fact.callId)
  if (!call) return
  const provenance = fact.provenance ?? call.proposal.provenance
  draft.changeCall(fact.callId, place, {
    settlement,
    ...(provenance && { provenance }),
    ...(fact.detail !== undefined && { detail: fact.detail }),
  })
  draft.change(fact.callId, place, { outcome: describeSettlement(settlement) })
  draft.end(fact.callId, place, ENDS[settlement.type])
  if (provenance?.trust === 'untrusted' && settlement.type === 'ok')
    draft.taint.push({ name: call.name, row: fact.callId, ...describeSource(call, provenance.source) })
}

/** The page, mail or file that a call read, as its arguments and its source name it. */
function describeSource(
  { name, arguments: given, edited }: CallDetails,
  source: string | undefined,
): Pick<TaintSource, 'about'> {
  const named = source === undefined || source === name || given.includes(source) ? [] : [`from ${source}`]
  const words = [...[edited ?? given].filter((text) => text !== '{}'), ...named]
  return words.length === 0 ? {} : { about: words.join(' ') }
}

/** How it ended, in one line. */
export function describeSettlement(settlement: Settlement): string {
  switch (settlement.type) {
    case 'ok': {
      const text = settlement.content
        .map((part) => (part.type === 'text' ? part.text : `[${part.type} ${part.mediaType}]`))
        .join(' ')
      return text === '' ? 'ok' : text
    }
    case 'error':
    case 'denied':
      return `${settlement.code}: ${settlement.message}`
    case 'timed-out':
      return `no result in time${settlement.begun ? ', and it may have had its effect' : ''}`
    case 'cancelled':
      return `cancelled: ${settlement.reason}${settlement.detached ? '; it is still running' : settlement.begun ? ', and it may have had its effect' : ''}`
    case 'unknown':
      return `outcome unknown: ${settlement.message ?? settlement.reason}`
  }
}
