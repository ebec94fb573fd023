// Policy: the outcome of an input in a state. One table lookup, one row, then everything that follows from it.
import { advance } from './advance.ts'
import { apply, applyInChild, beginRecord } from './apply.ts'
import type { SeenInputs } from './check.ts'
import { checkNew, seenAt } from './check.ts'
import { setClocks } from './calls.ts'
import type { Draft } from './draft.ts'
import type { State } from './state.ts'
import { findCall, initialState } from './state.ts'
import type { AwaitedEffect, Effect } from './effect.ts'
import { effectKey, effectsBetween, isWithdrawing, outstanding } from './effect.ts'
import type { Fact, FactOf } from './fact.ts'
import type { Accepted, Input, InputOf, InputType, LostWork, Refused } from './input.ts'
import type { Refusal } from '../errors.ts'
import type { InputEnvelope, SessionRecord } from './record.ts'
import { FORMAT_VERSION } from './record.ts'
import * as calls from './calls.ts'
import * as control from './control.ts'
import * as inputs from './queue.ts'
import * as interrupts from './interrupt.ts'
import * as models from './answer.ts'
import * as people from './people.ts'
import * as children from './children.ts'
import * as parents from './parent.ts'
import * as reminders from './reminders.ts'
import * as tasks from './task-tools.ts'
import type { Spec } from './spec.ts'
import type { Action } from './table.ts'
import { SESSION_TABLE } from './table.ts'

export type Decision =
  | {
      readonly type: 'decided'
      /** Empty if nothing happened: there is nothing to commit. */
      readonly facts: readonly Fact[]
      /** Performed after the facts are committed. */
      readonly effects: readonly Effect[]
      readonly state: State
      /** Position at which an input with the same id was accepted before. */
      readonly seenAt?: number
    }
  | { readonly type: 'refused'; readonly refusal: Refusal }

/** Decides one input at `nowMs`. Pure: the same arguments always give the same decision. */
export function decide(spec: Spec, state: State, input: Input, nowMs: number): Decision {
  return decideUnless(seenAt(state, input), { spec, state, nowMs }, input)
}

/** @param seen position at which the input was accepted before */
function decideUnless(
  seen: number | undefined,
  { spec, state, nowMs }: Pick<BatchStart, 'spec' | 'state' | 'nowMs'>,
  input: Input,
): Decision {
  if (seen !== undefined) return { type: 'decided', facts: [], effects: [], state, seenAt: seen }
  const now = beginRecord(state, state.pos + 1, nowMs, state.epoch)
  const refusal = checkNew(spec, now, input)
  if (refusal) return { type: 'refused', refusal }
  const cell = SESSION_TABLE[input.type][state.phase]
  if (!('action' in cell)) return { type: 'decided', facts: [], effects: [], state }
  const draft: Draft = { spec, state: now, facts: [], fold: now.parent === null ? apply : applyInChild }
  const row = ROWS[cell.action] as (draft: Draft, input: Input) => void // the table pairs each action with its input
  row(draft, input)
  advance(draft)
  setClocks(draft)
  if (draft.facts.length === 0) return { type: 'decided', facts: [], effects: [], state }
  const effects = effectsBetween(state, draft.state, answeredBy(state, input))
  return { type: 'decided', facts: draft.facts, effects, state: draft.state }
}

type Row<Type extends InputType> = (draft: Draft, input: InputOf<Type>) => void

const ROWS = {
  'accept-input': inputs.acceptInput satisfies Row<'user-input'>,
  'accept-transcript': inputs.acceptTranscript satisfies Row<'transcript'>,
  'accept-urgent': inputs.acceptUrgent satisfies Row<'urgent-event'>,
  interrupt: interrupts.interrupt satisfies Row<'interrupt'>,
  'cancel-call': tasks.cancelCall satisfies Row<'cancel-call'>,
  rewind: inputs.rewind satisfies Row<'rewind'>,
  'set-model': control.setModel satisfies Row<'set-model'>,
  'set-settings': control.setSettings satisfies Row<'set-settings'>,
  withdraw: inputs.withdraw satisfies Row<'withdraw'>,
  describe: control.describe satisfies Row<'describe'>,
  pause: control.pause satisfies Row<'pause'>,
  continue: control.continueSession satisfies Row<'continue'>,
  stop: control.stop satisfies Row<'stop'>,
  start: control.start satisfies Row<'start'>,
  'decide-approval': people.decideApproval satisfies Row<'approval'>,
  attach: control.attach satisfies Row<'client-attached'>,
  detach: control.detach satisfies Row<'client-detached'>,
  'set-client-tools': control.setClientTools satisfies Row<'client-tools'>,
  'take-client-result': calls.takeClientResult satisfies Row<'tool-result'>,
  'claim-call': calls.claimCall satisfies Row<'call-claimed'>,
  'reach-call': calls.reachCall satisfies Row<'call-reached'>,
  'return-offer': calls.returnOffer satisfies Row<'offer-failed'>,
  'note-display': control.noteDisplay satisfies Row<'display-written'>,
  'finish-step': models.finishStep satisfies Row<'model-finished'>,
  'finish-interrupt': interrupts.finishInterrupt satisfies Row<'model-stopped'>,
  'fail-attempt': models.failAttempt satisfies Row<'model-failed'>,
  'ignore-answer': models.ignoreAnswer satisfies Row<'model-finished'>,
  'note-progress': models.noteProgress satisfies Row<'attempt-progress'>,
  'finish-summary': models.finishSummary satisfies Row<'summary-finished'>,
  'fail-summary': models.failSummary satisfies Row<'summary-failed'>,
  'set-plan': calls.setPlan satisfies Row<'plan-set'>,
  'note-use': calls.noteUse satisfies Row<'model-used'>,
  'ask-question': people.askQuestion satisfies Row<'question-asked'>,
  'answer-question': people.answerQuestion satisfies Row<'question-answer'>,
  'take-tool-result': calls.takeToolResult satisfies Row<'tool-finished'>,
  'fire-timer': control.fireTimer satisfies Row<'timer-fired'>,
  recover: control.recover satisfies Row<'host-restarted'>,
  'lose-work': control.loseWork satisfies Row<'work-lost'>,
  'change-agent': control.changeAgent satisfies Row<'agent-changed'>,
  'set-reminder': reminders.setReminder satisfies Row<'set-reminder'>,
  'cancel-reminder': reminders.cancelReminder satisfies Row<'cancel-reminder'>,
  'pass-reminder': reminders.passReminder satisfies Row<'reminder-due'>,
  'take-report': children.takeReport satisfies Row<'child-reported'>,
  'lose-child': children.loseChild satisfies Row<'child-lost'>,
  'take-told': parents.takeTold satisfies Row<'parent-told'>,
} as const satisfies Record<Action, unknown>

/** Key of the awaited effect that this input answers, which is not withdrawn. */
function answeredBy(state: State, input: Input): string | undefined {
  switch (input.type) {
    case 'model-finished':
    case 'model-failed':
      return `call-model:${input.attempt}`
    case 'summary-finished':
    case 'summary-failed':
      return `summarise:${input.attempt}`
    case 'work-lost':
      return lostKey(state, input.work)
    case 'tool-finished':
      return `run-tool:${input.callId}:${input.attempt}`
    case 'tool-result': {
      const offer = findCall(state, input.callId)?.offer
      return offer?.connection === input.connection ? `offer-call:${input.callId}:${offer.number}` : undefined
    }
    case 'timer-fired':
      return `set-timer:${input.timer}:${input.generation}`
    case 'approval':
      return `ask-approval:${input.approvalId}`
    case 'question-answer':
      return `ask-question:${input.questionId}`
    default:
      return undefined
  }
}

/** Dead work needs no abort. */
function lostKey(state: State, work: LostWork): string {
  if (work.type === 'tool') return `run-tool:${work.callId}:${work.attempt}`
  return `${state.attempt?.purpose === 'summary' ? 'summarise' : 'call-model'}:${work.attempt}`
}

export interface DecidedBatch {
  readonly state: State
  readonly records: readonly SessionRecord[]
  /** Effects to perform once the records are stored. */
  readonly effects: readonly Effect[]
  /** One answer per input, in order. */
  readonly answers: readonly (Accepted | Refused)[]
}

export interface BatchStart {
  readonly spec: Spec
  readonly state: State
  readonly nowMs: number
  /** Wall-clock time, which may have been changed; `nowMs` by default. */
  readonly wallMs?: number
  /** Index of the inputs that this session has seen, for a host that decides one after another. */
  readonly seen?: SeenInputs
  /** A batch that is not stored yet: the new one includes it, and begins at its state. */
  readonly begun?: DecidedBatch | undefined
}

/** Maximum remembered ids to compare one by one. */
const LISTED_MAX = 16

/** Difference in milliseconds from which a record also stores the wall clock. */
const APART_MS = 1000

/** Decides several inputs in sequence, as one commit. An effect that a later input withdraws is never started. */
export function decideBatch(
  { spec, state: before, nowMs, wallMs = nowMs, seen, begun }: BatchStart,
  inputs: readonly Input[],
): DecidedBatch {
  const records: SessionRecord[] = begun ? [...begun.records] : []
  const answers: (Accepted | Refused)[] = begun ? [...begun.answers] : []
  let effects: readonly Effect[] = begun?.effects ?? []
  let state = begun?.state ?? before
  for (const input of inputs) {
    const { turn } = state
    const isIndexed = seen && state.recentInputs.length > LISTED_MAX
    const known = isIndexed ? seen.find(state, input) : seenAt(state, input)
    const decision = decideUnless(known, { spec, state, nowMs }, input)
    if (decision.type === 'refused') {
      answers.push({ type: 'refused', ...decision.refusal })
      continue
    }
    if (decision.facts.length > 0) {
      const record = makeRecord(input, decision)
      const isApart = Math.abs(wallMs - record.nowMs) >= APART_MS
      const isReminded = state.reminders.length + decision.state.reminders.length > 0
      const dueMs = isReminded ? reminders.findDue(decision.state) : null
      const isOtherDue = isReminded && dueMs !== reminders.findDue(state)
      records.push(
        isApart || isOtherDue ? { ...record, ...(isApart && { wallMs }), ...(isOtherDue && { dueMs }) } : record,
      )
      effects = effects.length === 0 ? decision.effects : effects.concat(decision.effects)
      state = decision.state
    }
    const pos = decision.seenAt ?? state.pos
    const tells = input.type === 'call-claimed' || input.type === 'interrupt'
    answers.push({ type: 'accepted', pos, ...(tells && describeDecision(input, decision, turn)) })
  }
  return { state, records, answers, effects: records.length < 2 ? effects : keepOwed(effects, outstanding(state)) }
}

/** The part of an input's outcome that its sender cannot see otherwise. */
function describeDecision(
  input: Input,
  { facts }: { readonly facts: readonly Fact[] },
  turn: State['turn'],
): Pick<Accepted, 'again' | 'ended'> | undefined {
  if (input.type === 'call-claimed' && facts.length === 0) return { again: true }
  return input.type === 'interrupt' && facts.length > 0 && turn ? { ended: turn.turn } : undefined
}

function keepOwed(effects: readonly Effect[], owed: readonly AwaitedEffect[]): readonly Effect[] {
  const keys = new Set(owed.map(effectKey))
  return effects.filter((effect) => isWithdrawing(effect) || keys.has(effectKey(effect)))
}

export interface Opening {
  readonly session: string
  /** Letters and digits unique to this log among the session's logs; empty if a log is never restarted. */
  readonly birth?: string
  /** The principal who owns the session; empty if it is not checked. */
  readonly principal?: string
  readonly spec: Spec
  readonly nowMs: number
  readonly epoch: number
  /** For a child: its parent, and its place in the tree. */
  readonly child?: Omit<FactOf<'child-opened'>, 'type'>
}

/** The first record of a session. */
export function openSession(opening: Opening): SessionRecord {
  const { session, birth = '', principal = '', spec, nowMs, epoch, child } = opening
  const opened: Fact = { type: 'session-opened', session, birth, principal, agent: spec.agent, specHash: spec.hash }
  const { pos } = initialState(session)
  const facts: readonly Fact[] = child ? [opened, { type: 'child-opened', ...child }] : [opened]
  return { version: FORMAT_VERSION, pos: pos + 1, nowMs, epoch, input: { type: 'session-opened' }, facts }
}

/** The record of a decision, as committed. */
export function makeRecord(
  input: Input,
  decided: { readonly state: State; readonly facts: readonly Fact[] },
): SessionRecord {
  const { pos, nowMs, epoch } = decided.state
  return { version: FORMAT_VERSION, pos, nowMs, epoch, input: makeEnvelope(input), facts: decided.facts }
}

function makeEnvelope(input: Input): InputEnvelope {
  if (input.type === 'work-lost') {
    const { attempt } = input.work
    return { type: input.type, ...(input.work.type === 'tool' && { callId: input.work.callId }), attempt }
  }
  const envelope: { -readonly [Field in keyof InputEnvelope]: InputEnvelope[Field] } = { type: input.type }
  if ('inputId' in input) envelope.inputId = input.inputId
  if ('callId' in input) envelope.callId = input.callId
  if ('attempt' in input) envelope.attempt = input.attempt
  if ('connection' in input) envelope.connection = input.connection
  return envelope
}
