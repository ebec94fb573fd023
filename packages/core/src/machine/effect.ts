// Effects that the machine requests from its host, and the pure account of the outstanding ones.
import type { Call, Deadline, State } from './state.ts'

/** Effects that need an answer; each has a key. */
export type AwaitedEffect =
  | {
      readonly type: 'call-model'
      readonly attempt: number
      readonly step: number
      readonly model: string
      readonly fromEntry: number
      readonly toEntry: number
      /** `none`: the tool rounds are used up; the model is told to answer from what it has. */
      readonly choice: 'auto' | 'none'
      /** The answer was empty, and the model is asked once more. */
      readonly again: boolean
      /** Milliseconds for the first piece of its answer to arrive; absent: no limit. */
      readonly firstWordMs?: number
    }
  | { readonly type: 'summarise'; readonly attempt: number; readonly fromEntry: number; readonly toEntry: number }
  | { readonly type: 'run-tool'; readonly callId: string; readonly attempt: number }
  | { readonly type: 'offer-call'; readonly callId: string; readonly connection: string; readonly offer: number }
  | { readonly type: 'ask-approval'; readonly callId: string; readonly approvalId: string }
  | { readonly type: 'ask-question'; readonly callId: string; readonly questionId: string }
  /** The child of a delegated call is opened, and its log and this one are passed on to each other. */
  | { readonly type: 'run-child'; readonly callId: string }
  | { readonly type: 'set-timer'; readonly timer: string; readonly generation: number; readonly atMs: number }

/** Effects without an answer: each withdraws an awaited one. */
export type WithdrawingEffect =
  | { readonly type: 'abort-model' | 'abort-summary'; readonly attempt: number }
  | { readonly type: 'abort-tool'; readonly callId: string; readonly attempt: number }
  | { readonly type: 'withdraw-offer'; readonly callId: string; readonly connection: string; readonly offer: number }
  | { readonly type: 'withdraw-approval'; readonly callId: string; readonly approvalId: string }
  | { readonly type: 'withdraw-question'; readonly callId: string; readonly questionId: string }
  | { readonly type: 'leave-child'; readonly callId: string }
  | { readonly type: 'clear-timer'; readonly timer: string; readonly generation: number }

export type Effect = AwaitedEffect | WithdrawingEffect

export function isWithdrawing(effect: Effect): effect is WithdrawingEffect {
  const { type } = effect
  return type.startsWith('abort-') || type.startsWith('withdraw-') || type === 'leave-child' || type === 'clear-timer'
}

/**
 * Every effect that still waits for an answer. Recovery is: fold, then perform these.
 * @param other skips effects both states owe, judged by the identity of the call or wait
 */
export function outstanding(state: State, other?: State): readonly AwaitedEffect[] {
  const effects: AwaitedEffect[] = []
  const { attempt, phase } = state
  if (attempt && phase === 'modelling') {
    const { step, model, fromEntry, toEntry, choice, firstWordMs } = attempt
    const again = state.turn?.askedAgain ?? false
    const wait = firstWordMs === undefined ? {} : { firstWordMs }
    effects.push({
      type: 'call-model',
      attempt: attempt.attempt,
      step,
      model,
      fromEntry,
      toEntry,
      choice,
      again,
      ...wait,
    })
  }
  if (attempt && phase === 'summarising')
    effects.push({
      type: 'summarise',
      attempt: attempt.attempt,
      fromEntry: attempt.fromEntry,
      toEntry: attempt.toEntry,
    })
  // The effects of a call also depend on the attached clients.
  const beside = other?.clients === state.clients ? other : undefined
  const calls = beside?.step?.calls
  if (state.step?.calls !== calls)
    state.step?.calls.forEach((call, at) => {
      if (call !== calls?.[at]) pushCallEffects(effects, state, call)
    })
  if (state.tasks !== beside?.tasks)
    state.tasks.forEach((call, at) => {
      if (call !== beside?.tasks[at]) pushCallEffects(effects, state, call)
    })
  if (state.children !== other?.children) pushChildren(effects, state)
  if (state.relayed !== beside?.relayed && state.parent === null) pushRelayed(effects, state)
  const { turn, retry, interrupting, step, clients, batch } = state
  if (turn?.deadline && turn.deadline !== other?.turn?.deadline) pushTimer(effects, 'turn', turn.deadline)
  if (retry && retry !== other?.retry) pushTimer(effects, 'retry', retry)
  if (interrupting && interrupting !== other?.interrupting) pushTimer(effects, 'interrupt', interrupting.deadline)
  if (step?.grace && step.grace !== other?.step?.grace) pushTimer(effects, 'grace', step.grace)
  if (clients !== other?.clients)
    for (const { connection, lease } of clients) if (lease) pushTimer(effects, `lease:${connection}`, lease)
  if (batch && phase !== 'stopped') pushTimer(effects, 'batch', batch.deadline)
  return effects
}

/** Whether the death of its host loses anything of a session: a turn, a client, a queued input, or outstanding work. */
export function losesByRestart(state: State): boolean {
  const { turn, clients, queue } = state
  return turn !== null || clients.length > 0 || queue.length > 0 || outstanding(state).length > 0
}

function pushChildren(effects: AwaitedEffect[], { children }: State): void {
  for (const { callId, deadline } of children) {
    effects.push({ type: 'run-child', callId })
    if (deadline) pushTimer(effects, `child:${callId}`, deadline)
  }
}

function pushRelayed(effects: AwaitedEffect[], state: State): void {
  for (const { type, id, callId, deadline, call } of state.relayed) {
    if (call) pushCallEffects(effects, state, call)
    if (!deadline) continue
    if (type === 'approval') effects.push({ type: 'ask-approval', callId, approvalId: id })
    else effects.push({ type: 'ask-question', callId, questionId: id })
    pushTimer(effects, type === 'approval' ? `approval:${callId}` : `question:${id}`, deadline)
  }
}

/** A child's requests are read from its log: nothing is owed for them, and the root lets them expire. */
function pushCallEffects(effects: AwaitedEffect[], state: State, call: Call): void {
  const { callId, offer, approval, attempt } = call
  const isAsking = state.parent === null
  if (call.state === 'started' && call.runs !== 'child') {
    if (call.runs !== 'machine') effects.push({ type: 'run-tool', callId, attempt })
    if (call.deadline) pushTimer(effects, `call:${callId}`, call.deadline)
    for (const { id, deadline } of call.questions) {
      if (!deadline || !isAsking) continue
      effects.push({ type: 'ask-question', callId, questionId: id })
      pushTimer(effects, `question:${id}`, deadline)
    }
  }
  const isOffered = isAsking && (call.state === 'offered' || call.state === 'claimed')
  if (isOffered && offer && isAttached(state, offer.connection))
    effects.push({ type: 'offer-call', callId, connection: offer.connection, offer: offer.number })
  if (isAsking && call.state === 'awaiting-approval' && approval) {
    effects.push({ type: 'ask-approval', callId, approvalId: approval.id })
    pushTimer(effects, `approval:${callId}`, approval.deadline)
  }
  if (call.clock.deadline) pushTimer(effects, `call:${callId}`, call.clock.deadline)
}

function pushTimer(effects: AwaitedEffect[], timer: string, { generation, atMs }: Deadline): void {
  effects.push({ type: 'set-timer', timer, generation, atMs })
}

export function isAttached(state: State, connection: string): boolean {
  return state.clients.some((client) => client.connection === connection)
}

/** The key of an awaited effect: equal for the same debt, in any process. */
export function effectKey(effect: AwaitedEffect): string {
  switch (effect.type) {
    case 'call-model':
    case 'summarise':
      return `${effect.type}:${effect.attempt}`
    case 'run-tool':
      return `run-tool:${effect.callId}:${effect.attempt}`
    case 'offer-call':
      return `offer-call:${effect.callId}:${effect.offer}`
    case 'ask-approval':
      return `ask-approval:${effect.approvalId}`
    case 'ask-question':
      return `ask-question:${effect.questionId}`
    case 'run-child':
      return `run-child:${effect.callId}`
    case 'set-timer':
      return `set-timer:${effect.timer}:${effect.generation}`
    default:
      return effect satisfies never
  }
}

/**
 * Compares the effects that two states owe: starts the new ones and withdraws the others. Skips the effect that `answered`
 * names. Rows of the table do not list effects, so none can forget one.
 */
export function effectsBetween(before: State, after: State, answered: string | undefined): readonly Effect[] {
  const owed = outstanding(before, after)
  const owes = outstanding(after, before)
  const effects: Effect[] = []
  for (const effect of subtract(owed, owes))
    if (answered === undefined || effectKey(effect) !== answered) effects.push(withdrawing(effect))
  for (const effect of subtract(owes, owed)) effects.push(effect)
  return effects
}

/** Above this number of effects on both sides, they are compared by key. */
const COMPARED_MAX = 16

/** The effects that `others` lacks. */
function subtract(effects: readonly AwaitedEffect[], others: readonly AwaitedEffect[]): readonly AwaitedEffect[] {
  if (effects.length === 0 || others.length === 0) return effects
  if (Math.min(effects.length, others.length) <= COMPARED_MAX) {
    const left: AwaitedEffect[] = []
    for (const effect of effects) if (!includesEffect(others, effect)) left.push(effect)
    return left
  }
  const keys = new Set(others.map(effectKey))
  return effects.filter((effect) => !keys.has(effectKey(effect)))
}

function includesEffect(effects: readonly AwaitedEffect[], effect: AwaitedEffect): boolean {
  for (const other of effects) if (other.type === effect.type && isSameEffect(effect, other)) return true
  return false
}

/** Compares what their keys contain. */
function isSameEffect(one: AwaitedEffect, other: AwaitedEffect): boolean {
  switch (one.type) {
    case 'call-model':
    case 'summarise':
      return 'attempt' in other && one.attempt === other.attempt
    case 'run-tool':
      return other.type === one.type && one.attempt === other.attempt && one.callId === other.callId
    case 'offer-call':
      return other.type === one.type && one.offer === other.offer && one.callId === other.callId
    case 'ask-approval':
      return other.type === one.type && one.approvalId === other.approvalId
    case 'ask-question':
      return other.type === one.type && one.questionId === other.questionId
    case 'run-child':
      return other.type === one.type && one.callId === other.callId
    case 'set-timer':
      return other.type === one.type && one.generation === other.generation && one.timer === other.timer
    default:
      return one satisfies never
  }
}

function withdrawing(effect: AwaitedEffect): WithdrawingEffect {
  switch (effect.type) {
    case 'call-model':
      return { type: 'abort-model', attempt: effect.attempt }
    case 'summarise':
      return { type: 'abort-summary', attempt: effect.attempt }
    case 'run-tool':
      return { type: 'abort-tool', callId: effect.callId, attempt: effect.attempt }
    case 'offer-call':
      return { type: 'withdraw-offer', callId: effect.callId, connection: effect.connection, offer: effect.offer }
    case 'ask-approval':
      return { type: 'withdraw-approval', callId: effect.callId, approvalId: effect.approvalId }
    case 'ask-question':
      return { type: 'withdraw-question', callId: effect.callId, questionId: effect.questionId }
    case 'run-child':
      return { type: 'leave-child', callId: effect.callId }
    case 'set-timer':
      return { type: 'clear-timer', timer: effect.timer, generation: effect.generation }
    default:
      return effect satisfies never
  }
}
