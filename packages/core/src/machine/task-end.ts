// Ends tasks. The end of a task queues an input, leaves a note or is not reported, in the record of its settlement: a crash can
// neither lose nor repeat it.
import type { Draft } from './draft.ts'
import { emit } from './draft.ts'
import type { FactOf } from './fact.ts'
import { noteOutcome, shown } from './notes.ts'
import { describeTaskEnd, renderSettlement } from './render.ts'
import { wholeChars } from './size.ts'
import { RULES } from './spec.ts'
import type { Call, State, Task } from './state.ts'
import { TASK_INPUT } from './task-entries.ts'

export type TaskEnd = Omit<FactOf<'task-settled'>, 'type' | 'callId' | 'awaited'>

export function settleTask(draft: Draft, task: Task, end: TaskEnd): void {
  const { callId } = task
  const awaited = isAwaited(draft.state, callId)
  emit(draft, { type: 'task-settled', callId, ...end, ...(awaited && { awaited }) })
  if (awaited) return
  const told = chooseNews(draft.state, task, end)
  if (told === 'none') return
  const provenance = end.provenance ?? task.provenance
  const { text, cut } = readOutcome(end)
  const noted = { ...task, ...(provenance && { provenance }) }
  const { state, spec } = draft
  const most = spec.limits.wakes ?? RULES.wakes
  const isHeld = state.wakes >= most
  // A child gets no other input, so nothing would make a held one ready.
  if (told === 'note' || (isHeld && state.parent !== null)) {
    noteOutcome(draft, noted, describeTaskEnd(end.settlement.type), text)
    return
  }
  const untrusted = provenance?.trust === 'untrusted' && { untrusted: task.name }
  emit(draft, {
    type: 'input-accepted',
    inputId: TASK_INPUT + callId,
    body: {
      type: 'task',
      callId,
      name: task.name,
      outcome: end.settlement.type,
      text,
      ...(cut && { cut }),
      ...untrusted,
    },
    chars: text.length + task.name.length,
    heldChars: text.length,
    delivery: 'steer',
    // A batch is open: a person is speaking.
    ready: state.batch === null && !isHeld,
    ...(!task.task.asks && { asks: false }),
  })
  if (isHeld) emit(draft, { type: 'wakes-held', used: state.wakes, max: most })
}

function chooseNews({ parent }: State, { task, runs }: Task, { settlement }: TaskEnd): 'wake' | 'note' | 'none' {
  const reason = 'reason' in settlement ? settlement.reason : undefined
  if (reason === 'rewind' || (parent !== null && parent.end !== null)) return 'none'
  switch (task.cancelledBy) {
    case 'parent':
      return 'none'
    case 'model':
      // The call that cancelled it told what was known then.
      return runs === 'child' && isBegun(settlement) ? 'note' : 'none'
    case 'person':
      return 'note'
    case undefined:
      return task.wake === 'note' || reason === 'stop' ? 'note' : 'wake'
    default:
      return task.cancelledBy satisfies never
  }
}

function isBegun(settlement: TaskEnd['settlement']): boolean {
  return settlement.type !== 'cancelled' || settlement.begun === true
}

/** The beginning of an outcome, as a model reads it. */
export function readOutcome({ settlement, detail }: TaskEnd): { readonly text: string; readonly cut?: true } {
  const parts = settlement.type === 'ok' ? settlement.content.map(shown) : renderSettlement(settlement).map(shown)
  const all = [...parts, ...(detail === undefined ? [] : [detail])].join(' ')
  if (all.length <= RULES.noteChars) return { text: all }
  return { text: `${all.slice(0, wholeChars(all, RULES.noteChars))}…`, cut: true }
}

/** Whether an open call waits for the task's end. */
export function isAwaited({ step }: State, callId: string): boolean {
  return step?.calls.some((call) => call.state === 'started' && waitsFor(call, callId)) === true
}

export function waitsFor({ operation }: Call, callId: string): boolean {
  return operation?.type === 'wait' && (operation.tasks === undefined || operation.tasks.includes(callId))
}
