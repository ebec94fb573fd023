// Tasks: calls that a receipt settles at once and that run in the background; the tools with which a model looks at them, waits
// and cancels, which the session itself runs; and their cancelling by people. Everything that a task does until it ends is
// what any call does (`calls.ts`).
import type { Refusal } from '../errors.ts'
import { applyCallEvent, loseDetached, settle } from './calls.ts'
import { endChild } from './child-end.ts'
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { Fact, FactOf, Settlement } from './fact.ts'
import type { InputOf } from './input.ts'
import { makeNote } from './notes.ts'
import { isStranger } from './relayed.ts'
import { describeTaskEnd } from './render.ts'
import { RULES } from './spec.ts'
import type { Call, EndedTask, State, Task } from './state.ts'
import { detachedCalls, findCall, findChild, findTask, openTasks, waitsForAnswer } from './state.ts'
import { isAwaited, waitsFor } from './task-end.ts'
import type { Rewound } from './step-place.ts'
import { isRemoved } from './step-place.ts'
import { TASK_INPUT } from './task-entries.ts'

/** Settles the call for its step, in the record of its proposal: no approval and no wait delays the receipt. */
export function giveReceipt(draft: Draft, { callId, background, provenance }: Call): void {
  const when = background?.wake === 'note' ? 'with the next message' : 'when it ends'
  const text = `It runs in the background as task ${callId}. You learn its outcome ${when}; do not call it again for that.`
  emit(draft, {
    type: 'call-settled',
    callId,
    settlement: { type: 'ok', content: [{ type: 'text', text }] },
    tellLate: false,
    // The session wrote the words, not the tool.
    ...(provenance?.trust === 'untrusted' && { provenance: { trust: 'trusted' as const } }),
    task: true,
  })
}

/** Why a call may not run in the background. */
export function explainNoTask({ spec, state }: Draft, more: number): Settlement | undefined {
  const most = spec.limits.tasks ?? RULES.tasks
  if (openTasks(state).length + more < most) return undefined
  const message = `${most} tasks may be open at once; wait for one with tasks.wait, or cancel one, and call it again`
  return { type: 'denied', code: 'too_many_tasks', message }
}

/** A call of a tool for tasks begins; all but a wait settle at once. */
export function runOperation(draft: Draft, call: Call): void {
  const { operation, callId, attempt } = call
  switch (operation?.type) {
    case 'list':
      settle(draft, call, say(listTasks(draft.state)), false)
      break
    case 'read':
      readTask(draft, call, operation.task)
      break
    case 'wait': {
      const unknown = (operation.tasks ?? []).find((id) => !isKnown(draft.state, id))
      if (unknown !== undefined) {
        settle(draft, call, createUnknown(draft.state, unknown), false)
        break
      }
      const deadlineMs = draft.state.nowMs + operation.seconds * 1000
      emit(draft, { type: 'call-started', callId, attempt: attempt + 1, deadlineMs })
      break
    }
    case 'cancel':
      cancelByModel(draft, call, operation.task)
      break
    case undefined:
      settle(draft, call, { type: 'error', code: 'invalid_arguments', message: 'the call was not prepared' }, false)
      break
    default:
      operation satisfies never
  }
}

/** Settles waits that have ended, and adds notes about the ends that an interrupted wait did not report. */
export function settleWaits(draft: Draft): void {
  for (const call of draft.state.step?.calls ?? [])
    if (call.operation?.type === 'wait' && call.state === 'started' && isOver(draft.state, call)) endWait(draft, call)
  for (const ended of draft.state.endedTasks) {
    if (ended.news !== 'awaited' || isAwaited(draft.state, ended.callId)) continue
    const { callId: task, name, settlement } = ended
    const text = `The tool "${name}" (${task}) ${describeTaskEnd(settlement)}; tasks.read has its outcome`
    emit(draft, { type: 'note-queued', note: draft.state.counters.note + 1, text, task })
  }
}

function isOver(state: State, { operation }: Call): boolean {
  if (operation?.type !== 'wait') return false
  const { tasks, all } = operation
  const open = openTasks(state).filter(({ callId }) => !tasks || tasks.includes(callId))
  if (open.length === 0) return true
  return !all && findNews(state, tasks).length > 0
}

/** Ended tasks that a wait reports: the named ones, or else all that are new to its model. */
function findNews({ endedTasks }: State, tasks: readonly string[] | undefined): readonly EndedTask[] {
  return endedTasks.filter(({ callId, news }) => (tasks ? tasks.includes(callId) : news !== 'told'))
}

/** Outcomes that fit into one result, and at least the first. */
function takeFitting(news: readonly EndedTask[], most: number): readonly EndedTask[] {
  let chars = 0
  return news.filter((ended, index) => {
    if (index > 0 && chars + ended.chars > most) return false
    chars += ended.chars
    return true
  })
}

/** Also called when its time has passed. A queued input about an end that it reports is withdrawn. */
export function endWait(draft: Draft, call: Call): void {
  const { operation } = call
  if (operation?.type !== 'wait') return
  const { spec, state } = draft
  const running = openTasks(state).filter((task) => waitsFor(call, task.callId))
  const news = findNews(state, operation.tasks)
  const told = takeFitting(news, spec.limits.resultChars).map(({ callId }) => callId)
  const left = news.flatMap(({ callId }) => (told.includes(callId) ? [] : [callId]))
  const words = {
    running: running.map((task) => describeOpen(state, task)),
    ...(left.length > 0 && { ended: left, note: 'Read the outcomes of the ended ones with tasks.read.' }),
  }
  const empty = news.length + running.length === 0 ? { note: 'No task is open.' } : {}
  tell(draft, call, { content: { ...words, ...empty }, told })
}

function readTask(draft: Draft, call: Call, callId: string): void {
  const { state } = draft
  const open = findTask(state.tasks, callId) ?? detachedCalls(state).find((one) => one.callId === callId)
  const ended = state.endedTasks.find((one) => one.callId === callId)
  if (open) settle(draft, call, say(describeOpen(state, open)), false)
  else if (ended) tell(draft, call, { content: { task: callId, status: 'ended' }, told: [callId] })
  else settle(draft, call, createUnknown(state, callId), false)
}

interface Telling {
  readonly content: Readonly<Record<string, unknown>>
  readonly told: readonly string[]
}

function tell(draft: Draft, call: Call, { content, told }: Telling): void {
  const { endedTasks, queue } = draft.state
  const sources = endedTasks.filter(({ callId }) => told.includes(callId))
  const isUntrusted = sources.some(({ provenance }) => provenance?.trust === 'untrusted')
  emit(draft, {
    type: 'call-settled',
    callId: call.callId,
    settlement: say(content),
    tellLate: false,
    ...(isUntrusted && { provenance: { trust: 'untrusted' as const } }),
    ...(told.length > 0 && { told }),
  })
  for (const { inputId } of queue)
    if (told.some((callId) => inputId === TASK_INPUT + callId)) emit(draft, { type: 'input-withdrawn', inputId })
}

function say(content: object): Settlement {
  return { type: 'ok', content: [{ type: 'text', text: JSON.stringify(content) }] }
}

function listTasks(state: State): object {
  const open = state.tasks.map((task) => describeOpen(state, task))
  const ended = state.endedTasks.map(({ callId, name, settlement }) => ({
    task: callId,
    tool: name,
    status: 'ended',
    outcome: settlement,
  }))
  return { tasks: [...open, ...ended] }
}

function describeOpen(state: State, task: Task): object {
  const seconds = Math.round((state.nowMs - task.task.begunMs) / 1000)
  return { task: task.callId, tool: task.name, status: statusOf(state, task), seconds }
}

function statusOf(state: State, task: Task): string {
  if (task.task.cancelledBy !== undefined || findChild(state, task.callId)?.phase === 'ending') return 'ending'
  if (task.state === 'proposed' || task.state === 'awaiting-approval') return 'awaiting-approval'
  return task.state === 'ready' || task.state === 'offered' || waitsForAnswer(task) ? 'waiting' : 'running'
}

function isKnown({ tasks, endedTasks }: State, callId: string): boolean {
  return findTask(tasks, callId) !== undefined || endedTasks.some((one) => one.callId === callId)
}

function createUnknown(state: State, callId: string): Settlement {
  const open = openTasks(state).map((task) => task.callId)
  const known = open.length === 0 ? 'no task is open' : `open tasks are ${open.join(', ')}`
  const message = `there is no task ${JSON.stringify(callId.slice(0, 100))}; ${known}`
  return { type: 'error', code: 'invalid_arguments', message }
}

function cancelByModel(draft: Draft, call: Call, callId: string): void {
  const { state } = draft
  if (!state.tasks.some((one) => one.callId === callId)) {
    const ended = state.endedTasks.find((one) => one.callId === callId)
    if (!ended) settle(draft, call, createUnknown(state, callId), false)
    else settle(draft, call, say({ task: callId, status: 'ended', outcome: ended.settlement }), false)
    return
  }
  cancelTask(draft, callId, { by: 'model' })
  const ended = draft.state.endedTasks.find((one) => one.callId === callId)
  const status = ended ? { status: 'ended', outcome: ended.settlement } : { status: 'ending' }
  settle(draft, call, say({ task: callId, ...status }), false)
}

type Canceller = Omit<FactOf<'task-cancelled'>, 'type' | 'callId'>

/** A child's task ends when the child has said what it did; all others end here. */
export function cancelTask(draft: Draft, callId: string, by: Canceller): void {
  const detached = detachedCalls(draft.state).find((one) => one.callId === callId)
  if (detached) loseDetached(draft, detached, 'was cancelled')
  const task = findTask(draft.state.tasks, callId)
  if (!task || task.task.cancelledBy !== undefined) return
  emit(draft, { type: 'task-cancelled', callId, ...by })
  const cancelled = findTask(draft.state.tasks, callId)
  if (cancelled) applyCallEvent(draft, cancelled, 'cancel')
}

export function cancelTasks(draft: Draft, by: Canceller): void {
  for (const { callId } of draft.state.tasks) cancelTask(draft, callId, by)
}

/** `check` has verified that it is a task, or a delegated call that runs. */
export function cancelCall(draft: Draft, { callId, principal }: InputOf<'cancel-call'>): void {
  if (draft.state.tasks.some((one) => one.callId === callId)) cancelTask(draft, callId, { by: 'person', principal })
  else endChild(draft, callId, 'cancel')
}

export function checkCancel(state: State, { callId, principal, asOwner }: InputOf<'cancel-call'>): Refusal | undefined {
  if (!asOwner && isStranger(state, principal))
    return { code: 'unauthorized', message: `the session belongs to a principal other than "${principal}"` }
  const task = state.tasks.find((one) => one.callId === callId)
  if (task?.task.cancelledBy !== undefined)
    return { code: 'call_over', message: `${callId}: the task was cancelled, and ends when its agent has stopped` }
  if (task) return undefined
  const call = findCall(state, callId)
  if (!call || call.state === 'settled' || call.relayed)
    return {
      code: 'call_over',
      message: `${callId.slice(0, 100)}: the call has settled, or the session has no such call`,
    }
  if (call.runs === 'child' && call.state === 'started') return undefined
  const message = `${callId}: only tasks and delegated calls can be cancelled; interrupt the turn to end its other calls`
  return { code: 'illegal_input', message }
}

/** Tasks whose calls a rewind removes: no model learns of them, and a waiting input about one is withdrawn. */
export function endRewoundTasks(draft: Draft, rewound: Rewound): void {
  for (const task of draft.state.tasks) {
    // A detached tool still reports its end.
    if (task.task.origin === 'call' && isRemoved(task.task, rewound)) applyCallEvent(draft, task, 'rewind')
  }
  const { endedTasks, queue } = draft.state
  for (const ended of endedTasks) {
    const inputId = TASK_INPUT + ended.callId
    if (isRemoved(ended, rewound) && queue.some((item) => item.inputId === inputId))
      emit(draft, { type: 'input-withdrawn', inputId })
  }
}

/** Facts with which a copied session drops a task, which runs in the original session. */
export function leaveTask(state: State, task: Task): readonly Fact[] {
  const { callId } = task
  const settlement: Settlement = { type: 'unknown', reason: 'copied' }
  return [
    { type: 'task-settled', callId, settlement, tellLate: false },
    makeNote(state, task, 'goes on in the original conversation, which will report its outcome'),
    ...state.relayed.flatMap(({ via, id }): readonly Fact[] =>
      via === callId ? [{ type: 'request-withdrawn', callId, id, reason: 'closed' }] : [],
    ),
    ...(findChild(state, callId)
      ? [
          {
            type: 'child-lost',
            callId,
            code: 'child_lost',
            message: 'it belongs to the original conversation',
          } as const,
        ]
      : []),
  ]
}
