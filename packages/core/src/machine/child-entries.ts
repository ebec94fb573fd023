// Entries of children in a parent's state: their fold, and the clocks that depend on them.
import type { FactOf } from './fact.ts'
import type { Call, Child, State } from './state.ts'
import { canAsk, findCall, findChild, isTask } from './state.ts'
import type { Rewound } from './step-place.ts'
import { isRemoved, nextPlace, placeOf } from './step-place.ts'
import { changeTask } from './task-entries.ts'
import type { Spent } from './tree-values.ts'
import { NOTHING_SPENT } from './tree-values.ts'

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

/** The reason of a child whose tool was removed: nothing can open its session. */
export const AGENT_GONE = 'tool-gone'

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

/** Whether a child's call waits for people alone; calls that run at a client count as work. */
function waitsForOthers({ relayed }: State, { callId, waits }: Child): boolean {
  if (!waits) return false
  return !relayed.some(({ via, call }) => via === callId && call && isAtWork(call))
}

function isAtWork({ state, clock }: Call): boolean {
  return state !== 'settled' && state !== 'ready' && clock.mode !== 'away'
}

/** Whether the root can ask a person on behalf of a child. */
export function canAskFor(state: State, callId: string): boolean {
  return findChild(state, callId)?.asks === true || canAsk(state)
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

export function begun(state: State, fact: FactOf<'child-begun'>): State {
  const { callId, agent, grant, asks, acts } = fact
  const { turn, step, pos } = state
  const call = findCall(state, callId)
  const place = call && isTask(call) ? call.task : undefined
  const child: Child = {
    callId,
    name: call?.name ?? '',
    agent,
    phase: 'opening',
    began: pos,
    pos: -1,
    mark: '',
    told: pos,
    birth: '',
    turn: place?.turn ?? turn?.turn ?? 0,
    ...(place ? placeOf(place) : nextPlace(state)),
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
  // The child's log has the task.
  const children = [...state.children, child]
  if (place) return { ...changeTask(state, callId, withoutTask), children }
  const calls = step?.calls.map((one) => (one.callId === callId ? withoutTask(one) : one))
  return { ...state, ...(step && calls && { step: { ...step, calls } }), children }
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
    mark: fact.mark ?? (to === one.pos ? one.mark : ''),
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

export function changeChild(state: State, callId: string, change: (child: Child) => Child): State {
  const children = state.children.map((child) => (child.callId === callId ? change(child) : child))
  return { ...state, children }
}

/** The call has settled: its child has no deadline, unless its agent was removed. */
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

/** No model learns of a child whose call was removed. */
export function noteRewound(state: State, rewound: Rewound): State {
  if (!state.children.some((child) => isRemoved(child, rewound))) return state
  const children = state.children.map((child) => (isRemoved(child, rewound) ? { ...child, isRewound: true } : child))
  return { ...state, children }
}
