// Session events, as programs and fronts see them: messages, steps, calls, approvals, turns. One pure projection makes
// them from records and live frames. They contain nothing that binds an approval or names a process, and none depends
// on an older event.
import type { ErrorCode } from '../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { FinishReason, Provenance, SourcePart, StoredPart, Usage } from '../messages.ts'
import type { AnswerRefuser, SupersedeReason } from '../machine/fact.ts'
import type { AskedFor, Principal } from '../agent/policy.ts'
import type { EffectClass, ToolKind, WaitingWords } from '../agent/tool-options.ts'
import type { ModelSettings } from '../agent/model.ts'
import type { PlanEntry } from '../machine/spec.ts'

/** Version of session events. New event types and fields do not change it: ignore unknown ones. */
export const EVENTS_VERSION = 1

/**
 * The position at which a reader continues after an event. Store it and pass it back unchanged; its fields are plain
 * numbers, so it can be sent to a browser and back. The text fields are present while a step is being written.
 */
export interface EventCursor {
  /** Position of the next record. */
  readonly pos: number
  /** Number of events of that record already read. */
  readonly read?: number
  /** Position of the record that began the newest turn: earlier records need not be read again. */
  readonly since?: number
  /** The attempt being written. */
  readonly attempt?: number
  /** UTF-16 units read of its text, of its reasoning, and of the input of each of its calls. */
  readonly text?: number
  readonly reasoning?: number
  readonly inputs?: readonly number[]
}

/** Position of an event in the log. Present for readers that ask for `delivery`; live pieces of an answer have none. */
export interface EventPlace {
  /** Position of its record. */
  readonly pos: number
  /** Index of the fact in its record, from 0; several events may share one. */
  readonly fact: number
  /** Session time, which deadlines use. */
  readonly nowMs: number
  /** Wall-clock time, if it differs by a second or more. */
  readonly wallMs?: number
}

/** Id of the input for a user message, `t<turn>` for an answer: permanent and the same on every front. */
export type MessageId = string

/** A message to the agent. */
export interface UserMessageView {
  readonly role: 'user'
  readonly id: MessageId
  /** `transcript`: a speaker's words in a call that the agent listens to. `event`: an urgent event of a program. */
  readonly from: 'user' | 'transcript' | 'event'
  /** Text, images and files; `source` names the bytes, which `session.media` reads. */
  readonly parts: readonly StoredPart[]
  /** Speaker of a transcript. */
  readonly speaker?: string
  /** Name of an event. */
  readonly name?: string
  /** Label in brackets that the model reads before an event's name; `Event` by default. */
  readonly label?: string
  /** Details of an event. */
  readonly detail?: JsonValue
  /** Milliseconds since 1970. */
  readonly atMs: number
}

/** An answer as it begins; its text and calls follow. */
export interface AnswerView {
  readonly role: 'assistant'
  readonly id: MessageId
  readonly turn: number
  /** Number of the question and its answers; `messages-removed` refers to it. */
  readonly exchange: number
  readonly atMs: number
}

export type CallStatus = 'proposed' | 'awaiting-approval' | 'waiting' | 'running' | 'settled'

/** A complete call: each event about it has all of it. */
export interface CallView {
  readonly callId: string
  readonly message: MessageId
  readonly step: number
  readonly name: string
  readonly title?: string
  readonly kind?: ToolKind
  readonly locations?: readonly { readonly path: string; readonly line?: number }[]
  readonly diff?: readonly { readonly path: string; readonly oldText: string | null; readonly newText: string }[]
  readonly destination?: string
  /** Why a policy asks for approval. */
  readonly asked?: AskedFor
  /**
   * Words for a voice to say when the call runs longer than `afterMs` milliseconds. They are not part of the
   * conversation.
   */
  readonly waiting?: WaitingWords
  /** The input written by the model, or by a person who replaced it; a string if it is not JSON. */
  readonly input: JsonValue
  readonly inputEdited?: true
  readonly runs: 'server' | 'client'
  readonly effect: EffectClass
  /** The source of its result; absent for the agent's own tools, which are trusted. */
  readonly provenance?: Provenance
  /**
   * `proposed`: not started or offered yet. `waiting`: offered to a client. `running`: it may already have an effect.
   */
  readonly status: CallStatus
  /** The client that the call was offered to. */
  readonly holder?: string
  /** In session time. */
  readonly deadlineMs?: number
  /** No connected client can run it: it waits for a client until its deadline. */
  readonly waitsForClient?: true
  /** Present once it is settled. */
  readonly result?: CallResult
}

/** The outcome of a settled call. Branch on `type`. */
export type CallResult =
  | { readonly type: 'ok'; readonly content: readonly StoredPart[]; readonly value?: JsonValue }
  /** `byPerson`: a person denied it. `message` ends with the reason, if any. */
  | { readonly type: 'denied'; readonly code: ErrorCode; readonly message: string; readonly byPerson?: true }
  | { readonly type: 'error'; readonly code: ErrorCode; readonly message: string }
  /**
   * `begun`: it was running and may have had an effect. `detached`: the user interrupted the turn, and the tool is
   * still running; the model learns its outcome with the next input after that.
   */
  | {
      readonly type: 'cancelled'
      readonly code: ErrorCode
      readonly message: string
      readonly begun?: true
      readonly detached?: true
    }
  /** No result arrived in time. `begun`: it was running and may have had an effect. */
  | { readonly type: 'timed-out'; readonly code: ErrorCode; readonly message: string; readonly begun?: true }
  /** It may have had its effect, which must not happen twice. */
  | { readonly type: 'unknown'; readonly code: ErrorCode; readonly message: string }

/**
 * Why a turn ended. `tool`: a tool with `endsTurn` or the agent's `stopWhen` ended it, without another answer.
 * `limit`: the answer is complete, but a limit of the turn kept the model from calling more tools. `max-tokens`: the
 * answer is cut at the model's output limit. `cancelled`: the user interrupted it. `stopped`: the session was stopped.
 * `silent`: the agent chose to say nothing.
 */
export type TurnStop =
  'end' | 'tool' | 'max-tokens' | 'limit' | 'refused' | 'cancelled' | 'stopped' | 'failed' | 'silent'

export interface EventError {
  readonly code: ErrorCode
  readonly message: string
  /** With `invalid_output`: what the last answer lacked of the output schema. At most 4,000 characters. */
  readonly issues?: string
}

/**
 * `rounds`: steps with calls. `calls`: calls of the turn. `tokens`, `cost`, `time`: of the turn. `output`: the model's
 * output limit cut the answer. `messages`: messages that a request may hold.
 */
export type LimitName = 'rounds' | 'calls' | 'tokens' | 'cost' | 'time' | 'output' | 'messages'

export interface ContextUse {
  /** Tokens of the last request and its answer, as counted by the provider. */
  readonly used: number
  /** Tokens of the model's window; absent if unknown. */
  readonly size?: number
}

/**
 * Why a step's output is void. `gave-up`: it failed for good, and the turn ends. `interrupted`: nothing of it is kept.
 * `refused`: the answer was not accepted, as `output-refused` says; another step follows, unless the turn ends. After
 * all others the model is called again: transient failure (`failed`), another model (`fallback`, `model-set`), dead
 * process (`restart`), empty answer (`empty`), paused session (`paused`), or a request too long for its window
 * (`context-full`).
 */
export type StepResetReason = SupersedeReason | 'gave-up' | 'interrupted' | 'refused'

export type StepFinish = FinishReason | 'interrupted'

interface OfStep {
  readonly message: MessageId
  readonly step: number
}

/** One event without its cursor. `Call`: the calls of the session's agent, with the names and types of its tools. */
export type EventBody<Call extends CallView = CallView> =
  /**
   * A user message was accepted, or an answer begins. A user message waits until `message-entered`. A turn's events
   * start with the message that asked for it.
   */
  | { readonly type: 'message-added'; readonly message: UserMessageView | AnswerView }
  /** The message has become visible to the model. This is its place in the conversation. */
  | {
      readonly type: 'message-entered'
      readonly message: MessageId
      /** Number of the question and its answers, from 1; `messages-removed` refers to it. */
      readonly exchange: number
    }
  /** A queued message was withdrawn before the model read it. */
  | { readonly type: 'message-withdrawn'; readonly message: MessageId }
  /**
   * The conversation was rewound: this exchange and all later ones are removed, except its messages and steps that stay
   * or enter again.
   */
  | {
      readonly type: 'messages-removed'
      readonly fromExchange: number
      /** User messages of the exchange that stay, including repeated ones, which get a new `message-entered`. */
      readonly keep: readonly MessageId[]
      /** Steps of the exchange that stay, with their answer; all other answers from the exchange on are removed. */
      readonly keepSteps: readonly number[]
    }
  /** The model is called. A repeated step has a new attempt. */
  | (OfStep & {
      readonly type: 'step-started'
      /** Number of the model call in the session. */
      readonly attempt: number
      readonly model: string
    })
  /** More of the step's text or reasoning. `offset` counts its UTF-16 units, so that a repeat is harmless. */
  | (OfStep & {
      readonly type: 'text' | 'reasoning'
      /** Offset in the text of this step, not of the whole answer. */
      readonly offset: number
      readonly text: string
      /**
       * Library only, in events of a turn with an output schema: the unvalidated value that the step's text has so far.
       * Present as often as parsing is cheap, not in every event.
       */
      readonly partial?: JsonObject
    })
  /** A call's input as the model writes it: incomplete JSON text. The call itself follows as `call`. */
  | (OfStep & {
      readonly type: 'call-writing'
      readonly callId: string
      readonly name: string
      readonly offset: number
      readonly text: string
    })
  /** A tool that the provider runs within an answer, under the provider's name for it. */
  | (OfStep & { readonly type: 'server-tool'; readonly name: string; readonly status: 'started' | 'finished' })
  /** The output of this step is void; it is repeated, unless the turn ends. */
  | (OfStep & {
      readonly type: 'step-reset'
      readonly reason: StepResetReason
      readonly error?: EventError
      /** Session time at which the model is called again; absent: at once, or not at all. */
      readonly retryAtMs?: number
    })
  /** The step's text was cut where the user interrupted it. A character that `keepChars` would halve stays whole. */
  | (OfStep & { readonly type: 'text-cut'; readonly keepChars: number })
  /** The sources of the step's text. */
  | (OfStep & { readonly type: 'sources'; readonly sources: readonly SourcePart[] })
  /** A call is new or has changed. */
  | { readonly type: 'call'; readonly call: Call }
  /** A progress note of a running server tool, in the tool's own format. */
  | { readonly type: 'call-progress'; readonly callId: string; readonly note: JsonValue }
  /** A call waits for a person. A new request for the same call has a new id, and the old one is void. */
  | {
      readonly type: 'approval-requested'
      readonly approvalId: string
      readonly call: Call
      /** Session time at which the call is denied. */
      readonly expiresAtMs: number
    }
  /** A person has decided the call. */
  | {
      readonly type: 'approval-decided'
      readonly approvalId: string
      readonly callId: string
      /** `edit`: approved with a different input, which the `call` event has. */
      readonly decision: 'approve' | 'deny' | 'edit'
      /** Principal who decided. */
      readonly principal: Principal
      readonly reason?: string
      readonly remember?: 'tool' | 'arguments'
    }
  /** A running tool asks its user. */
  | {
      readonly type: 'question-asked'
      readonly questionId: string
      readonly callId: string
      readonly message: string
      /** JSON Schema of the answer. */
      readonly schema: JsonObject
      /** Session time at which it counts as declined. */
      readonly expiresAtMs: number
    }
  /** The question is closed: it has a value, or says why not. If its call ends first, it closes without this event. */
  | {
      readonly type: 'question-answered'
      readonly questionId: string
      readonly callId: string
      readonly value?: JsonValue
      /** `expired`: not answered in time. `nobody`: no user could be asked. */
      readonly declined?: 'person' | 'expired' | 'nobody'
    }
  /**
   * Emitted once when four fifths of a limit are used, and again when it applies. `used` and `max` are rounds, calls,
   * tokens, millionths of a US dollar, or milliseconds; `output` only has `used`, and `messages` (the limit of the
   * window) only `max`: older messages leave.
   */
  | {
      readonly type: 'limit'
      readonly limit: LimitName
      readonly used?: number
      readonly max?: number
      readonly reached: boolean
    }
  /** The model has finished the step. Its calls, if any, are open now. */
  | (OfStep & {
      readonly type: 'step-finished'
      /** Why the model ended it. `interrupted`: the user interrupted it, or the session was stopped. */
      readonly finish: StepFinish
      /** Usage of this answer, without abandoned attempts. */
      readonly usage: Usage
      readonly context?: ContextUse
      /** It was interrupted, and has no calls. */
      readonly interrupted?: true
    })
  /** All calls of the step have settled. */
  | (OfStep & { readonly type: 'step-closed' })
  /**
   * The step's answer was not accepted, for this reason: the model reads it and is called again, unless the turn ends.
   * A `step-reset` follows although the step has finished: its output is void. Without `by`, it does not fit the output
   * schema.
   */
  | (OfStep & { readonly type: 'output-refused'; readonly issue: string; readonly by?: AnswerRefuser })
  /** The turn has ended. If inputs are queued, the next turn begins. */
  | {
      readonly type: 'turn-finished'
      readonly message: MessageId
      readonly turn: number
      readonly stop: TurnStop
      /**
       * The texts of all steps joined by a blank line (`\n\n`). For a failed, interrupted or stopped turn, the part
       * that stays in the conversation.
       */
      readonly text: string
      /**
       * The providers' counts for the turn: its steps, discarded answers, summaries, and model requests of its tools. A
       * count is present if any of them has it, a cost if all of them have one.
       */
      readonly usage: Usage
      /** Why it failed, or was refused. */
      readonly error?: EventError
    }
  /** Changes of the session as a whole. `waiting`: only for a person or a client. */
  | {
      readonly type: 'session'
      readonly activity?: SessionActivity
      readonly agent?: string
      readonly model?: string
      readonly title?: string | null
      readonly meta?: JsonObject
      readonly plan?: readonly PlanEntry[]
      /** Settings of all turns from the next one on. */
      readonly settings?: ModelSettings
    }
  /** Older messages are no longer sent to the model; a summary may replace them. */
  | { readonly type: 'compacted'; readonly how: 'summary' | 'dropped'; readonly text?: string }
  /** A provider refused images or files permanently: a note replaces them. */
  | { readonly type: 'content-left-out'; readonly messages: readonly MessageId[]; readonly reason: string }
  /** The past is complete; later events are live. */
  | { readonly type: 'live' }
  // For readers that ask for `delivery`.
  /** Its answer begins as `message-added` once the messages it answers have entered. */
  | { readonly type: 'turn-started'; readonly message: MessageId; readonly turn: number }
  /**
   * A front begins to speak the answer, or displays all of it: any later interrupt counts all of it as heard. With
   * `chars`, a voice has played that many UTF-16 units of its text, and an interrupt counts those as heard.
   */
  | { readonly type: 'answer-spoken'; readonly message: MessageId; readonly turn: number; readonly chars?: number }
  /** The user interrupted; the outcome of a running turn follows. */
  | { readonly type: 'interrupted'; readonly reason: string }
  /** A call is offered to a client. `offer` numbers the offers of the call; the client's reports refer to it. */
  | { readonly type: 'call-offered'; readonly callId: string; readonly client: string; readonly offer: number }
  /** A late result, or one from the wrong client, changes nothing. */
  | { readonly type: 'result-ignored'; readonly callId: string; readonly reason: string }
  /** The session was reopened from its log: no client is attached. Connected clients attach again. */
  | { readonly type: 'clients-gone' }
  /**
   * The reader was too slow, or another host had the session for a while, and the reading ends. It may have missed more
   * than a device that shows the newest turn can receive, so the device starts over.
   */
  | { readonly type: 'behind' }

export type SessionActivity = 'idle' | 'running' | 'waiting' | 'paused' | 'stopped'

/** `cursor`: where to continue after it. */
export type SessionEvent<Call extends CallView = CallView> = {
  readonly cursor: EventCursor
  readonly at?: EventPlace
} & EventBody<Call>
export type SessionEventType = SessionEvent['type']
export type SessionEventOf<Type extends SessionEventType> = Extract<SessionEvent, { readonly type: Type }>
