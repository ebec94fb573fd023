// A parent's side of a delegated call: its child begins, reports, and is closed. The entry in `State.children` stays as long
// as the child's log may say something, even after the call has settled; the host reads and tells while it stands.
import type { Refusal } from '../errors.ts'
import type { Provenance } from '../messages.ts'
import { boundOutcome, settle } from './calls.ts'
import { closeRelayed, describeUnheard, endChild, isTimeUp, leaveEnded } from './child-end.ts'
import { AGENT_GONE } from './child-entries.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { Settlement } from './fact.ts'
import type { InputOf } from './input.ts'
import type { ChildEnd, ChildReport } from './lane-values.ts'
import { relay, withdrawClosed } from './relayed.ts'
import { wholeChars } from './size.ts'
import { RULES } from './spec.ts'
import type { Call, Child, State } from './state.ts'
import { findCall, findChild, isTask } from './state.ts'
import { noteOutcome } from './notes.ts'
import { settleTask } from './task-end.ts'
import { countBelow, planGrant, treeLimits } from './tree-limits.ts'
import type { Deeds } from './tree-values.ts'

/** Commits that a child is owed. Other waiting calls get equal shares of the rest. */
export function beginChild(draft: Draft, call: Call): void {
  const { callId, delegate, attempt, timeoutMs } = call
  if (!delegate) return
  const { spec, state } = draft
  const { agent, task, untrusted, known, acts } = delegate
  emit(draft, { type: 'call-started', callId, attempt: attempt + 1, deadlineMs: state.nowMs + timeoutMs })
  emit(draft, {
    type: 'child-begun',
    callId,
    agent,
    depth: (state.parent?.depth ?? 0) + 1,
    task,
    ...(untrusted && { untrusted }),
    ...(known && { known }),
    grant: planGrant(spec, state, call),
    asks: state.parent !== null || (isTask(call) ? call.task.asks : state.turn?.asks === true),
    acts,
  })
}

/** An ended child did not report in time. */
export function passChildDeadline(draft: Draft, callId: string, generation: number): void {
  const child = findChild(draft.state, callId)
  if (child?.deadline?.generation !== generation) return
  const call = findCall(draft.state, callId)
  if (call?.state === 'started') settle(draft, call, describeUnheard(child, child.reason), true)
  if (child.reason !== AGENT_GONE) return
  loseChild(draft, { type: 'child-lost', callId, code: 'tool_gone', message: 'its agent was removed' })
}

/** A repeat, or a report of a child that is closed, has no effect. */
export function takeReport(draft: Draft, { callId, birth, from, to, mark, report }: InputOf<'child-reported'>): void {
  const child = findChild(draft.state, callId)
  if (!child || child.pos !== from) return
  const { spent, acted, waits, untrusted } = report
  const named = { ...(child.birth === '' && { birth }), ...(mark !== undefined && { mark }) }
  emit(draft, { type: 'child-reported', callId, ...named, to, spent, acted, waits, untrusted })
  withdrawClosed(draft, callId, report.closed)
  leaveEnded(draft, callId, report.ended)
  for (const request of report.requests) relay(draft, callId, request)
  if (report.end) closeChild(draft, callId, report, report.end)
  endOverspent(draft)
}

/** The children of a turn over its limits have to end; then the turn fails as it does without children. */
function endOverspent(draft: Draft): void {
  const { spec, state } = draft
  const { turn, children } = state
  if (!turn) return
  const most = treeLimits(spec, state)
  const { rounds, calls } = countBelow(turn)
  const isWithin =
    turn.tokens <= most.tokens && turn.costMicros <= most.costMicros && rounds <= most.rounds && calls <= most.calls
  if (isWithin) return
  for (const child of children) if (child.turn === turn.turn) endChild(draft, child.callId, 'limit')
}

/** The call settles in the record that closes its child. */
function closeChild(draft: Draft, callId: string, report: ChildReport, end: ChildEnd): void {
  const child = findChild(draft.state, callId)
  if (!child) return
  const call = findCall(draft.state, callId)
  if (call?.state === 'started') settleByEnd(draft, call, { child, report, end })
  else tellLate(draft, child, end)
  closeRelayed(draft, callId)
  const { spent, did, untrusted } = report
  emit(draft, { type: 'child-closed', callId, stop: end.stop, spent, did, untrusted })
}

interface Ended {
  readonly child: Child
  readonly report: ChildReport
  readonly end: ChildEnd
}

function settleByEnd(draft: Draft, call: Call, ended: Ended): void {
  const { report, child } = ended
  const settlement = describeEnded(draft, ended)
  const provenance: Provenance | undefined = report.untrusted.length > 0 ? { trust: 'untrusted' } : undefined
  const words = [describeStop(child, ended.end), settlement.type === 'ok' ? '' : describeDeeds(report.did)]
  const detail = words.filter((said) => said !== '').join(' ')
  const settled = {
    settlement,
    tellLate: false,
    ...(provenance && call.provenance?.trust !== 'untrusted' && { provenance }),
    ...(detail !== '' && { detail }),
  }
  if (isTask(call)) settleTask(draft, call, settled)
  else emit(draft, { type: 'call-settled', callId: call.callId, ...settled })
}

function describeEnded(draft: Draft, { child, report, end }: Ended): Settlement {
  switch (end.stop) {
    case 'end':
    case 'tool':
    case 'max-tokens':
    case 'silent': {
      const content = end.text === '' ? [] : [{ type: 'text', text: end.text } as const]
      return boundOutcome(draft, { type: 'ok', content, ...(end.value !== undefined && { value: end.value }) })
    }
    case 'refused':
    case 'failed': {
      const { code, message } = end.error ?? { code: 'child_failed', message: 'it failed' }
      return { type: 'error', code, message: `the agent "${child.agent}" failed: ${message}` }
    }
    case 'never':
    case 'cancelled':
    case 'stopped': {
      const reason = child.reason === '' ? 'interrupt' : child.reason
      const begun = report.acted && ({ begun: true } as const)
      if (report.acted && !isKnown(report.did)) return { type: 'unknown', reason }
      return isTimeUp(reason) ? { type: 'timed-out', reason, ...begun } : { type: 'cancelled', reason, ...begun }
    }
    default:
      return end.stop satisfies never
  }
}

/** Whether the outcome of everything that began is known. */
export function isKnown({ calls, more }: Deeds): boolean {
  return !more && calls.length > 0 && calls.every(({ settlement }) => settlement === 'ok' || settlement === 'error')
}

function describeStop({ reason }: Child, { stop, text }: ChildEnd): string {
  if (reason === '' && (stop === 'cancelled' || stop === 'stopped'))
    return '[It was stopped by whoever runs it, and not by this conversation.]'
  if (stop === 'max-tokens') return '[The answer was cut at the output limit of the model.]'
  return text === '' && (stop === 'silent' || stop === 'tool' || stop === 'end') ? '[It ended without a text.]' : ''
}

function describeDeeds({ calls, more }: Deeds): string {
  if (calls.length === 0) return ''
  const named = calls.map(({ name, settlement }) => `${name} (${settlement})`).join(', ')
  return `[It called ${named}${more ? ' and more' : ''}.]`
}

/** The call settled before the child said how it ended. */
export function tellLate(draft: Draft, child: Child, { text, error, stop }: ChildEnd): void {
  const { callId, name, untrusted } = child
  const said = error ? `Error: ${error.message}` : text === '' ? `it ended: ${stop}` : text
  const preview = said.slice(0, wholeChars(said, RULES.noteChars))
  const outcome = error ? 'error' : 'ok'
  const short = preview.slice(0, wholeChars(preview, 200))
  emit(draft, { type: 'result-ignored', callId, reason: 'late', outcome, preview: short })
  if (child.isRewound) return
  const provenance = untrusted.length > 0 && ({ provenance: { trust: 'untrusted' } } as const)
  noteOutcome(draft, { callId, name, ...provenance }, 'finished after all', preview)
}

/** Nothing more will be read of the child. */
export function loseChild(draft: Draft, { callId, code, message }: InputOf<'child-lost'>): void {
  const child = findChild(draft.state, callId)
  if (!child) return
  const call = findCall(draft.state, callId)
  const why = `the session of the agent "${child.agent}" is lost: ${message}`
  if (call?.state === 'started') {
    const mayHaveActed = child.acts || child.acted
    if (mayHaveActed) settle(draft, call, { type: 'unknown', reason: 'executor-lost', message: why }, false)
    else settle(draft, call, { type: 'error', code: 'child_lost', message: why }, false)
  }
  closeRelayed(draft, callId)
  emit(draft, { type: 'child-lost', callId, code, message })
}

export function checkReport(state: State, input: InputOf<'child-reported'>): Refusal | undefined {
  const { callId, birth, from, to, report } = input
  const child = findChild(state, callId)
  if (!child) return undefined
  const refuse = (why: string): Refusal => ({ code: 'illegal_input', message: `${callId}: ${why}` })
  if (child.birth !== '' && birth !== child.birth) return refuse('the report is about another log')
  if (from !== child.pos && to > child.pos) return refuse(`its log was read up to ${child.pos}, not ${from}`)
  if (report.end?.stop === 'never' && child.phase !== 'ending') return refuse('it may still begin')
  return undefined
}
