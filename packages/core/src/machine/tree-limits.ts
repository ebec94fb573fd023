// Limits of a tree of sessions: its levels, its sessions, and what a turn and its children may spend.
import type { Draft } from './draft.ts'
import type { Settlement } from './fact.ts'
import type { Spec } from './spec.ts'
import { RULES } from './spec.ts'
import type { Call, State, Turn } from './state.ts'
import { isTask } from './state.ts'
import type { Grant, Spent } from './tree-values.ts'
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

export function planGrant(spec: Spec, state: State, call: Call): Grant {
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
  // A task may run for days: it leaves their parts to all that may begin meanwhile.
  const parts = isTask(call) ? slots : Math.min(waiting, slots)
  const share = Math.floor(freeSessions(spec, state) / Math.max(1, parts)) - 1
  const sessions = depth === 0 ? 0 : Math.max(0, Math.min(own.sessions ?? Infinity, share))
  return { ...left('tokens'), ...left('costMicros'), ...left('rounds'), ...left('calls'), depth, sessions }
}
