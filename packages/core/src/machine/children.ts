// A parent's side of a delegated call: its child begins, reports, has to end, and is closed. The entry in `State.children` stands
// as long as the child's log may say something, even after the call has settled; the host reads and tells while it stands.
import type { Provenance } from '../messages.ts'
import type { Refusal } from '../errors.ts'
import { boundOutcome, noteOutcome, settle } from './calls.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { FactOf, Settlement } from './fact.ts'
import type { InputOf } from './input.ts'
import { closeRelayed, endRelayed, leaveEnded, relay, withdrawClosed } from './relayed.ts'
import { wholeChars } from './size.ts'
import type { Spec } from './spec.ts'
import { RULES } from './spec.ts'
import type { Call, Child, State, Turn } from './state.ts'
import { canAsk, findCall, findChild } from './state.ts'
import type { CallEvent } from './table.ts'
import type { ChildEnd, ChildReport, Deeds, Grant, Spent } from './tree-values.ts'
import { NOTHING_SPENT } from './tree-values.ts'

/** The most that a session and everything below it may use: the least of its agent's limits and of what its parent granted. */
export function treeLimits({ limits }: Spec, { parent }: State): Required<Grant> {
  const { depth = Infinity, sessions = Infinity, tokens = Infinity } = parent?.grant ?? {}
  const { costMicros = Infinity, rounds = Infinity, calls = Infinity } = parent?.grant ?? {}
  return {
    depth: Math.min(depth, limits.treeDepth ?? RULES.treeDepth),
    sessions: Math.min(sessions, limits.treeSessions ?? RULES.treeSessions),
    tokens: Math.min(tokens, limits.turnTokens),
    costMicros: Math.min(costMicros, limits.turnCostMicros),
    rounds: Math.min(rounds, limits.treeRounds ?? RULES.treeRounds),
    calls: Math.min(calls, limits.treeCalls ?? RULES.treeCalls),
  }
}

/** Steps with calls and calls of a turn, with those of its children. */
export function countBelow({ rounds, calls, below }: Turn): Pick<Spent, 'rounds' | 'calls'> {
  return { rounds: rounds + (below?.rounds ?? 0), calls: calls + (below?.calls ?? 0) }
}

/** Whether the limits of a tree bind a turn: it has children, or is a child's. */
export function isInTree({ parent }: State, turn: Turn): boolean {
  return parent !== null || turn.below !== undefined
}

/** Children that the session may still open, counting the shares of the open ones. */
function freeSessions(spec: Spec, state: State): number {
  const taken = state.children.reduce((sum, { grant }) => sum + 1 + grant.sessions, 0)
  return treeLimits(spec, state).sessions - taken
}

/** Whether another child may begin now; else its call waits until one is closed. */
export function mayBeginChild(spec: Spec, state: State): boolean {
  const most = spec.limits.children ?? RULES.children
  return state.children.length < most && freeSessions(spec, state) >= 1
}

/** Why no call of a delegating tool can ever begin here. */
export function explainNoChild({ spec, state }: Draft, name: string): Settlement | undefined {
  const { depth, sessions } = treeLimits(spec, state)
  if (depth < 1)
    return {
      type: 'error',
      code: 'delegation_too_deep',
      message: `"${name}" would begin another agent, and this one is on the last level; do the task without it`,
    }
  if (sessions >= 1) return undefined
  const message = `"${name}" would begin another agent, and none is left for this one; do the task without it`
  return { type: 'denied', code: 'too_many_children', message }
}

/** Commits that a child is owed. Calls that wait beside this one get equal shares of what is left. */
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
    asks: state.parent !== null || state.turn?.asks === true,
    acts,
  })
}

function planGrant(spec: Spec, state: State, call: Call): Grant {
  const { turn, step } = state
  const most = treeLimits(spec, state)
  const used: Spent = turn ? { ...turn, ...countBelow(turn) } : NOTHING_SPENT
  const own = call.delegate?.limits ?? {}
  const left = (name: keyof Spent): { readonly [Name in keyof Spent]?: number } => {
    const least = Math.min(own[name] ?? Infinity, Math.max(0, most[name] - used[name]))
    return Number.isSafeInteger(least) && least < Number.MAX_SAFE_INTEGER ? { [name]: least } : {}
  }
  const depth = most.depth - 1
  const waiting = step?.calls.filter(({ runs, state: at }) => runs === 'child' && at === 'ready').length ?? 0
  const slots = (spec.limits.children ?? RULES.children) - state.children.length
  const share = Math.floor(freeSessions(spec, state) / Math.max(1, Math.min(waiting, slots))) - 1
  const sessions = depth === 0 ? 0 : Math.max(0, Math.min(own.sessions ?? Infinity, share))
  return { ...left('tokens'), ...left('costMicros'), ...left('rounds'), ...left('calls'), depth, sessions }
}

/** The child is told to end; what it asks is withdrawn. Its call settles by what it reports, or at the end of its time. */
export function endChild(draft: Draft, callId: string, reason: string): void {
  const child = findChild(draft.state, callId)
  if (!child || child.phase === 'ending') return
  const untilMs = draft.state.nowMs + RULES.childEndMs * (child.grant.depth + 1)
  emit(draft, { type: 'child-ending', callId, reason, untilMs })
  endRelayed(draft, callId)
}

/** The step must close in this record: the call settles without its child, which is told to end. */
export function settleWithout(draft: Draft, call: Call, event: CallEvent): void {
  endChild(draft, call.callId, event)
  const child = findChild(draft.state, call.callId)
  settle(draft, call, describeUnheard(child, event), true)
}

/** Nothing is called undone that may have been done: the child has not said how it ended. */
function describeUnheard(child: Child | undefined, reason: string): Settlement {
  if (!child || child.acts || child.acted) return { type: 'unknown', reason }
  return isTimeUp(reason) ? { type: 'timed-out', reason } : { type: 'cancelled', reason }
}

function isTimeUp(reason: string): boolean {
  return reason === 'deadline' || reason === 'turn-over'
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

/** The reason of a child whose tool was removed: nothing can open its session. */
export const AGENT_GONE = 'tool-gone'

/** A repeat, or a report of a child that is closed, has no effect. */
export function takeReport(draft: Draft, { callId, birth, from, to, report }: InputOf<'child-reported'>): void {
  const child = findChild(draft.state, callId)
  if (!child || child.pos !== from) return
  const { spent, acted, waits, untrusted } = report
  const named = child.birth === '' && { birth }
  emit(draft, { type: 'child-reported', callId, ...named, to, spent, acted, waits, untrusted })
  withdrawClosed(draft, callId, report.closed)
  leaveEnded(draft, callId, report.ended)
  for (const request of report.requests) relay(draft, callId, request)
  if (report.end) closeChild(draft, callId, report, report.end)
  else endOverspent(draft)
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
  const { report } = ended
  const settlement = describeEnded(draft, ended)
  const provenance: Provenance | undefined = report.untrusted.length > 0 ? { trust: 'untrusted' } : undefined
  const words = [describeStop(ended.end), settlement.type === 'ok' ? '' : describeDeeds(report.did)]
  const detail = words.filter((said) => said !== '').join(' ')
  emit(draft, {
    type: 'call-settled',
    callId: call.callId,
    settlement,
    tellLate: false,
    ...(provenance && call.provenance?.trust !== 'untrusted' && { provenance }),
    ...(detail !== '' && { detail }),
  })
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
function isKnown({ calls, more }: Deeds): boolean {
  return !more && calls.length > 0 && calls.every(({ settlement }) => settlement === 'ok' || settlement === 'error')
}

function describeStop({ stop, text }: ChildEnd): string {
  if (stop === 'max-tokens') return '[The answer was cut at the output limit of the model.]'
  return text === '' && (stop === 'silent' || stop === 'tool' || stop === 'end') ? '[It ended without a text.]' : ''
}

function describeDeeds({ calls, more }: Deeds): string {
  if (calls.length === 0) return ''
  const named = calls.map(({ name, settlement }) => `${name} (${settlement})`).join(', ')
  return `[It called ${named}${more ? ' and more' : ''}.]`
}

/** The call settled before the child said how it ended. */
function tellLate(draft: Draft, child: Child, { text, error, stop }: ChildEnd): void {
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

/** Whether a child's call waits for people alone; calls that run at a client count as work. */
function waitsForOthers({ relayed }: State, { callId, waits }: Child): boolean {
  if (!waits) return false
  return !relayed.some(({ via, call }) => via === callId && call && isAtWork(call))
}

function isAtWork({ state, clock }: Call): boolean {
  return state !== 'settled' && state !== 'ready' && clock.mode !== 'away'
}

/** Whether the clock of a child's call stands: it waits for people, or has to end and has a timer for that. */
export function holdsClock(state: State, callId: string): boolean {
  const child = findChild(state, callId)
  return !child || child.phase === 'ending' || waitsForOthers(state, child)
}

/** Whether a started call waits for people through its child. */
export function waitsThrough(state: State, callId: string): boolean {
  const child = findChild(state, callId)
  return child !== undefined && child.phase !== 'ending' && waitsForOthers(state, child)
}

/** After a restart, the time of a child's call goes on where it stood. */
export function prolongChild(draft: Draft, { callId, clock }: Call, downMs: number): void {
  if (!clock.deadline || downMs <= 0) return
  const { mode, awayRemainingMs, graces } = clock
  const deadlineMs = clock.deadline.atMs + downMs
  const remainingMs = Math.max(0, deadlineMs - draft.state.nowMs)
  emit(draft, { type: 'call-clock-set', callId, mode, deadlineMs, remainingMs, awayRemainingMs, graces })
}

/** Children of the exchanges that a rewind removes: no model learns of them. */
export function endRewound(draft: Draft, exchange: number): void {
  for (const child of draft.state.children) if (child.exchange >= exchange) endChild(draft, child.callId, 'rewind')
}

export type ChildFact = FactOf<
  'child-begun' | 'child-reported' | 'child-ending' | 'child-lost' | 'child-closed' | 'decision-ignored'
>

export function applyChildFact(state: State, fact: ChildFact): State {
  switch (fact.type) {
    case 'child-begun':
      return begun(state, fact)
    case 'child-reported':
      return reported(state, fact)
    case 'child-ending': {
      const deadline = { atMs: fact.untilMs, generation: state.pos }
      const call = findCall(state, fact.callId)
      const isAwaited = call?.state === 'started'
      return changeChild(state, fact.callId, (child) => ({
        ...child,
        phase: 'ending',
        reason: fact.reason,
        told: state.pos,
        deadline: isAwaited || fact.reason === AGENT_GONE ? deadline : null,
      }))
    }
    case 'child-lost':
    case 'child-closed':
      return { ...state, children: state.children.filter(({ callId }) => callId !== fact.callId) }
    case 'decision-ignored':
      return state
    default:
      return fact satisfies never
  }
}

function begun(state: State, fact: FactOf<'child-begun'>): State {
  const { callId, agent, grant, asks, acts } = fact
  const { turn, step, pos } = state
  const call = findCall(state, callId)
  const child: Child = {
    callId,
    name: call?.name ?? '',
    agent,
    phase: 'opening',
    began: pos,
    pos: -1,
    told: pos,
    birth: '',
    turn: turn?.turn ?? 0,
    exchange: step?.exchange ?? 0,
    spent: NOTHING_SPENT,
    acted: false,
    waits: false,
    untrusted: [],
    asks,
    acts,
    grant,
    reason: '',
    deadline: null,
    isRewound: false,
  }
  // The child has its task from now on.
  const calls = step?.calls.map((one) => (one.callId === callId ? withoutTask(one) : one))
  return { ...state, ...(step && calls && { step: { ...step, calls } }), children: [...state.children, child] }
}

function withoutTask(call: Call): Call {
  const { delegate: _, ...rest } = call
  return rest
}

function reported(state: State, fact: FactOf<'child-reported'>): State {
  const { callId, to, spent, acted, waits, untrusted } = fact
  const child = findChild(state, callId)
  if (!child) return state
  const next = changeChild(state, callId, (one) => ({
    ...one,
    phase: one.phase === 'ending' ? one.phase : 'running',
    pos: to,
    birth: fact.birth ?? one.birth,
    spent,
    acted,
    waits,
    untrusted,
  }))
  const { turn } = state
  if (!turn || turn.turn !== child.turn) return next
  const more = subtractSpent(spent, child.spent)
  const below = { rounds: (turn.below?.rounds ?? 0) + more.rounds, calls: (turn.below?.calls ?? 0) + more.calls }
  const { tokens, costMicros } = addSpent({ ...NOTHING_SPENT, tokens: turn.tokens, costMicros: turn.costMicros }, more)
  return { ...next, turn: { ...turn, tokens, costMicros, below } }
}

export function addSpent(one: Spent, other: Spent): Spent {
  return {
    tokens: one.tokens + other.tokens,
    costMicros: one.costMicros + other.costMicros,
    rounds: one.rounds + other.rounds,
    calls: one.calls + other.calls,
  }
}

export function subtractSpent(one: Spent, other: Spent): Spent {
  return {
    tokens: one.tokens - other.tokens,
    costMicros: one.costMicros - other.costMicros,
    rounds: one.rounds - other.rounds,
    calls: one.calls - other.calls,
  }
}

export function changeChild(state: State, callId: string, change: (child: Child) => Child): State {
  const children = state.children.map((child) => (child.callId === callId ? change(child) : child))
  return { ...state, children }
}

/** The call has settled: nothing waits for its child any more, unless its agent is gone. */
export function unawaited(state: State, callId: string): State {
  if (!state.children.some((child) => child.callId === callId && child.deadline && child.reason !== AGENT_GONE))
    return state
  return changeChild(state, callId, (child) => ({ ...child, deadline: null }))
}

/** Something in this record is for a child, or for all. */
export function noteTold(state: State, callId?: string): State {
  if (state.children.length === 0) return state
  const { pos } = state
  const children = state.children.map((child) =>
    callId === undefined || child.callId === callId ? { ...child, told: pos } : child,
  )
  return { ...state, children }
}

/** The model of a removed exchange learns of nothing. */
export function noteRewound(state: State, exchange: number): State {
  if (!state.children.some((child) => child.exchange >= exchange)) return state
  const children = state.children.map((child) => (child.exchange >= exchange ? { ...child, isRewound: true } : child))
  return { ...state, children }
}

/** Whether a person or a client can be asked for a child at the root. */
export function canAskFor(state: State, callId: string): boolean {
  return findChild(state, callId)?.asks === true || canAsk(state)
}
