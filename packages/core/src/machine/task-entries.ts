// Entries of tasks in a state: the fold of their beginning and their end. A task is a call that a receipt settled for its step.
import type { FactOf } from './fact.ts'
import { measureSettled, SETTLED_CHARS } from './size.ts'
import { RULES } from './spec.ts'
import type { Call, EndedTask, QueuedInput, State, Task } from './state.ts'
import { findTask } from './state.ts'
import type { Rewound } from './step-place.ts'
import { isRemoved, nextPlace, placeOf } from './step-place.ts'

/** Start of the ids of inputs that report a task's end. Inputs from outside may not have it. */
export const TASK_INPUT = 'baton.task.'

/** Adds the call as a task, as it was before its step settled it. */
export function taskBegun(state: State, call: Call, fact: FactOf<'call-settled'>): State {
  const task: Task = {
    ...call,
    task: {
      origin: fact.task ? 'call' : 'interrupt',
      wake: fact.task ? (call.background?.wake ?? 'turn') : 'note',
      // With an interrupt, the turn has already ended.
      asks: fact.task === true && (state.turn ?? state.lastTurn)?.asks === true,
      turn: state.counters.turn,
      ...nextPlace(state),
      begunMs: state.nowMs,
    },
  }
  return { ...state, tasks: [...state.tasks, task] }
}

export function changeTask(state: State, callId: string, change: (task: Task) => Call): State {
  const changed = findTask(state.tasks, callId)
  const tasks = state.tasks.map((one) => (one === changed ? { ...change(one), task: one.task } : one))
  return { ...state, tasks }
}

export function taskSettled(state: State, fact: FactOf<'task-settled'>): State {
  const { callId, settlement, tellLate, awaited } = fact
  const task = findTask(state.tasks, callId)
  if (!task) return state
  const { name, runs, effect, offer } = task
  const { turn, begunMs, asks } = task.task
  const provenance = fact.provenance ?? task.provenance
  const ended: EndedTask = {
    callId,
    name,
    runs,
    effect,
    settlement: settlement.type,
    turn,
    ...placeOf(task.task),
    begunMs,
    offer,
    tellLate,
    ...(provenance && { provenance }),
    asks,
    news: awaited ? 'awaited' : 'told',
    ...measureSettled(fact),
  }
  return {
    ...state,
    tasks: state.tasks.filter((one) => one !== task),
    endedTasks: [...state.endedTasks, ended].slice(-RULES.endedTasks),
  }
}

export function taskCancelled(state: State, { callId, by }: FactOf<'task-cancelled'>): State {
  const tasks = state.tasks.map((one) =>
    one.callId === callId ? { ...one, task: { ...one.task, cancelledBy: by } } : one,
  )
  return { ...state, tasks }
}

export function noteNews(state: State, callIds: ReadonlySet<string>, news: EndedTask['news']): State {
  if (!state.endedTasks.some(({ callId }) => callIds.has(callId))) return state
  const endedTasks = state.endedTasks.map((one) => (callIds.has(one.callId) ? { ...one, news } : one))
  return { ...state, endedTasks }
}

/** The tasks whose ends these inputs tell. */
export function tasksOf(inputIds: Iterable<string>): ReadonlySet<string> {
  const callIds = [...inputIds].flatMap((id) => (id.startsWith(TASK_INPUT) ? id.slice(TASK_INPUT.length) : []))
  return new Set(callIds)
}

/** Sizes of the outcomes that a call adds to its own words. */
export function toldChars({ endedTasks }: State, told: readonly string[]): Pick<EndedTask, 'chars' | 'media'> {
  const all = endedTasks.filter(({ callId }) => told.includes(callId))
  const media = all.flatMap((one) => one.media ?? [])
  const [first] = media
  return {
    chars: all.reduce((sum, { chars, name }) => sum + chars + name.length + SETTLED_CHARS, 0),
    ...(first && {
      media: {
        parts: media.reduce((sum, { parts }) => sum + parts, 0),
        chars: media.reduce((sum, { chars }) => sum + chars, 0),
      },
    }),
  }
}

/** The model knows nothing of tasks whose calls were removed. */
export function forgetRewound(state: State, rewound: Rewound): State {
  if (state.endedTasks.length === 0 && state.wakes === 0) return state
  return { ...state, endedTasks: state.endedTasks.filter((one) => !isRemoved(one, rewound)), wakes: 0 }
}

/** Counts turns in a row that tasks alone began. Any other input that is accepted ends the row. */
export function countWakes(state: State, entering: readonly QueuedInput[]): number {
  const isBeginning = state.turn !== null && state.turn.steps.length === 0
  const isTasks = entering.length > 0 && entering.every(({ type }) => type === 'task')
  return isBeginning && isTasks ? state.wakes + 1 : state.wakes
}
