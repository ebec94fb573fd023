// Values that inputs, facts and state share.
import type { ErrorCode } from '../errors.ts'
import { Provenance } from '../messages.ts'
import * as s from '../shape/shape.ts'

/** The repetition of a reminder: a cron expression in a time zone, or an interval. */
export const ReminderRule = s.either('cron', s.fields({ everyMs: s.count }), s.fields({ cron: s.text, zone: s.text }))
export type ReminderRule = s.Infer<typeof ReminderRule>

/** The event that a due reminder becomes. */
export const ReminderEvent = s.fields({
  name: s.text,
  label: s.optional(s.text),
  detail: s.optional(s.object),
  message: s.optional(s.text),
  /** The tool that set it, if its model had read what strangers wrote. */
  untrusted: s.optional(s.text),
})
export interface ReminderEvent extends s.Infer<typeof ReminderEvent> {}

/** How much of the answer the user heard or read, counted over the turn's full text. */
export const Played = s.variant('type', {
  all: s.fields({}),
  chars: s.fields({ chars: s.amount }),
  /** A version 1 app does not report it: everything if the answer was passed to its voice, else nothing. */
  display: s.fields({}),
})
export type Played = s.Infer<typeof Played>

const PLACE = {
  /** The answer that the place is in; the newest one if absent. If a newer one has begun, nothing of that was heard. */
  message: s.optional(s.name),
}

/**
 * How much of an answer the user heard, as a sender reports it. The session counts the characters, and passes on only
 * `chars`.
 */
export const Heard = s.variant('type', {
  all: s.fields('heard', {}),
  none: s.fields('heard', {}),
  /** As much of the newest answer as a voice has reported; everything without a voice. */
  reported: s.fields('heard', {}),
  /** A version 1 app does not report it: everything if the answer was passed to its voice, else nothing. */
  display: s.fields('heard', {}),
  /** UTF-16 units of the answer's text, such as up to the `end` of a sentence. */
  chars: s.fields('heard', { chars: s.amount, ...PLACE }),
  /** The first words of an answer as a voice speaks it, counted by `Intl.Segmenter`. */
  words: s.fields('heard', { words: s.count, ...PLACE }),
  /** Up to the end of this sentence (counted from 0), or of its first words. */
  sentence: s.fields('heard', { index: s.count, words: s.optional(s.count), ...PLACE }),
})
export type Heard = s.Infer<typeof Heard>
export type HeardPlace = Extract<Heard, { readonly type: 'chars' | 'words' | 'sentence' }>

export const Failure = s.fields({
  code: s.textOf<ErrorCode>(),
  message: s.text,
  retryable: s.flag,
  retryAfterMs: s.optional(s.ms),
  /** Tokens of the model's window, if its refusal names them. */
  contextTokens: s.optional(s.amount),
})
export interface Failure extends s.Infer<typeof Failure> {}

/** When an input reaches the model: after the running turn, at the end of the running step, or by interrupting it. */
export const Delivery = s.word('queue', 'steer', 'interrupt')
export type Delivery = s.Infer<typeof Delivery>

/**
 * How often a tool may run for one call. `pure`: as often as needed. `idempotent`: repeated with the same
 * `idempotencyKey`. `once`: started at most once; if its outcome cannot be known, the result tells the model so.
 */
export const EffectClass = s.word('pure', 'idempotent', 'once')
export type EffectClass = s.Infer<typeof EffectClass>

/**
 * How to handle a running tool when the user interrupts. `cancel`: it is stopped. `finish`: its result still counts,
 * until two seconds after the next input. `background`: the next input is answered at once, and the tool continues as
 * a task. `detach`: likewise, but a note tells the model its outcome with the next input, and it ends with its process; only
 * for server tools.
 */
export const InterruptPolicy = s.word('cancel', 'finish', 'detach', 'background')
export type InterruptPolicy = s.Infer<typeof InterruptPolicy>

/** The properties of a tool that a call keeps, so that later changes of the agent do not affect it. */
export const CALL_TOOL = {
  name: s.text,
  effect: EffectClass,
  /** `child`: a child session runs it. `machine`: the session itself; it is about tasks. */
  runs: s.word('server', 'client', 'child', 'machine'),
  timeoutMs: s.ms,
  parallel: s.flag,
  onInterrupt: InterruptPolicy,
  /** The source of its results; absent for the agent's own tools, which are trusted. */
  provenance: s.optional(Provenance),
}

/** How the model learns of a task's end: `turn` wakes an idle session, `note` comes with the next input. */
export const WakePolicy = s.word('turn', 'note')
export type WakePolicy = s.Infer<typeof WakePolicy>

/** Operation of a tool for tasks. A task has the id of its call. */
export const TaskOperation = s.variant('type', {
  list: s.fields({}),
  read: s.fields({ task: s.text }),
  /** Without `tasks`: all open tasks, and ended tasks that are new to the model. `all`: until each task has ended. */
  wait: s.fields({ tasks: s.optional(s.list(s.text)), all: s.optional(s.word(true)), seconds: s.count }),
  cancel: s.fields({ task: s.text }),
})
export type TaskOperation = s.Infer<typeof TaskOperation>

export const ClientToolSpec = s.fields({
  ...CALL_TOOL,
  runs: s.word('server', 'client'),
  description: s.text,
  inputSchema: s.json,
})
export interface ClientToolSpec extends s.Infer<typeof ClientToolSpec> {}

/** An entry of the plan that people see. */
export const PlanEntry = s.fields({
  content: s.text,
  status: s.word('pending', 'in_progress', 'completed'),
  priority: s.optional(s.word('high', 'medium', 'low')),
})
export interface PlanEntry extends s.Infer<typeof PlanEntry> {}

// Sizes

/** A result that may move behind a handle, and its characters. */
export const LongResult = s.fields({ callId: s.text, chars: s.amount })
export interface LongResult extends s.Infer<typeof LongResult> {}

/** Images and files among parts. */
const MEDIA_SIZE = {
  parts: s.count,
  /** UTF-16 units that they count for in a request. */
  chars: s.amount,
}
export interface MediaSize extends s.InferFields<typeof MEDIA_SIZE> {}

/** Images and files of an entry of the history. */
export const EntryMedia = s.fields({
  ...MEDIA_SIZE,
  /** For `user`: the inputs that contain them. */
  inputs: s.optional(s.list(s.text)),
})
export interface EntryMedia extends s.Infer<typeof EntryMedia> {}

/** One entry of the history: a message of the user, or a step (an assistant message and its results). */
export const IndexEntry = s.fields({
  entry: s.count,
  exchange: s.count,
  role: s.word('user', 'step', 'summary'),
  /** Estimated size in characters. */
  chars: s.amount,
  /** For `step`: its number. */
  step: s.optional(s.count),
  /** For `user`: the inputs that entered, so that a rewind can ask them again. */
  inputs: s.optional(s.list(s.text)),
  notes: s.optional(s.list(s.count)),
  /** Absent if it has none. */
  media: s.optional(EntryMedia),
  /** For `step`: results that may move behind a handle. */
  long: s.optional(s.list(LongResult)),
})
export interface IndexEntry extends s.Infer<typeof IndexEntry> {}

/** New size of a history entry in characters. */
export const EntrySize = s.fields({ entry: s.count, chars: s.amount })
export interface EntrySize extends s.Infer<typeof EntrySize> {}

/** People and roles in one list of `Deciders`. */
const DECIDERS_MAX = 32

/** People who decide a call instead of the session's own principal, who may still deny it. */
export const Deciders = s.fields('deciders', {
  /** Ids of principals. With `roles`: either is enough. */
  people: s.optional(s.list(s.name, DECIDERS_MAX)),
  /** Roles of principals, as `authenticate` returns them. */
  roles: s.optional(s.list(s.name, DECIDERS_MAX)),
  /** The session's principal may not approve. Alone: every other person may. */
  notAsker: s.optional(s.word(true)),
  /** Approvals by different people; 1 by default, at most 10. A single denial denies the call. */
  needed: s.optional(s.count),
  /** They may read the conversation; otherwise they see the request alone. */
  reads: s.optional(s.word(true)),
})
export interface Deciders extends s.Infer<typeof Deciders> {}
