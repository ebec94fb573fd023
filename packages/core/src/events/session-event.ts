// Session events, as programs and fronts see them: messages, steps, calls, approvals, turns. Made of records and of
// live frames by one pure projection; nothing in it binds an approval, names a process or needs an older event.
import type { ErrorCode } from '../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { FinishReason, Provenance, SourcePart, StoredPart, Usage } from '../messages.ts'
import type { EffectClass, ToolKind, WaitingWords } from '../agent/tool.ts'
import type { AnswerRefuser, SupersedeReason } from '../machine/fact.ts'
import type { AskedFor } from '../agent/policy.ts'
import type { ModelSettings } from '../agent/model.ts'
import type { PlanEntry } from '../machine/spec.ts'

/** Version of session events. A new kind of event or a new field may come without a new version: pass over what you do not know. */
export const EVENTS_VERSION = 1

/**
 * The position at which a reader continues, after any event. Keep it as it is and hand it back; its fields are plain numbers, so it can be
 * sent to a browser and back. The text fields are there while a step is being written.
 */
export interface EventCursor {
  /** Position of the record that comes next. */
  readonly pos: number
  /** Events of that record that were read already. */
  readonly read?: number
  /** Position of the record that began the newest turn: what came before it need not be read again. */
  readonly since?: number
  /** The attempt that is being written. */
  readonly attempt?: number
  /** UTF-16 units of its text that were read, of its reasoning, and of the input of each of its calls. */
  readonly text?: number
  readonly reasoning?: number
  readonly inputs?: readonly number[]
}

/** Position of an event in the log. Given to readers that ask for `delivery`; live pieces of an answer have none. */
export interface EventPlace {
  /** Position of its record. */
  readonly pos: number
  /** Counts what the record holds, from 0: several events may stand at one place. */
  readonly fact: number
  /** The session's time, in which deadlines are. */
  readonly nowMs: number
  /** Wall-clock time, if it is a second or more apart. */
  readonly wallMs?: number
}

/** The id of the input for what a user said, `t<turn>` for an answer: the same for ever and on every front. */
export type MessageId = string

/** A message to the agent. */
export interface UserMessageView {
  readonly role: 'user'
  readonly id: MessageId
  /** `transcript`: what a speaker said in a call that the agent listens to. `event`: an urgent event of a program. */
  readonly from: 'user' | 'transcript' | 'event'
  /** Text, images and files; bytes are named by `source`, and read with `session.media`. */
  readonly parts: readonly StoredPart[]
  /** For a transcript: who spoke. */
  readonly speaker?: string
  /** For an event: its name. */
  readonly name?: string
  /** For an event: the word in brackets that the model reads before the name; `Event` by default. */
  readonly label?: string
  /** For an event: its detail. */
  readonly detail?: JsonValue
  /** Milliseconds since 1970. */
  readonly atMs: number
}

/** An answer as it begins; its text and calls follow. */
export interface AnswerView {
  readonly role: 'assistant'
  readonly id: MessageId
  readonly turn: number
  /** Counts questions with their answers; `messages-removed` names it. */
  readonly exchange: number
  readonly atMs: number
}

export type CallStatus = 'proposed' | 'awaiting-approval' | 'waiting' | 'running' | 'settled'

/** A call, whole: each event that names it has all of it. */
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
  /** Words for a voice to say when the call runs longer than `afterMs` milliseconds. They are not part of the conversation. */
  readonly waiting?: WaitingWords
  /** The input that the model wrote, or that a person put in its place; a string if it is not JSON. */
  readonly input: JsonValue
  readonly inputEdited?: true
  readonly runs: 'server' | 'client'
  readonly effect: EffectClass
  /** The source of its result; absent for the agent's own tools, which are trusted. */
  readonly provenance?: Provenance
  /** `proposed`: nobody was asked to run it yet. `waiting`: a client was. `running`: it may have an effect already. */
  readonly status: CallStatus
  /** The client that was asked to run it. */
  readonly holder?: string
  /** In the session's time. */
  readonly deadlineMs?: number
  /** No connected client can run it: it waits for one until its deadline. */
  readonly waitsForClient?: true
  /** Present once it is settled. */
  readonly result?: CallResult
}

export type CallResult =
  | { readonly type: 'ok'; readonly content: readonly StoredPart[]; readonly value?: JsonValue }
  /** `byPerson`: a person said no. `message` ends with the reason, where one was given. */
  | { readonly type: 'denied'; readonly code: ErrorCode; readonly message: string; readonly byPerson?: true }
  | { readonly type: 'error'; readonly code: ErrorCode; readonly message: string }
  /**
   * `begun`: it was running, and may have had an effect. `detached`: the user interrupted the turn, and the tool still runs; the
   * model is told of its outcome with the next input after it.
   */
  | {
      readonly type: 'cancelled'
      readonly code: ErrorCode
      readonly message: string
      readonly begun?: true
      readonly detached?: true
    }
  /** No result came in time. `begun`: it was running, and may have had an effect. */
  | { readonly type: 'timed-out'; readonly code: ErrorCode; readonly message: string; readonly begun?: true }
  /** It may have had its effect, which must not happen twice. */
  | { readonly type: 'unknown'; readonly code: ErrorCode; readonly message: string }

/**
 * Why a turn ended. `tool`: at the result of a tool with `endsTurn`, or by `stopWhen`; the model was not asked again. `limit`: the answer is complete, but a limit of the turn kept the model from calling more tools.
 * `max-tokens`: the answer is cut at the model's output limit. `cancelled`: the user interrupted it. `stopped`: the session
 * was stopped. `silent`: the agent may say nothing, and did.
 */
export type TurnStop = 'end' | 'tool' | 'max-tokens' | 'limit' | 'refused' | 'cancelled' | 'stopped' | 'failed' | 'silent'

export interface EventError {
  readonly code: ErrorCode
  readonly message: string
  /** With `invalid_output`: what the last answer lacked of the output schema. At most 4,000 characters. */
  readonly issues?: string
}

/**
 * `rounds`: steps with calls. `calls`: calls of the turn. `tokens`, `cost`, `time`: of the turn. `output`: the model's output limit cut the
 * answer. `messages`: messages that a request may hold.
 */
export type LimitName = 'rounds' | 'calls' | 'tokens' | 'cost' | 'time' | 'output' | 'messages'

export interface ContextUse {
  /** Tokens of the last request and its answer, as the provider counted them. */
  readonly used: number
  /** Tokens that the model's window has; absent where that is not known. */
  readonly size?: number
}

/**
 * Why what a step has said is void. `gave-up`: it failed for good, and the turn ends. `interrupted`: nothing of it is kept. `refused`:
 * the answer was not taken, as `output-refused` says; a further step follows, unless the turn ends. After all others the model is asked again:
 * it failed for a moment (`failed`), another model is asked (`fallback`, `model-set`), its process died (`restart`), it said nothing
 * (`empty`), the session was paused (`paused`), or the request was too long for its window (`context-full`).
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
   * A user's message that was taken in, or an answer that begins. A user's message waits until `message-entered`. A turn's
   * events begin with the message that asked for it.
   */
  | { readonly type: 'message-added'; readonly message: UserMessageView | AnswerView }
  /** The model reads it from now on. It stands in the conversation at this place. */
  | {
      readonly type: 'message-entered'
      readonly message: MessageId
      /** Counts questions with their answers, from 1; `messages-removed` names it. */
      readonly exchange: number
    }
  /** It waited, and was taken back before the model had read it. */
  | { readonly type: 'message-withdrawn'; readonly message: MessageId }
  /**
   * The conversation was taken back: this exchange and all later ones are gone, but for the messages and steps of it that
   * stay or enter again.
   */
  | {
      readonly type: 'messages-removed'
      readonly fromExchange: number
      /** User messages of the exchange that stay. Those that are asked again are among them: `message-entered` tells them anew. */
      readonly keep: readonly MessageId[]
      /** Steps of the exchange that stay, with the answer that they belong to; all other answers from the exchange on go. */
      readonly keepSteps: readonly number[]
    }
  /** The model is asked. A step that is asked again has a new attempt. */
  | (OfStep & {
      readonly type: 'step-started'
      /** Counts the model calls of the session. */
      readonly attempt: number
      readonly model: string
    })
  /** More of the step's text or reasoning. `offset` counts UTF-16 units of it, so that a repeat is harmless. */
  | (OfStep & {
      readonly type: 'text' | 'reasoning'
      /** Position in the text of this step, not of the whole answer. */
      readonly offset: number
      readonly text: string
      /**
       * Only in the library, in the events of a turn whose agent has an output schema: the value that the step's text has so far, not validated.
       * It is there as often as reading it costs little, and not in every event.
       */
      readonly partial?: JsonObject
    })
  /** A call's input as the model writes it: JSON text that has not ended. The call itself follows as `call`. */
  | (OfStep & {
      readonly type: 'call-writing'
      readonly callId: string
      readonly name: string
      readonly offset: number
      readonly text: string
    })
  /** A tool that the provider runs in the midst of an answer, in the provider's words. */
  | (OfStep & { readonly type: 'server-tool'; readonly name: string; readonly status: 'started' | 'finished' })
  /** The output of this step is void; it comes again, unless the turn ends. */
  | (OfStep & {
      readonly type: 'step-reset'
      readonly reason: StepResetReason
      readonly error?: EventError
      /** When the model is asked again, in the session's time; absent: at once, or not at all. */
      readonly retryAtMs?: number
    })
  /** The step's text was cut because the user interrupted it there. A character that `keepChars` would halve stays whole. */
  | (OfStep & { readonly type: 'text-cut'; readonly keepChars: number })
  /** The sources of the step's text. */
  | (OfStep & { readonly type: 'sources'; readonly sources: readonly SourcePart[] })
  /** A call is new or has changed. */
  | { readonly type: 'call'; readonly call: Call }
  /** A note of a running tool of the server, such as how far it is, in the tool's own form. */
  | { readonly type: 'call-progress'; readonly callId: string; readonly note: JsonValue }
  /** A call waits for a person. A new request for the same call has a new id, and the old one is void. */
  | {
      readonly type: 'approval-requested'
      readonly approvalId: string
      readonly call: Call
      /** In the session's time; then the call is denied. */
      readonly expiresAtMs: number
    }
  /** A person has decided the call. */
  | {
      readonly type: 'approval-decided'
      readonly approvalId: string
      readonly callId: string
      /** `edit`: it is approved with another input, which the `call` event has. */
      readonly decision: 'approve' | 'deny' | 'edit'
      /** Who decided. */
      readonly principal: string
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
      /** In the session's time; then it counts as declined. */
      readonly expiresAtMs: number
    }
  /** The question is closed: it has a value, or says why it has none. If its call ends first, it closes without this event. */
  | {
      readonly type: 'question-answered'
      readonly questionId: string
      readonly callId: string
      readonly value?: JsonValue
      /** `expired`: nobody answered in time. `nobody`: nobody could be asked. */
      readonly declined?: 'person' | 'expired' | 'nobody'
    }
  /**
   * Told once when four fifths of a limit are used, and when it bites. `used` and `max` are rounds, calls, tokens, millionths
   * of a US dollar, or milliseconds; of `output` only what was used is known,
   * and of `messages` (those that the window may hold) only `max`: older ones leave.
   */
  | {
      readonly type: 'limit'
      readonly limit: LimitName
      readonly used?: number
      readonly max?: number
      readonly reached: boolean
    }
  /** The model has finished the step. Its calls, if it has any, are open now. */
  | (OfStep & {
      readonly type: 'step-finished'
      /** Why the model ended it. `interrupted`: the user did, or the session was stopped. */
      readonly finish: StepFinish
      /** Usage of this answer; attempts that were given up are not in it. */
      readonly usage: Usage
      readonly context?: ContextUse
      /** It was interrupted, and has no calls. */
      readonly interrupted?: true
    })
  /** All calls of the step have settled. */
  | (OfStep & { readonly type: 'step-closed' })
  /**
   * The step's answer is not taken, for this reason: the model is told, and asked once more, unless the turn ends. A `step-reset` follows,
   * although the step has finished: what it has said is void. Without `by` it does not fit the output schema.
   */
  | (OfStep & { readonly type: 'output-refused'; readonly issue: string; readonly by?: AnswerRefuser })
  /** The turn has ended. If inputs wait, the next one begins. */
  | {
      readonly type: 'turn-finished'
      readonly message: MessageId
      readonly turn: number
      readonly stop: TurnStop
      /**
       * The texts of all steps joined by a blank line (`\n\n`). Of a turn that failed, or was interrupted or stopped, what was said until
       * then and stays in the conversation.
       */
      readonly text: string
      /**
       * Counts of the providers for the turn: its steps, answers that were thrown away, summaries, and what its tools asked models. A
       * count is there where at least one of them has it, a cost where all of them have one.
       */
      readonly usage: Usage
      /** Why it failed, or was refused. */
      readonly error?: EventError
    }
  /** Changes of the session as a whole. `waiting`: for a person or a client alone. */
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
  /** Older messages are no longer sent to the model: a summary stands for them, or nothing. */
  | { readonly type: 'compacted'; readonly how: 'summary' | 'dropped'; readonly text?: string }
  /** A provider refused images or files for good: a note stands for them. */
  | { readonly type: 'content-left-out'; readonly messages: readonly MessageId[]; readonly reason: string }
  /** The past has been told; what follows happens now. */
  | { readonly type: 'live' }
  // For readers that ask for `delivery`.
  /** Its answer begins as `message-added` when what it answers has entered. */
  | { readonly type: 'turn-started'; readonly message: MessageId; readonly turn: number }
  /**
   * A front begins to speak the answer, or shows it as a whole: an interrupt takes all of it as heard from now on. With `chars`, a
   * voice has played so many UTF-16 units of its text, and an interrupt takes that much as heard.
   */
  | { readonly type: 'answer-spoken'; readonly message: MessageId; readonly turn: number; readonly chars?: number }
  /** Somebody interrupted; what became of the turn follows, where one runs. */
  | { readonly type: 'interrupted'; readonly reason: string }
  /** A client is asked to run a call. `offer` counts how often the call was handed out; the client's reports name it. */
  | { readonly type: 'call-offered'; readonly callId: string; readonly client: string; readonly offer: number }
  /** A result that came too late, or from somebody else, changes nothing. */
  | { readonly type: 'result-ignored'; readonly callId: string; readonly reason: string }
  /** The session began anew from its log: no client is attached any more. Who is still there attaches again. */
  | { readonly type: 'clients-gone' }
  /**
   * The reader was too slow, or another host had the session for a while, and the reading ends. What came meanwhile may be more
   * than a device that shows the newest turn can be told: it begins anew.
   */
  | { readonly type: 'behind' }

export type SessionActivity = 'idle' | 'running' | 'waiting' | 'paused' | 'stopped'

/** `cursor`: where to go on after it. */
export type SessionEvent<Call extends CallView = CallView> = {
  readonly cursor: EventCursor
  readonly at?: EventPlace
} & EventBody<Call>
export type SessionEventType = SessionEvent['type']
export type SessionEventOf<Type extends SessionEventType> = Extract<SessionEvent, { readonly type: Type }>
