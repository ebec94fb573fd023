// The fold: the effect of each fact on the state. It holds no policy and changes only with a format version.
import type { Fact, FactOf } from './fact.ts'
import { isCallFact } from './fact.ts'
import type { SessionRecord } from './record.ts'
import type { State, Turn } from './state.ts'
import { inputAccepted, inputWithdrawn, noteQueued } from './queue.ts'
import { applyCallFact } from './calls.ts'
import type { ChildFact } from './child-entries.ts'
import { applyChildFact, noteRewound, noteTold } from './child-entries.ts'
import { applyClientFact } from './clients.ts'
import type { ParentFact } from './parent-state.ts'
import { applyParentFact, countFact } from './parent-state.ts'
import type { RelayedFact } from './relayed-entries.ts'
import { applyRelayedFact } from './relayed-entries.ts'
import { applyHistoryFact } from './window.ts'
import { forgetRewound, taskCancelled } from './task-entries.ts'
import { applyReminderFact } from './reminders.ts'
import type { TurnFact } from './turn.ts'
import { applyTurnFact } from './turn.ts'

/** Folds one record. The caller has checked that it follows the state (see `followRecord`). */
export function applyRecord(state: State, record: SessionRecord): State {
  const fold = state.parent === null ? apply : applyInChild
  return record.facts.reduce(fold, beginRecord(state, record.pos, record.nowMs, record.epoch))
}

/** The state in which a record's facts are decided and folded: it already has the record's position and time. */
export function beginRecord(state: State, pos: number, nowMs: number, epoch: number): State {
  return { ...state, pos, nowMs: Math.max(state.nowMs, nowMs), epoch }
}

/** Folds one fact. */
export function apply(state: State, fact: Fact): State {
  switch (fact.type) {
    case 'session-opened':
      return opened(state, fact)
    case 'agent-changed':
      return { ...state, specHash: fact.specHash, agent: fact.agent ?? state.agent }
    case 'model-set':
      return { ...state, model: fact.model, turn: state.turn && withModel(state.turn, fact.model) }
    case 'settings-set':
      return { ...state, settings: fact.settings ?? {} }
    case 'input-withdrawn':
      return inputWithdrawn(state, fact)
    case 'session-described':
      return { ...state, title: fact.title === undefined ? state.title : fact.title, meta: fact.meta ?? state.meta }
    case 'session-paused':
      return { ...noteTold(state), phase: 'paused', attempt: null, retry: null, interrupting: null }
    case 'session-continued':
      return { ...noteTold(state), phase: state.turn === null ? 'idle' : state.step === null ? 'modelling' : 'calling' }
    case 'session-stopped':
      return { ...state, phase: 'stopped' }
    case 'session-started':
      return { ...state, phase: 'idle' }
    case 'client-tools-set':
    case 'client-tools-dropped':
    case 'client-attached':
    case 'client-renewed':
    case 'client-detached':
    case 'host-restarted':
      return applyClientFact(state, fact)
    case 'display-written':
      return { ...state, displayedTurn: fact.turn, displayedChars: fact.chars ?? null }
    case 'input-accepted':
      return inputAccepted(state, fact)
    case 'batch-flushed':
      return { ...state, batch: null, queue: state.queue.map((item) => (item.ready ? item : { ...item, ready: true })) }
    case 'note-queued':
      return noteQueued(state, fact)
    case 'reminder-set':
    case 'reminder-cancelled':
    case 'reminder-passed':
      return applyReminderFact(state, fact)
    case 'result-ignored':
    case 'grace-started':
      return applyCallFact(state, fact)
    case 'inputs-entered':
    case 'step-closed':
    case 'window-moved':
    case 'results-moved':
    case 'summary-started':
    case 'summary-finished':
    case 'summary-failed':
    case 'answer-cut':
    case 'inputs-left-out':
      return applyHistoryFact(state, fact)
    case 'history-rewound':
      return forgetRewound(noteRewound(applyHistoryFact(state, fact), fact), fact)
    default:
      return isCallFact(fact) ? applyCallFact(state, fact) : applyTreeFact(state, fact)
  }
}

type TreeFact = ChildFact | RelayedFact | ParentFact | TurnFact | FactOf<'task-cancelled' | 'wakes-held' | 'plan-set'>

function applyTreeFact(state: State, fact: TreeFact): State {
  switch (fact.type) {
    case 'child-begun':
    case 'child-reported':
    case 'child-ending':
    case 'child-lost':
    case 'child-closed':
    case 'decision-ignored':
      return applyChildFact(state, fact)
    case 'request-relayed':
    case 'request-withdrawn':
      return applyRelayedFact(state, fact)
    case 'task-cancelled':
      return taskCancelled(state, fact)
    case 'wakes-held':
    // The plan is for people; nothing is decided by it.
    case 'plan-set':
      return state
    case 'child-opened':
    case 'parent-told':
      return applyParentFact(state, fact)
    default:
      return applyTurnFact(state, fact)
  }
}

/** Folds one fact of a child, and counts it for its parent. */
export function applyInChild(state: State, fact: Fact): State {
  return countFact(state, apply(state, fact), fact)
}

function opened(state: State, fact: FactOf<'session-opened'>): State {
  const { session, birth, principal, agent, specHash } = fact
  return { ...state, session, birth, principal, agent, specHash, createdMs: state.nowMs }
}

/** The running turn's next step uses the new model; the others stay as fallbacks. */
function withModel(turn: Turn, model: string): Turn {
  const models = [model, ...turn.models.filter((other) => other !== model)]
  return { ...turn, models, candidate: 0, failures: 0 }
}
