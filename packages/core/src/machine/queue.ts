// Inputs of people and programs: accepted into one queue, in one order; withdrawn, rewound.
import type { FactOf, InputBody } from './fact.ts'
import type { InputOf } from './input.ts'
import type { Draft } from './draft.ts'
import type { State } from './state.ts'
import { emit } from './draft.ts'
import { interruptTurn } from './interrupt.ts'
import { countChars, heldChars, jsonChars, measureMedia } from './size.ts'
import { RULES } from './spec.ts'
import { endRewound } from './child-end.ts'
import type { ParentItem } from './lane-values.ts'
import { closeStep, enterAgain, finishTurn, openTurn } from './turn.ts'
import { applyCallEventToAll } from './calls.ts'
import { noteNews, tasksOf } from './task-entries.ts'
import { endRewoundTasks } from './task-tools.ts'
import type { Delivery, Heard, IndexEntry } from './values.ts'

export function acceptInput(draft: Draft, input: InputOf<'user-input'>): void {
  const { inputId, parts, delivery = 'queue', model, settings, output, heard, asks, more, traceparent } = input
  if (!more) flushBatch(draft)
  emit(draft, {
    type: 'input-accepted',
    inputId,
    body: { type: 'user', parts },
    chars: countChars(parts),
    heldChars: heldChars(parts) + (output ? jsonChars(output) : 0),
    delivery,
    ready: !more,
    ...(more && { untilMs: findBatchEnd(draft) }),
    ...(model !== undefined && { model }),
    ...(settings && { settings }),
    ...(output && { output }),
    ...(asks === false && { asks }),
    ...(traceparent !== undefined && { traceparent }),
  })
  deliver(draft, delivery, heard)
}

/** The task of a child, from its parent's log. */
export function acceptTask(draft: Draft, { callId, task, untrusted, known }: Task): void {
  emit(draft, {
    type: 'input-accepted',
    inputId: callId,
    body: { type: 'user', parts: task, ...(untrusted && { untrusted }), ...(known && { known }) },
    chars: countChars(task),
    heldChars: heldChars(task),
    delivery: 'queue',
    ready: true,
  })
}

type Task = Extract<ParentItem, { readonly type: 'task' }>

/** An urgent event follows earlier entries, so the waiting batch goes first. */
export function acceptUrgent(draft: Draft, input: InputOf<'urgent-event'>): void {
  const { inputId, name, label, detail, message, untrusted, delivery = 'steer', heard, asks } = input
  flushBatch(draft)
  const body: InputBody = {
    type: 'urgent',
    name,
    ...(label !== undefined && { label }),
    ...(detail !== undefined && { detail }),
    ...(message !== undefined && { message }),
    ...(untrusted !== undefined && { untrusted }),
  }
  const chars = urgentChars(input)
  emit(draft, {
    type: 'input-accepted',
    inputId,
    body,
    chars,
    heldChars: chars,
    delivery,
    ready: true,
    ...(asks === false && { asks }),
  })
  deliver(draft, delivery, heard)
}

export function urgentChars(input: InputOf<'urgent-event'>): number {
  const { name, label = '', detail = null, message = '' } = input
  return name.length + label.length + JSON.stringify(detail).length + message.length
}

function deliver(draft: Draft, delivery: Delivery, heard: Heard | undefined): void {
  // Without a turn its voice may still be speaking: then the sender says how much of it was heard.
  if (delivery === 'interrupt' && (draft.state.turn || heard))
    interruptTurn(draft, { reason: 'input' }, heard ?? { type: 'reported' })
}

export function acceptTranscript(draft: Draft, input: InputOf<'transcript'>): void {
  const { inputId, speaker, text, asks } = input
  const chars = speaker.length + text.length
  emit(draft, {
    type: 'input-accepted',
    inputId,
    body: { type: 'transcript', speaker, text },
    chars,
    heldChars: chars,
    delivery: 'queue',
    ready: false,
    untilMs: findBatchEnd(draft),
    ...(asks === false && { asks }),
  })
  flushFullBatch(draft)
}

function findBatchEnd({ spec, state }: Draft): number {
  const sinceMs = state.batch?.sinceMs ?? state.nowMs
  return Math.min(state.nowMs + spec.batch.silenceMs, sinceMs + spec.batch.ageMs)
}

function flushFullBatch(draft: Draft): void {
  const { entries, chars } = draft.spec.batch
  const waiting = draft.state.queue.filter((item) => !item.ready)
  const waitingChars = waiting.reduce((sum, item) => sum + item.heldChars, 0)
  if (waiting.length >= entries || waitingChars >= chars) flushBatch(draft)
}

export function flushBatch(draft: Draft): void {
  const { batch, queue } = draft.state
  // The end of a task may wait without a batch.
  if (batch || queue.some(({ type, ready }) => type === 'task' && !ready)) emit(draft, { type: 'batch-flushed' })
}

/** Rewinds exchanges. Calls left over from an interrupted turn are settled first and removed with it. */
export function rewind(draft: Draft, input: InputOf<'rewind'>): void {
  if (draft.state.turn) {
    applyCallEventToAll(draft, 'interrupt')
    finishTurn(draft, 'interrupted')
  }
  applyCallEventToAll(draft, 'grace-over')
  closeStep(draft)
  const { inputId, exchange, fromEntry = 0, again, replace, output, by } = input
  const before = input.index ?? draft.state.index
  const leaves = (entry: IndexEntry): boolean =>
    entry.exchange > exchange || (entry.exchange === exchange && entry.entry >= fromEntry)
  const index = before.filter((entry) => !leaves(entry))
  endRewoundTasks(draft, { exchange, index })
  endRewound(draft, { exchange, index })
  const asked = before.filter((entry) => entry.exchange === exchange && leaves(entry) && entry.role === 'user')
  emit(draft, { type: 'history-rewound', inputId, exchange, index, ...(by !== undefined && { by }) })
  if (again) {
    openTurn(draft, output && { output })
    enterAgain(draft, asked)
  }
  if (replace) acceptInput(draft, { type: 'user-input', inputId, ...replace, ...(output && { output }) })
}

/** `check` has verified that it is queued. */
export function withdraw(draft: Draft, { target }: InputOf<'withdraw'>): void {
  emit(draft, { type: 'input-withdrawn', inputId: target })
}

export function inputAccepted(state: State, fact: FactOf<'input-accepted'>): State {
  const media = fact.body.type === 'user' ? measureMedia(fact.body.parts) : undefined
  const item = {
    inputId: fact.inputId,
    type: fact.body.type,
    chars: fact.chars,
    heldChars: fact.heldChars,
    ready: fact.ready,
    delivery: fact.delivery,
    ...(media && { media }),
    ...(fact.model !== undefined && { model: fact.model }),
    ...(fact.settings && { settings: fact.settings }),
    ...(fact.output && { output: fact.output }),
    ...(fact.asks === false && { asks: fact.asks }),
  }
  const recentInputs = [...state.recentInputs, { inputId: fact.inputId, pos: state.pos }].slice(-RULES.remembered)
  const isTask = fact.body.type === 'task'
  const news = isTask ? noteNews(state, tasksOf([fact.inputId]), 'queued') : state
  const next = { ...news, recentInputs, queue: [...state.queue, item], wakes: isTask ? state.wakes : 0 }
  if (fact.untilMs === undefined) return next
  const sinceMs = state.batch?.sinceMs ?? state.nowMs
  return { ...next, batch: { sinceMs, deadline: { atMs: fact.untilMs, generation: state.pos } } }
}

export function noteQueued(state: State, { note, text, task }: FactOf<'note-queued'>): State {
  const notes = [...state.notes, { note, chars: text.length }]
  const told = task === undefined ? state : noteNews(state, new Set([task]), 'told')
  return { ...told, notes, counters: { ...state.counters, note } }
}

export function inputWithdrawn(state: State, { inputId }: FactOf<'input-withdrawn'>): State {
  const queue = state.queue.filter((item) => item.inputId !== inputId)
  return noteNews({ ...state, queue }, tasksOf([inputId]), 'told')
}
