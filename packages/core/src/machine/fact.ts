// Facts: the machine's permanent decisions. Facts hold content; state, their fold, holds none.
import type { ErrorCode } from '../errors.ts'
import { BatonError } from '../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { AssistantPart, FinishReason, Provenance, StoredPart, Usage } from '../messages.ts'
import type { ModelSettings } from '../agent/model.ts'
import type { ClientToolSpec, Delivery, Failure, Played } from './input.ts'
import type { Effectful, InterruptPolicy, MessageLimit, PlanEntry } from './spec.ts'
import type { EntryMedia, IndexEntry } from './size.ts'

/** How a call ended. Each call has exactly one settlement. */
export type Settlement =
  | { readonly type: 'ok'; readonly content: readonly StoredPart[]; readonly value?: JsonValue }
  | { readonly type: 'error' | 'denied'; readonly code: ErrorCode; readonly message: string }
  /** `reason`: absent in older records. `begun`: see `cancelled`. */
  | { readonly type: 'timed-out'; readonly reason?: string; readonly begun?: true }
  /** `begun`: it was running, and may have had an effect. `detached`: it still runs; a note will report its outcome. */
  | { readonly type: 'cancelled'; readonly reason: string; readonly begun?: true; readonly detached?: true }
  /** `message`: what the tool knows about it, if the tool itself lost its executor. */
  | { readonly type: 'unknown'; readonly reason: string; readonly message?: string }

export type SettlementType = Settlement['type']

/** The body of an accepted input. */
export type InputBody =
  | { readonly type: 'user'; readonly parts: readonly StoredPart[] }
  | { readonly type: 'transcript'; readonly speaker: string; readonly text: string }
  | {
      readonly type: 'urgent'
      readonly name: string
      readonly label?: string
      readonly detail?: JsonValue
      readonly message?: string
    }

/** A call as it enters the ledger, with its tool's properties, so that later changes of the agent do not affect it. */
export interface CallProposal {
  readonly callId: string
  readonly name: string
  readonly runs: 'server' | 'client'
  readonly effect: Effectful
  readonly timeoutMs: number
  readonly parallel: boolean
  readonly onInterrupt: InterruptPolicy
  readonly argumentsHash: string
  /** The source of its result; absent for the agent's own tools, which are trusted. */
  readonly provenance?: Provenance
  /** The description for people. */
  readonly about?: JsonObject
  /** The client that provides the tool; absent for the agent's own. */
  readonly broughtBy?: string
  /** If present, the call must be approved before it starts. */
  readonly asks?: true
  /** Only with `asks`: see `CallCheck.asksFor`. */
  readonly asksFor?: string
  /** Only with `asksFor`: see `CallCheck.asksEach`. */
  readonly asksEach?: true
  /**
   * The approval is for the step's answer and not for a tool. `as`: whether the answer is just a value, or the text of
   * all steps. `by`: the principal that may decide; by default the session's own.
   */
  readonly answer?: { readonly as: 'text' | 'value'; readonly by?: readonly string[] }
  /** Repairs of its text before it was parsed, such as `trailing-comma`; absent if there were none. */
  readonly repairs?: readonly string[]
  /** Only in older records, instead of `asks`. */
  readonly tokenHash?: string
}

/** The outcome of a question: a value, or why there is none. `reason`: a person's, for the tool. */
export type QuestionAnswer =
  { readonly value: JsonValue } | { readonly declined: 'person' | 'expired' | 'nobody'; readonly reason?: string }

export interface EnteredInputs {
  readonly entry: number
  readonly inputs: readonly string[]
  /** Late results that the model learns with these inputs. */
  readonly notes: readonly number[]
  readonly chars: number
  /** Images and files of the inputs; absent if there are none, and in older records. */
  readonly media?: EntryMedia
}

/** The party that sent an answer back: the order of calls, the agent's `checkAnswer`, or a person. */
export type AnswerRefuser = 'order' | 'check' | 'person'

export type SupersedeReason =
  'failed' | 'model-set' | 'fallback' | 'restart' | 'empty' | 'paused' | 'context-full' | 'too-large'
export type TurnOutcome = 'answered' | 'tool' | 'silent' | 'interrupted' | 'refused' | 'failed' | 'stopped'
export type IgnoreReason = 'late' | 'duplicate' | 'unknown' | 'foreign' | 'stale'

/** New size of a history entry in characters. */
export interface EntrySize {
  readonly entry: number
  readonly chars: number
}

export type Fact =
  | {
      readonly type: 'session-opened'
      readonly session: string
      /** Part of every call id: a log restarted under an old name must not repeat the ids of the lost one. */
      readonly birth: string
      readonly principal: string
      readonly agent: string
      readonly specHash: string
    }
  /** `agent`: its name, if that changed too. */
  | { readonly type: 'agent-changed'; readonly specHash: string; readonly agent?: string }
  | { readonly type: 'model-set'; readonly model: string }
  | { readonly type: 'settings-set'; readonly settings: ModelSettings | null }
  /** Without a connection, as in older records: the tools of all clients together. */
  | { readonly type: 'client-tools-set'; readonly connection?: string; readonly tools: readonly ClientToolSpec[] }
  /** A disconnected client lost these to a newer one. */
  | { readonly type: 'client-tools-dropped'; readonly connection: string | null; readonly names: readonly string[] }
  | { readonly type: 'plan-set'; readonly callId: string; readonly entries: readonly PlanEntry[] }
  /** Usage of a model call that is not in a step or summary: a tool made it, or its answer was discarded. */
  | {
      readonly type: 'model-used'
      readonly callId?: string
      readonly attempt?: number
      readonly model: string
      readonly usage: Usage
    }
  /** Absent fields do not change. */
  | { readonly type: 'session-described'; readonly title?: string | null; readonly meta?: JsonObject }
  | { readonly type: 'session-paused' }
  | { readonly type: 'session-continued' }
  | { readonly type: 'session-stopped' }
  | { readonly type: 'session-started' }
  | {
      readonly type: 'client-attached'
      readonly connection: string
      readonly principal: string
      readonly sequential: boolean
      /** Only in older records, instead of the capabilities: 1 is without claims, 2 with. */
      readonly protocol?: 1 | 2
      readonly claims?: boolean
      readonly reportsPlayback?: boolean
      readonly asks?: boolean
      readonly tools?: readonly string[]
      /** If present, the client is dropped at that time unless its lease is renewed. */
      readonly untilMs?: number
    }
  | { readonly type: 'client-renewed'; readonly connection: string; readonly untilMs: number }
  | { readonly type: 'client-detached'; readonly connection: string }
  // Inputs
  | {
      readonly type: 'input-accepted'
      readonly inputId: string
      readonly body: InputBody
      /** Estimated size in a request. */
      readonly chars: number
      /** UTF-16 units that count towards the queue's limit. */
      readonly heldChars: number
      readonly delivery: Delivery
      /** False for an input that waits in the batch until `untilMs`. */
      readonly ready: boolean
      readonly untilMs?: number
      readonly model?: string
      readonly settings?: ModelSettings
      /** JSON Schema for its answer, replacing the agent's. */
      readonly output?: JsonObject
      /** Its sender cannot answer questions. */
      readonly asks?: false
      /** W3C trace context of its sender. */
      readonly traceparent?: string
    }
  | { readonly type: 'input-withdrawn'; readonly inputId: string }
  | { readonly type: 'batch-flushed' }
  | { readonly type: 'inputs-entered'; readonly exchange: number; readonly entries: readonly EnteredInputs[] }
  /** `untrusted`: the tool quoted in the note, if its results are untrusted. */
  | { readonly type: 'note-queued'; readonly note: number; readonly text: string; readonly untrusted?: string }
  // Turns and steps
  | {
      readonly type: 'turn-started'
      readonly turn: number
      readonly exchange: number
      readonly models: readonly string[]
      readonly settings?: ModelSettings
      /** JSON Schema for the answer; if absent, the agent's, if any. */
      readonly output?: JsonObject
      readonly deadlineMs: number
    }
  /** An input that entered the running turn has its own model or settings. */
  | { readonly type: 'turn-settings-set'; readonly models: readonly string[]; readonly settings: ModelSettings }
  | { readonly type: 'turn-clock-set'; readonly deadlineMs: number | null; readonly remainingMs: number }
  | {
      readonly type: 'model-started'
      readonly attempt: number
      readonly step: number
      readonly model: string
      readonly fromEntry: number
      readonly toEntry: number
      readonly choice: 'auto' | 'none'
      /** Characters of the request: the provider's token count calibrates the estimate. */
      readonly chars: number
      /** Milliseconds for the first piece of its answer to arrive; absent: no limit. */
      readonly firstWordMs?: number
    }
  | { readonly type: 'attempt-progressed'; readonly attempt: number; readonly offset: number; readonly text: string }
  | {
      readonly type: 'attempt-superseded'
      readonly attempt: number
      readonly reason: SupersedeReason
      readonly error?: Failure
      /** If present, the next attempt waits until then. */
      readonly retryAtMs?: number
    }
  | { readonly type: 'attempt-failed'; readonly attempt: number; readonly error: Failure }
  | { readonly type: 'answer-ignored'; readonly attempt: number; readonly input: string; readonly reason: 'stale' }
  | {
      readonly type: 'step-finished'
      readonly step: number
      readonly attempt: number
      readonly model: string
      readonly parts: readonly AssistantPart[]
      readonly calls: readonly CallProposal[]
      readonly finish: FinishReason
      readonly usage: Usage
      readonly textChars: number
      readonly chars: number
      readonly interrupted: boolean
      /** The verdict of `checkAnswer` on its answer. */
      readonly checked?: 'accept' | 'again' | 'ask' | 'failed'
    }
  /**
   * The answer is not accepted; the model gets the reason and is asked again, unless the turn ends. Without `by`, it
   * does not fit the agent's output schema.
   */
  | { readonly type: 'output-refused'; readonly step: number; readonly issue: string; readonly by?: AnswerRefuser }
  /** The text of an attempt that can no longer finish, taken from its progress. */
  | { readonly type: 'step-salvaged'; readonly step: number; readonly attempt: number; readonly textChars: number }
  | { readonly type: 'step-closed'; readonly step: number; readonly entry: number }
  | {
      readonly type: 'turn-finished'
      readonly turn: number
      readonly outcome: TurnOutcome
      /** The full answer: the texts of all steps joined by a blank line. Empty unless `answered` or `refused`. */
      readonly text: string
      readonly error?: { readonly code: ErrorCode; readonly message: string; readonly issues?: string }
    }
  // Calls
  | {
      readonly type: 'approval-requested'
      readonly callId: string
      readonly approvalId: string
      readonly argumentsHash: string
      readonly expiresAtMs: number
    }
  | {
      readonly type: 'approval-decided'
      readonly callId: string
      readonly approvalId: string
      readonly decision: 'approve' | 'deny' | 'edit'
      readonly principal: string
      readonly reason?: string
      /** Also decides later calls of the tool, or those with these arguments. */
      readonly remember?: 'tool' | 'arguments'
      /** The new arguments. In older records not yet approved; with a `tokenHash` they needed their own approval. */
      readonly edited?: {
        readonly arguments: string
        readonly argumentsHash: string
        readonly approved?: true
        readonly tokenHash?: string
      }
    }
  | {
      readonly type: 'question-asked'
      readonly callId: string
      readonly questionId: string
      readonly n: number
      readonly message: string
      readonly schema: JsonObject
      readonly expiresAtMs: number
    }
  | ({
      readonly type: 'question-answered'
      readonly callId: string
      readonly questionId: string
      readonly n: number
    } & QuestionAnswer)
  | { readonly type: 'call-started'; readonly callId: string; readonly attempt: number; readonly deadlineMs: number }
  | { readonly type: 'call-offered'; readonly callId: string; readonly connection: string; readonly offer: number }
  | { readonly type: 'call-claimed'; readonly callId: string; readonly connection: string }
  | { readonly type: 'call-returned'; readonly callId: string; readonly reason: string }
  /** No client accepted it in time: the server runs it instead. */
  | { readonly type: 'call-taken-over'; readonly callId: string }
  | {
      readonly type: 'call-clock-set'
      readonly callId: string
      readonly mode: ClockMode
      /** The time it fires; null while held. */
      readonly deadlineMs: number | null
      readonly remainingMs: number
      readonly awayRemainingMs: number
      readonly graces: number
    }
  | {
      readonly type: 'call-settled'
      readonly callId: string
      readonly settlement: Settlement
      readonly tellLate: boolean
    }
  | {
      readonly type: 'result-ignored'
      readonly callId: string
      readonly reason: IgnoreReason
      readonly outcome: 'ok' | 'error'
      readonly preview: string
    }
  // History
  | (MessageLimit & { readonly type: 'window-moved'; readonly fromEntry: number })
  /** Later requests contain the beginnings of these calls' results, and handles for the rest. */
  | { readonly type: 'results-moved'; readonly calls: readonly string[]; readonly sizes: readonly EntrySize[] }
  | (MessageLimit & {
      readonly type: 'summary-started'
      readonly attempt: number
      readonly fromEntry: number
      readonly toEntry: number
    })
  | {
      readonly type: 'summary-finished'
      readonly attempt: number
      readonly fromEntry: number
      readonly toEntry: number
      readonly text: string
      readonly usage: Usage
    }
  | { readonly type: 'summary-failed'; readonly attempt: number; readonly error: Failure }
  | { readonly type: 'interrupt-accepted'; readonly reason: string; readonly heard: Played; readonly untilMs?: number }
  | { readonly type: 'grace-started'; readonly untilMs: number }
  | { readonly type: 'answer-cut'; readonly cuts: readonly StepCut[] }
  /** A provider refused these permanently: notes replace their images and files, or an input without any. */
  | {
      readonly type: 'inputs-left-out'
      readonly inputs: readonly string[]
      /** Steps whose results lose their images and files. */
      readonly steps?: readonly number[]
      /** In the provider's words; at most 200 characters. */
      readonly reason: string
      /** It refused the request's size, and the oldest images and files were removed. */
      readonly tooLarge?: true
      /** New sizes of the entries. `media`: their newest images and files, which stay; none if absent. */
      readonly sizes: readonly (EntrySize & { readonly media?: EntryMedia })[]
    }
  /** `chars`: how much of the answer's text was played so far; absent: all is displayed, or passed to a voice. */
  | { readonly type: 'display-written'; readonly turn: number; readonly chars?: number }
  | {
      readonly type: 'history-rewound'
      readonly inputId: string
      readonly exchange: number
      readonly index: readonly IndexEntry[]
    }
  | { readonly type: 'host-restarted'; readonly downMs: number }

/** `waiting`: written, but the client has older calls to finish first. `away`: no client is attached. */
export type ClockMode = 'held' | 'waiting' | 'running' | 'away'

export interface StepCut {
  readonly step: number
  /** Characters of the step's text that stay; 0 removes the text. */
  readonly keepChars: number
}

export type FactType = Fact['type']
export type FactOf<Type extends FactType> = Extract<Fact, { readonly type: Type }>

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
])

/** The facts that change a call, each of which names it. */
export type CallFact = FactOf<
  | 'approval-requested'
  | 'approval-decided'
  | 'question-asked'
  | 'question-answered'
  | 'call-started'
  | 'call-offered'
  | 'call-claimed'
  | 'call-returned'
  | 'call-taken-over'
  | 'call-clock-set'
  | 'call-settled'
>
