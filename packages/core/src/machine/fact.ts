// Facts: the machine's permanent decisions. Facts hold content; state, their fold, holds none. `FACTS` has the fields of
// each as records hold them; unknown fields are additions of a later version.
import type { ErrorCode } from '../errors.ts'
import { BatonError } from '../errors.ts'
import type { FinishReason } from '../messages.ts'
import { AssistantPart, Provenance, StoredPart, Usage } from '../messages.ts'
import { ModelSettings } from '../model-settings.ts'
import * as s from '../shape/shape.ts'
import { Asking, ChildStop, Deeds, Delegation, Grant, PathStep, Spent } from './tree-values.ts'
import {
  Deciders,
  CALL_TOOL,
  ClientToolSpec,
  Delivery,
  EntryMedia,
  EntrySize,
  Failure,
  IndexEntry,
  PlanEntry,
  Played,
  ReminderEvent,
  ReminderRule,
  TaskOperation,
  WakePolicy,
} from './values.ts'

const ErrorWords = { code: s.textOf<ErrorCode>(), message: s.text }
const Begun = {
  /** It was running, and may have had an effect. */
  begun: s.optional(s.word(true)),
}

/** How a call ended. Each call has exactly one settlement. */
export const Settlement = s.variant('type', {
  ok: s.fields({ content: s.list(StoredPart), value: s.optional(s.json) }),
  error: s.fields(ErrorWords),
  denied: s.fields(ErrorWords),
  'timed-out': s.fields({
    /** Absent in older records. */
    reason: s.optional(s.text),
    ...Begun,
  }),
  cancelled: s.fields({
    reason: s.text,
    ...Begun,
    /** It still runs; a note will report its outcome. */
    detached: s.optional(s.word(true)),
  }),
  unknown: s.fields({
    reason: s.text,
    /** The tool's own account, if the tool itself lost its executor. */
    message: s.optional(s.text),
  }),
})
export type Settlement = s.Infer<typeof Settlement>
export type SettlementType = Settlement['type']

/** The body of an accepted input. */
export const InputBody = s.variant('type', {
  user: s.fields({
    parts: s.list(StoredPart),
    /** For the task of a delegated call: untrusted tools that its writer had read, and addresses that it did not compose. */
    untrusted: s.optional(s.list(s.text)),
    known: s.optional(s.list(s.text)),
  }),
  transcript: s.fields({ speaker: s.text, text: s.text }),
  urgent: s.fields({
    name: s.text,
    label: s.optional(s.text),
    detail: s.optional(s.json),
    message: s.optional(s.text),
    /** The kind of the event, if strangers may have written it. */
    untrusted: s.optional(s.text),
  }),
  /** A task ended: the session's own input. `text`: the beginning of its outcome; the task itself has all of it. */
  task: s.fields({
    callId: s.text,
    name: s.text,
    outcome: s.text,
    text: s.text,
    /** The outcome is longer. */
    cut: s.optional(s.word(true)),
    /** The tool quoted in the text, if its results are untrusted. */
    untrusted: s.optional(s.text),
  }),
})
export type InputBody = s.Infer<typeof InputBody>

/** A call as it enters the ledger, with its tool's properties, so that later changes of the agent do not affect it. */
export const CallProposal = s.fields({
  callId: s.text,
  ...CALL_TOOL,
  argumentsHash: s.text,
  /** The description for people. */
  about: s.optional(s.object),
  /** The client that provides the tool; absent for the agent's own. */
  broughtBy: s.optional(s.text),
  /** If present, the call must be approved before it starts. */
  asks: s.optional(s.word(true)),
  /** Only with `asks`: see `CallCheck.asksFor`. */
  asksFor: s.optional(s.text),
  /** Only with `asksFor`: see `CallCheck.asksEach`. */
  asksEach: s.optional(s.word(true)),
  /** Only with `asks`: who decides, instead of the session's own principal. */
  deciders: s.optional(Deciders),
  /**
   * The approval is for the step's answer and not for a tool. `as`: whether the answer is just a value, or the text of
   * all steps. `by`: the principal that may decide; by default the session's own.
   */
  answer: s.optional(s.fields({ as: s.word('text', 'value'), by: s.optional(s.list(s.text)) })),
  /** For a call that a child runs. */
  delegate: s.optional(Delegation),
  /** It runs in the background: a receipt settles it at once. */
  background: s.optional(s.fields({ wake: WakePolicy })),
  /** For a call of a tool for tasks. */
  operation: s.optional(TaskOperation),
  /** Repairs of its text before it was parsed, such as `trailing-comma`; absent if there were none. */
  repairs: s.optional(s.list(s.text)),
  /** For a client's call: its text says by an argument whether it runs in the background. The client does not get that argument. */
  chooses: s.optional(s.word(true)),
  /** Only in older records, instead of `asks`. */
  tokenHash: s.optional(s.text),
})
export interface CallProposal extends s.Infer<typeof CallProposal> {}

export const EnteredInputs = s.fields({
  entry: s.count,
  inputs: s.list(s.text),
  /** Late results that the model learns with these inputs. */
  notes: s.list(s.count),
  chars: s.amount,
  /** Images and files of the inputs; absent if there are none, and in older records. */
  media: s.optional(EntryMedia),
})
export interface EnteredInputs extends s.Infer<typeof EnteredInputs> {}

/** The party that sent an answer back: the order of calls, the agent's `checkAnswer`, or a person. */
export const AnswerRefuser = s.word('order', 'check', 'person')
export type AnswerRefuser = s.Infer<typeof AnswerRefuser>

export const SupersedeReason = s.word(
  'failed',
  'model-set',
  'fallback',
  'restart',
  'empty',
  'paused',
  'context-full',
  'too-large',
)
export type SupersedeReason = s.Infer<typeof SupersedeReason>

export const TurnOutcome = s.word('answered', 'tool', 'silent', 'interrupted', 'refused', 'failed', 'stopped')
export type TurnOutcome = s.Infer<typeof TurnOutcome>

export type IgnoreReason = 'late' | 'duplicate' | 'unknown' | 'foreign' | 'stale'

/** `waiting`: written, but the client has older calls to finish first. `away`: no client is attached. */
export const ClockMode = s.word('held', 'waiting', 'running', 'away')
export type ClockMode = s.Infer<typeof ClockMode>

export const StepCut = s.fields({
  step: s.count,
  /** Characters of the step's text that stay; 0 removes the text. */
  keepChars: s.count,
})
export interface StepCut extends s.Infer<typeof StepCut> {}

const CALL = { callId: s.text }
const ATTEMPT = { attempt: s.count }
const RANGE = { fromEntry: s.count, toEntry: s.count }
/** The delegated call through which a request of a child came; absent for the session's own. */
const VIA = { via: s.optional(s.text) }
const QUESTION = { ...CALL, ...VIA, questionId: s.text, n: s.count }
/** The window's limit on messages, if it removed messages. */
const LIMIT = { messages: s.optional(s.count) }

export const FACTS = {
  'session-opened': {
    session: s.text,
    /** Part of every call id: a log restarted under an old name must not repeat the ids of the lost one. */
    birth: s.text,
    principal: s.text,
    agent: s.text,
    specHash: s.text,
  },
  'agent-changed': {
    specHash: s.text,
    /** Its name, if that changed too. */
    agent: s.optional(s.text),
  },
  'model-set': { model: s.text },
  'settings-set': { settings: s.nullable(ModelSettings) },
  'client-tools-set': {
    /** Absent in older records: the tools of all clients together. */
    connection: s.optional(s.text),
    tools: s.list(ClientToolSpec),
  },
  /** A disconnected client lost these to a newer one. */
  'client-tools-dropped': { connection: s.nullable(s.text), names: s.list(s.text) },
  'plan-set': { ...CALL, entries: s.list(PlanEntry) },
  /** Usage of a model call that is not in a step or summary: a tool made it, or its answer was discarded. */
  'model-used': { callId: s.optional(s.text), attempt: s.optional(s.count), model: s.text, usage: Usage },
  /** Absent fields do not change. */
  'session-described': { title: s.optional(s.nullable(s.text)), meta: s.optional(s.object) },
  'session-paused': {},
  'session-continued': {},
  'session-stopped': {},
  'session-started': {},
  'client-attached': {
    connection: s.text,
    principal: s.text,
    sequential: s.flag,
    /** Only in older records, instead of the capabilities: 1 is without claims, 2 with. */
    protocol: s.optional(s.word(1, 2)),
    claims: s.optional(s.flag),
    reportsPlayback: s.optional(s.flag),
    asks: s.optional(s.flag),
    tools: s.optional(s.list(s.text)),
    /** If present, the client is dropped at that time unless its lease is renewed. */
    untilMs: s.optional(s.ms),
  },
  'client-renewed': { connection: s.text, untilMs: s.ms },
  'client-detached': { connection: s.text },

  // Inputs
  'input-accepted': {
    inputId: s.text,
    body: InputBody,
    /** Estimated size in a request. */
    chars: s.amount,
    /** UTF-16 units that count towards the queue's limit. */
    heldChars: s.amount,
    delivery: Delivery,
    /** False for an input that waits in the batch until `untilMs`. */
    ready: s.flag,
    untilMs: s.optional(s.ms),
    model: s.optional(s.text),
    settings: s.optional(ModelSettings),
    /** JSON Schema for its answer, replacing the agent's. */
    output: s.optional(s.object),
    /** Its sender cannot answer questions. */
    asks: s.optional(s.word(false)),
    /** W3C trace context of its sender. */
    traceparent: s.optional(s.text),
  },
  'input-withdrawn': { inputId: s.text },
  'batch-flushed': {},
  /** A reminder with its first time, by the wall clock; it replaces the one of its name. */
  'reminder-set': {
    reminder: s.text,
    dueMs: s.date,
    rule: s.optional(ReminderRule),
    /** Time zone for showing its times. */
    zone: s.text,
    event: ReminderEvent,
    /** No person can be asked in its turn. */
    asks: s.optional(s.word(false)),
  },
  'reminder-cancelled': { reminder: s.text },
  /** Its time `dueMs` has passed; `nextMs` is the next one. `skipped`: the input of an earlier time was still waiting. */
  'reminder-passed': {
    reminder: s.text,
    dueMs: s.date,
    nextMs: s.optional(s.date),
    skipped: s.optional(s.word(true)),
  },
  'inputs-entered': { exchange: s.count, entries: s.list(EnteredInputs) },
  'note-queued': {
    note: s.count,
    text: s.text,
    /** The tool quoted in the note, if its results are untrusted. */
    untrusted: s.optional(s.text),
    /** The task whose end it tells in place of a call that waited for it. */
    task: s.optional(s.text),
  },

  // Turns and steps
  'turn-started': {
    turn: s.count,
    exchange: s.count,
    models: s.list(s.text),
    settings: s.optional(ModelSettings),
    /** JSON Schema for the answer; if absent, the agent's, if any. */
    output: s.optional(s.object),
    deadlineMs: s.ms,
  },
  /** An input that entered the running turn has its own model or settings. */
  'turn-settings-set': { models: s.list(s.text), settings: ModelSettings },
  'turn-clock-set': { deadlineMs: s.nullable(s.ms), remainingMs: s.ms },
  'model-started': {
    ...ATTEMPT,
    step: s.count,
    model: s.text,
    ...RANGE,
    choice: s.word('auto', 'none'),
    /** Characters of the request: the provider's token count calibrates the estimate. */
    chars: s.amount,
    /** Milliseconds for the first piece of its answer to arrive; absent: no limit. */
    firstWordMs: s.optional(s.ms),
  },
  'attempt-progressed': { ...ATTEMPT, offset: s.count, text: s.text },
  'attempt-superseded': {
    ...ATTEMPT,
    reason: SupersedeReason,
    error: s.optional(Failure),
    /** If present, the next attempt waits until then. */
    retryAtMs: s.optional(s.ms),
  },
  'attempt-failed': { ...ATTEMPT, error: Failure },
  'answer-ignored': {
    /** As the report named it. */
    attempt: s.integer(Number.MIN_SAFE_INTEGER),
    input: s.text,
    reason: s.textOf<'stale'>(),
  },
  'step-finished': {
    step: s.count,
    ...ATTEMPT,
    model: s.text,
    parts: s.list(AssistantPart),
    calls: s.list(CallProposal),
    finish: s.textOf<FinishReason>(),
    usage: Usage,
    textChars: s.amount,
    chars: s.amount,
    interrupted: s.flag,
    /** The verdict of `checkAnswer` on its answer. */
    checked: s.optional(s.word('accept', 'again', 'ask', 'failed')),
  },
  /**
   * The answer is not accepted; the model gets the reason and is asked again, unless the turn ends. Without `by`, it
   * does not fit the agent's output schema.
   */
  'output-refused': { step: s.count, issue: s.text, by: s.optional(AnswerRefuser) },
  /** The text of an attempt that can no longer finish, taken from its progress. */
  'step-salvaged': { step: s.count, ...ATTEMPT, textChars: s.amount },
  'step-closed': { step: s.count, entry: s.count },
  'turn-finished': {
    turn: s.count,
    outcome: TurnOutcome,
    /** The full answer: the texts of all steps joined by a blank line. Empty unless `answered` or `refused`. */
    text: s.text,
    error: s.optional(s.fields({ ...ErrorWords, issues: s.optional(s.text) })),
  },

  // Calls
  'approval-requested': { ...CALL, approvalId: s.text, argumentsHash: s.text, expiresAtMs: s.ms },
  /** One of several people whom the call needs approved it; `left` more have to. */
  'approval-given': {
    ...CALL,
    ...VIA,
    approvalId: s.text,
    principal: s.text,
    note: s.optional(s.text),
    left: s.count,
  },
  'approval-decided': {
    ...CALL,
    ...VIA,
    approvalId: s.text,
    decision: s.word('approve', 'deny', 'edit'),
    /** The person who decided; the last of several. */
    principal: s.text,
    reason: s.optional(s.text),
    /** For people: no model reads it. */
    note: s.optional(s.text),
    /** Also decides later calls of the tool, or those with these arguments. */
    remember: s.optional(s.word('tool', 'arguments')),
    /** The new arguments. In older records not yet approved; with a `tokenHash` they needed their own approval. */
    edited: s.optional(
      s.fields({
        arguments: s.text,
        argumentsHash: s.text,
        approved: s.optional(s.word(true)),
        /** For a call that a child runs: what these arguments ask of it. */
        delegate: s.optional(Delegation),
        tokenHash: s.optional(s.text),
      }),
    ),
  },
  'question-asked': { ...QUESTION, message: s.text, schema: s.object, expiresAtMs: s.ms },
  /** A value, or why there is none. */
  'question-answered': s.either(
    'declined',
    s.fields({ ...QUESTION, value: s.json }),
    s.fields({
      ...QUESTION,
      declined: s.word('person', 'expired', 'nobody'),
      /** The person's, for the tool. */
      reason: s.optional(s.text),
    }),
  ),
  'call-started': { ...CALL, ...ATTEMPT, deadlineMs: s.ms },
  'call-offered': { ...CALL, connection: s.text, offer: s.count },
  'call-claimed': { ...CALL, connection: s.text },
  'call-returned': { ...CALL, reason: s.text },
  /** No client accepted it in time: the server runs it instead. */
  'call-taken-over': { ...CALL, ...VIA },
  'call-clock-set': {
    ...CALL,
    mode: ClockMode,
    /** The time it fires; null while held. */
    deadlineMs: s.nullable(s.ms),
    remainingMs: s.ms,
    awayRemainingMs: s.ms,
    graces: s.count,
  },
  'call-settled': {
    ...CALL,
    ...VIA,
    settlement: Settlement,
    tellLate: s.flag,
    /** The source of the result, if it differs from the tool's. */
    provenance: s.optional(Provenance),
    /** More words for the model: how the child's answer ended, and what the child did. */
    detail: s.optional(s.text),
    /** The settlement is a receipt: the call continues as a task. */
    task: s.optional(s.word(true)),
    /** The request for approval that ends with the call, undecided. Absent in older logs. */
    undecided: s.optional(s.text),
    /** Ended tasks whose outcomes follow the settlement's words. */
    told: s.optional(s.list(s.text)),
  },
  /** The one settlement of a task. `awaited`: a call that waits for it tells the model. */
  'task-settled': {
    ...CALL,
    settlement: Settlement,
    tellLate: s.flag,
    provenance: s.optional(Provenance),
    detail: s.optional(s.text),
    awaited: s.optional(s.word(true)),
  },
  /** The task has to end, and no turn begins for that. `parent`: the calling session decided it. */
  'task-cancelled': { ...CALL, by: s.word('model', 'person', 'parent'), principal: s.optional(s.text) },
  /** The end of a task waits for the next input: tasks alone began that many turns. */
  'wakes-held': { used: s.count, max: s.count },
  'result-ignored': { ...CALL, reason: s.textOf<IgnoreReason>(), outcome: s.word('ok', 'error'), preview: s.text },

  // Children
  /** Second fact of a child's log: its parent and its place in the tree. `tools`: delegating tools from the root down. */
  'child-opened': {
    session: s.text,
    birth: s.text,
    ...CALL,
    root: s.text,
    depth: s.count,
    tools: s.list(s.text),
  },
  /** A child is owed for the call. It reads its task from this fact. */
  'child-begun': {
    ...CALL,
    agent: s.text,
    depth: s.count,
    task: s.list(StoredPart),
    untrusted: s.optional(s.list(s.text)),
    known: s.optional(s.list(s.text)),
    grant: Grant,
    /** A sender of the turn's inputs can be asked. */
    asks: s.flag,
    acts: s.flag,
  },
  /** The child's log was read up to `to`. Totals are absolute. `birth`: in the first report. */
  'child-reported': {
    ...CALL,
    birth: s.optional(s.text),
    to: s.integer(-1),
    /** Differs for another record at position `to`, of a log restored from a backup. Absent in older logs. */
    mark: s.optional(s.text),
    spent: Spent,
    acted: s.flag,
    waits: s.flag,
    untrusted: s.list(s.text),
  },
  /** A request of the child `path[0]`, or of a session below it. `expiresAtMs`: at the root, which alone lets it expire. */
  'request-relayed': {
    ...CALL,
    id: s.text,
    path: s.list(PathStep),
    asking: Asking,
    expiresAtMs: s.optional(s.ms),
    /** For a call, at the root: its agent has a client tool of the name. */
    isKnown: s.optional(s.word(true)),
  },
  /**
   * The request has no decision. `closed`: the child closed it. `ended`: the child has to end. The child learns of `expired`
   * and `nobody` (no person or client can be asked).
   */
  'request-withdrawn': {
    ...CALL,
    id: s.text,
    reason: s.word('closed', 'ended', 'expired', 'nobody'),
    /** The child's call that waited for an approval, if nobody decided it. Absent in older logs. */
    undecided: s.optional(s.text),
  },
  /** The child is told to end; after `untilMs` its call does not wait for it. */
  'child-ending': { ...CALL, reason: s.text, untilMs: s.ms },
  /** The child's log is missing or damaged, or contradicts this one. */
  'child-lost': { ...CALL, code: s.textOf<ErrorCode>(), message: s.text },
  'child-closed': { ...CALL, stop: ChildStop, spent: Spent, did: Deeds, untrusted: s.list(s.text) },
  /** The parent's log was read up to `to`. `grant`: with the task. `end`: why the child has to end. */
  'parent-told': {
    to: s.count,
    /** Differs for another record at position `to`, of a log restored from a backup. Absent in older logs. */
    mark: s.optional(s.text),
    grant: s.optional(Grant),
    end: s.optional(s.text),
  },
  /** A decision came for a request that this session, or one below it, had closed. */
  'decision-ignored': { id: s.text, reason: s.text },

  // History
  'window-moved': { ...LIMIT, fromEntry: s.count },
  /** Later requests contain the beginnings of these calls' results, and handles for the rest. */
  'results-moved': { calls: s.list(s.text), sizes: s.list(EntrySize) },
  'summary-started': { ...LIMIT, ...ATTEMPT, ...RANGE },
  'summary-finished': { ...ATTEMPT, ...RANGE, text: s.text, usage: Usage },
  'summary-failed': { ...ATTEMPT, error: Failure },
  'interrupt-accepted': {
    reason: s.text,
    heard: Played,
    untilMs: s.optional(s.ms),
    /** The operator, if it was not the owner. */
    by: s.optional(s.text),
  },
  'grace-started': { untilMs: s.ms },
  'answer-cut': { cuts: s.list(StepCut) },
  /** A provider refused these permanently: notes replace their images and files, or an input without any. */
  'inputs-left-out': {
    inputs: s.list(s.text),
    /** Steps whose results lose their images and files. */
    steps: s.optional(s.list(s.count)),
    /** In the provider's words; at most 200 characters. */
    reason: s.text,
    /** It refused the request's size, and the oldest images and files were removed. */
    tooLarge: s.optional(s.word(true)),
    /** New sizes of the entries. `media`: their newest images and files, which stay; none if absent. */
    sizes: s.list(s.fields({ ...EntrySize.fields, media: s.optional(EntryMedia) })),
  },
  /** `chars`: how much of the answer's text was played so far; absent: all is displayed, or passed to a voice. */
  'display-written': { turn: s.count, chars: s.optional(s.count) },
  'history-rewound': {
    inputId: s.text,
    exchange: s.count,
    index: s.list(IndexEntry),
    /** See `interrupt-accepted`. */
    by: s.optional(s.text),
  },
  'host-restarted': { downMs: s.ms },
} satisfies Readonly<Record<string, s.Fields | s.Shape<object>>>

export type FactType = keyof typeof FACTS
type FieldsOf<Type extends FactType> =
  (typeof FACTS)[Type] extends s.Shape<infer Value>
    ? Value
    : (typeof FACTS)[Type] extends s.Fields
      ? s.InferFields<(typeof FACTS)[Type]>
      : never
export type Fact = { readonly [Type in FactType]: s.Tagged<'type', Type, FieldsOf<Type>> }[FactType]
export type FactOf<Type extends FactType> = Extract<Fact, { readonly type: Type }>

/** The outcome of a question: a value, or why there is none. `reason`: a person's, for the tool. */
export type QuestionAnswer =
  | Pick<Extract<FactOf<'question-answered'>, { readonly value: unknown }>, 'value'>
  | Pick<Extract<FactOf<'question-answered'>, { readonly declined: unknown }>, 'declined' | 'reason'>

/** The shape of each fact by its type, without the field `type`. */
export const FACT_SHAPES: ReadonlyMap<string, s.Shape<object>> = new Map(
  Object.entries(FACTS).map(([type, of]) => [type, isShape(of) ? of : s.fields(of)]),
)

function isShape(of: s.Fields | s.Shape<object>): of is s.Shape<object> {
  return typeof of['check'] === 'function'
}

/** The error for a fact of a newer version, whose effect on the session is unknown. */
export function createUnknownFactError(fact: { readonly type: string }, where = 'a record'): BatonError {
  const type = JSON.stringify(String(fact.type).slice(0, 40))
  return new BatonError({
    code: 'log_version_unknown',
    message: `${where} has a fact that this version of Baton does not know: ${type}`,
  })
}

/** Facts about a host or a front rather than the conversation; excluded from the canonical log. */
export const HOST_FACTS: ReadonlySet<FactType> = new Set<FactType>([
  'client-attached',
  'client-detached',
  'client-renewed',
  'client-tools-dropped',
  'model-started',
  'summary-started',
  'attempt-progressed',
  'attempt-superseded',
  'attempt-failed',
  'answer-ignored',
  'call-started',
  'call-offered',
  'call-claimed',
  'call-returned',
  'call-taken-over',
  'call-clock-set',
  'turn-clock-set',
  'result-ignored',
  'display-written',
  'host-restarted',
  'grace-started',
  'child-reported',
  'parent-told',
])

const CALL_FACTS = [
  'approval-requested',
  'approval-given',
  'approval-decided',
  'question-asked',
  'question-answered',
  'call-started',
  'call-offered',
  'call-claimed',
  'call-returned',
  'call-taken-over',
  'call-clock-set',
  'call-settled',
  'task-settled',
] as const

/** The facts that change a call, each of which names it. */
export type CallFact = FactOf<(typeof CALL_FACTS)[number]>

const CALL_FACT_TYPES: ReadonlySet<FactType> = new Set(CALL_FACTS)

export function isCallFact(fact: Fact): fact is CallFact {
  return CALL_FACT_TYPES.has(fact.type)
}
