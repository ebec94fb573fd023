// A child's state: its place in the tree, and the totals that its parent reads.
import { listUntrusted } from '../messages.ts'
import { addSpent, subtractSpent } from './child-entries.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { Fact, FactOf } from './fact.ts'
import { RULES } from './spec.ts'
import type { Parent, State } from './state.ts'
import { findCall, findChild, mayHaveRun } from './state.ts'
import type { Deed, Spent } from './tree-values.ts'
import { NOTHING_SPENT } from './tree-values.ts'

/** Name of a child's client. */
export const PARENT = 'parent'

/** After a restart too: offers are made to it again. Delivery is the claim, and it has every client tool. */
export function attachParent(draft: Draft): void {
  const { clients, principal } = draft.state
  if (clients.some(({ connection }) => connection === PARENT)) return
  const can = { sequential: false, claims: false, reportsPlayback: false, asks: true }
  emit(draft, { type: 'client-attached', connection: PARENT, principal, ...can })
}

/** Whether nothing is left to do: its answer, or its end, is final. */
export function restsAsChild(state: State): boolean {
  const { turn, step, queue, children, tasks, counters, parent } = state
  const isQuiet = turn === null && step === null && queue.length === 0 && children.length === 0
  return isQuiet && tasks.length === 0 && (counters.turn > 0 || (parent !== null && parent.end !== null))
}

export type ParentFact = FactOf<'child-opened' | 'parent-told'>

export function applyParentFact(state: State, fact: ParentFact): State {
  if (fact.type === 'child-opened') {
    const { session, birth, callId, root, depth, tools } = fact
    const place = {
      session,
      birth,
      callId,
      root,
      depth,
      tools,
      pos: -1,
      mark: '',
      grant: null,
      end: null,
      finished: null,
    }
    const nothing = { spent: NOTHING_SPENT, acted: false, did: { calls: [] }, untrusted: [] }
    return { ...state, parent: { ...place, ...nothing } }
  }
  const { parent } = state
  if (!parent) return state
  const { to, mark = '', grant = parent.grant, end = parent.end } = fact
  return { ...state, parent: { ...parent, pos: to, mark, grant, end } }
}

/** Adds a fact to the totals that the parent reads. `before`: the state that the fact was applied to. */
export function countFact(before: State, after: State, fact: Fact): State {
  const { parent } = after
  const said = parent && readTotals(before, parent, fact)
  return said ? { ...after, parent: { ...parent, ...said } } : after
}

function readTotals(before: State, parent: Parent, fact: Fact): Partial<Parent> | undefined {
  switch (fact.type) {
    case 'step-finished': {
      const own = fact.calls.filter(({ answer }) => !answer).length
      const spent = { ...readUsage(fact), rounds: own > 0 ? 1 : 0, calls: own }
      const untrusted = listUntrusted([{ role: 'assistant', parts: fact.parts }])
      return {
        spent: addSpent(parent.spent, spent),
        ...(untrusted.length > 0 && { untrusted: join(parent, untrusted) }),
      }
    }
    case 'turn-started':
      return { finished: null }
    case 'turn-finished': {
      const { outcome, error } = fact
      return { finished: { outcome, ...(error && { error: { code: error.code, message: error.message } }) } }
    }
    case 'model-used':
    case 'summary-finished':
      return { spent: addSpent(parent.spent, readUsage(fact)) }
    case 'child-reported': {
      const known = findChild(before, fact.callId)?.spent ?? NOTHING_SPENT
      const spent = addSpent(parent.spent, subtractSpent(fact.spent, known))
      return { spent, acted: parent.acted || fact.acted, untrusted: join(parent, fact.untrusted) }
    }
    case 'child-closed':
      return { did: addDeeds(parent, fact.did.calls, fact.did.more) }
    case 'child-lost':
      return { acted: parent.acted || findChild(before, fact.callId)?.acts === true }
    case 'input-accepted':
      if (fact.body.type !== 'user' || !fact.body.untrusted) return undefined
      return { untrusted: join(parent, fact.body.untrusted) }
    case 'note-queued':
      return fact.untrusted === undefined ? undefined : { untrusted: join(parent, [fact.untrusted]) }
    case 'call-started': {
      const call = findCall(before, fact.callId)
      return call && call.runs !== 'child' && call.effect !== 'pure' ? { acted: true } : undefined
    }
    case 'call-settled':
      return fact.via === undefined && !fact.task ? readSettled(before, parent, fact) : undefined
    case 'task-settled':
      return readSettled(before, parent, fact)
    default:
      return undefined
  }
}

function readUsage({ usage }: FactOf<'step-finished' | 'model-used' | 'summary-finished'>): Spent {
  const { inputTokens = 0, outputTokens = 0, costMicros = 0 } = usage
  return { ...NOTHING_SPENT, tokens: inputTokens + outputTokens, costMicros }
}

function readSettled(
  before: State,
  parent: Parent,
  fact: FactOf<'call-settled' | 'task-settled'>,
): Partial<Parent> | undefined {
  const call = findCall(before, fact.callId)
  if (!call) return undefined
  const provenance = fact.provenance ?? call.provenance
  const taint = provenance?.trust === 'untrusted' && { untrusted: join(parent, [call.name]) }
  const { settlement } = fact
  const isUnbegun = (settlement.type === 'cancelled' || settlement.type === 'timed-out') && !settlement.begun
  const hasActed =
    call.effect !== 'pure' && call.runs !== 'child' && !isUnbegun && (mayHaveRun(call) || call.mayHaveActed)
  if (!hasActed) return taint || undefined
  const deed: Deed = { callId: call.callId, name: call.name, settlement: settlement.type }
  return { ...taint, acted: true, did: addDeeds(parent, [deed]) }
}

function addDeeds({ did }: Parent, more: readonly Deed[], isMore?: true): Parent['did'] {
  const calls = [...did.calls, ...more]
  const isCut = calls.length > RULES.deeds || did.more === true || isMore === true
  return { calls: calls.slice(0, RULES.deeds), ...(isCut && { more: true as const }) }
}

function join({ untrusted }: Parent, more: readonly string[]): readonly string[] {
  return more.every((name) => untrusted.includes(name)) ? untrusted : [...new Set([...untrusted, ...more])]
}
