// All inputs of a session, grouped by their submitters. A host never lets callers speak as the host: outside inputs are
// a `UserCommand` or a `ClientReport`. The machine itself does not know who submits an input.
import type { ErrorCode, Refusal } from '../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { FinishReason, StoredPart, Usage } from '../messages.ts'
import type { ModelPart } from '../agent/model.ts'
import type { ModelSettings } from '../model-settings.ts'
import type { ChildReport, ParentItem } from './lane-values.ts'
import type { Delegation } from './tree-values.ts'
import type {
  Deciders,
  ClientToolSpec,
  Delivery,
  Failure,
  Heard,
  IndexEntry,
  PlanEntry,
  ReminderEvent,
  ReminderRule,
  TaskOperation,
} from './values.ts'

/** The result of a tool or a client. */
export type Outcome =
  /** `value`: the value that the content represents, if it is JSON and short enough to be stored twice. */
  | { readonly type: 'ok'; readonly content: readonly StoredPart[]; readonly value?: JsonValue }
  | { readonly type: 'error'; readonly code: ErrorCode; readonly message: string }

/** The host's findings about one call before it submitted the answer. */
export interface CallCheck {
  /** Hash of the raw arguments; finds a decision remembered for them. */
  readonly argumentsHash: string
  /** The fault of the arguments, in words that the model can act on. */
  readonly invalid?: string
  /** If present, a person must approve. */
  readonly asks?: true
  /**
   * Only with `asks`: earlier approvals do not count, except for calls of the tool with the same destination. A person
   * who approves the call also approves later ones with the same destination. Empty: the decision applies to this call
   * only.
   */
  readonly asksFor?: string
  /** Only with `asksFor`: the approval applies to later calls only if the person says so (`remember`). */
  readonly asksEach?: true
  /** If a person must approve: who decides, instead of the session's own principal. */
  readonly deciders?: Deciders
  /** If present, a policy denies the call, in words for the model. No person can approve it. */
  readonly denied?: string
  /** The call's description for people: a title, a kind, places, a diff. The machine only stores it. */
  readonly about?: JsonObject
  /** For a tool that a child runs; a call without it does not begin. */
  readonly delegate?: Delegation
  /** It runs in the background. */
  readonly background?: true
  /** Its text says by an argument whether it does; the argument is not the tool's. */
  readonly chooses?: true
  /** For a tool for tasks; a call without it does not begin. */
  readonly operation?: TaskOperation
  /** Repairs of its text before it was parsed. */
  readonly repairs?: readonly string[]
  /** The call could not be read; `invalid` says why. */
  readonly unreadable?: true
}

/** Whether the step's text fits the agent's output schema. */
export interface OutputCheck {
  /** In words that a model can act on; null if it fits. */
  readonly issue: string | null
}

/** The verdict of the agent's `checkAnswer` on an answer. */
export type AnswerCheck =
  | { readonly verdict: 'accept' }
  | { readonly verdict: 'again'; readonly reason: string }
  /** A person decides: one of `by` if present, else the session's own principal. */
  | { readonly verdict: 'ask'; readonly reason: string; readonly title?: string; readonly by?: readonly string[] }
  /** It threw, timed out or returned no verdict: the answer is not accepted. */
  | { readonly verdict: 'failed'; readonly message: string }

/**
 * Inputs that a person or a program may submit through a session. `asks` (true by default) says whether the sender can
 * answer approvals and questions during the answer.
 */
export type UserCommand =
  | {
      readonly type: 'user-input'
      readonly inputId: string
      readonly parts: readonly StoredPart[]
      readonly delivery?: Delivery
      readonly model?: string
      readonly settings?: ModelSettings
      /** JSON Schema for the answer, replacing the agent's. Inputs with different schemas are not answered together. */
      readonly output?: JsonObject
      readonly heard?: Heard
      readonly asks?: boolean
      /**
       * Another input follows at once, and one answer is for both. If none arrives within the silence of a batch (2 s
       * by default), this one is answered alone.
       */
      readonly more?: true
      /** W3C trace context of its sender: the parent of its turn's spans. */
      readonly traceparent?: string
    }
  | {
      readonly type: 'transcript'
      readonly inputId: string
      readonly speaker: string
      readonly text: string
      readonly asks?: boolean
    }
  | {
      readonly type: 'urgent-event'
      readonly inputId: string
      readonly name: string
      /** Label in brackets before the name, for the model; `Event` by default. */
      readonly label?: string
      readonly detail?: JsonValue
      readonly message?: string
      /** Set by the host: strangers may have written it. */
      readonly untrusted?: string
      readonly delivery?: Delivery
      readonly heard?: Heard
      readonly asks?: boolean
    }
  /** `turn`: only while this turn is the newest. `tasks`: they are cancelled too. `by`: an operator, if not the owner. */
  | {
      readonly type: 'interrupt'
      readonly reason: string
      readonly heard: Heard
      readonly turn?: number
      readonly tasks?: 'cancel'
      readonly by?: string
    }
  /** Cancels a task, or a delegated call of the running turn. `asOwner`: the principal is an operator. */
  | { readonly type: 'cancel-call'; readonly callId: string; readonly principal: string; readonly asOwner?: true }
  | {
      readonly type: 'rewind'
      readonly inputId: string
      /** This exchange and all later ones are removed from the history. */
      readonly exchange: number
      /** Removes only the entries of that exchange from this one on; absent: all of them. */
      readonly fromEntry?: number
      /** Whether the removed inputs of that exchange are asked again. */
      readonly again: boolean
      /** Ends a running turn first; otherwise a rewind is refused while one runs. */
      readonly interrupt?: true
      /** Replaces the removed messages, under the id of this input. */
      readonly replace?: {
        readonly parts: readonly StoredPart[]
        readonly model?: string
        readonly settings?: ModelSettings
      }
      /** JSON Schema for the new answer; the host takes it from the rewound turn. */
      readonly output?: JsonObject
      /** The index at that time, if state no longer has it; the host folds it from the log. */
      readonly index?: readonly IndexEntry[]
      /** An operator, if not the owner. */
      readonly by?: string
    }
  | { readonly type: 'set-model'; readonly model: string }
  /** Settings of all turns from the next one on; an input's own win. Null: none. */
  | { readonly type: 'set-settings'; readonly settings: ModelSettings | null }
  /** Withdraws a queued input. */
  | { readonly type: 'withdraw'; readonly target: string }
  /**
   * The session's title (null: none; at most 200 characters), and the programs' metadata about it (replaced as a
   * whole).
   */
  | { readonly type: 'describe'; readonly title?: string | null; readonly meta?: JsonObject }
  /** Replaces the reminder of this name. The times are those of the wall clock. */
  | {
      readonly type: 'set-reminder'
      readonly reminder: string
      readonly dueMs: number
      readonly rule?: ReminderRule
      readonly zone: string
      readonly event: ReminderEvent
      readonly asks?: boolean
    }
  | { readonly type: 'cancel-reminder'; readonly reminder: string }
  | { readonly type: 'pause' }
  | { readonly type: 'continue' }
  | { readonly type: 'stop' }
  | { readonly type: 'start' }
  | {
      readonly type: 'approval'
      /** The request that was shown: it names its call. */
      readonly approvalId: string
      readonly principal: string
      /** Roles of the principal, which deciders may name. */
      readonly roles?: readonly string[]
      /** The principal is an operator: it has the owner's right where no deciders are named. */
      readonly asOwner?: true
      readonly decision: 'approve' | 'deny' | 'edit'
      readonly reason?: string
      /** For people: the model does not read it. */
      readonly note?: string
      /** Also decides later calls of this tool, or those with the same arguments. */
      readonly remember?: 'tool' | 'arguments'
      /** Only for `edit`: the new arguments as JSON text, and the host's findings about them. They are approved. */
      readonly edited?: { readonly arguments: string; readonly check: CallCheck }
      /** Only to approve an answer: the turn's full answer, which the host supplies because state holds no text. */
      readonly answer?: string
    }
  | ({ readonly type: 'question-answer'; readonly questionId: string; readonly principal: string } & QuestionReply)

/** A person's reply to a tool's question: a value, which the host has validated, or a refusal to answer. */
export type QuestionReply =
  | { readonly value: JsonValue }
  /** `reason`: for the tool. */
  | { readonly decline: true; readonly reason?: string }

/** Reports of an attached client, or of the front that carries it, about its own calls and its display. */
export type ClientReport =
  | {
      readonly type: 'client-attached'
      /** Attaching again under the same name renews a client's lease; without a lease nothing changes. */
      readonly connection: string
      readonly principal: string
      /** Whether the client runs its calls strictly one after another. */
      readonly sequential: boolean
      /** Whether it claims a call before it acts on it; otherwise delivery counts as the claim. */
      readonly claims: boolean
      /** Whether it reports how much of an answer was heard; otherwise its front reports `display`. */
      readonly reportsPlayback: boolean
      /** Whether a person behind it can answer approvals and questions. */
      readonly asks: boolean
      /** Names of the agent's own client tools that it can run; all by default. */
      readonly tools?: readonly string[]
      /** Milliseconds before a client without a connection counts as disconnected; at most an hour. Absent: never. */
      readonly leaseMs?: number
    }
  | { readonly type: 'client-detached'; readonly connection: string }
  /** The tools that this client provides, replacing its earlier ones. */
  | { readonly type: 'client-tools'; readonly connection: string; readonly tools: readonly ClientToolSpec[] }
  | { readonly type: 'tool-result'; readonly callId: string; readonly connection: string; readonly outcome: Outcome }
  | { readonly type: 'call-claimed'; readonly callId: string; readonly connection: string; readonly offer: number }
  | { readonly type: 'call-reached'; readonly callId: string; readonly offer: number }
  | { readonly type: 'offer-failed'; readonly callId: string; readonly offer: number }
  /**
   * The answer of this turn is displayed as a whole, or passed to a voice; with `chars`, a voice has played that much
   * of its text.
   */
  | { readonly type: 'display-written'; readonly turn: number; readonly chars?: number }

/** A model attempt (a summary's too), or one start of a server tool. */
export type LostWork =
  | { readonly type: 'model'; readonly attempt: number }
  | { readonly type: 'tool'; readonly callId: string; readonly attempt: number }

/** Inputs reserved to the host: answers to effects, and news of its work and its process. */
export type HostReport =
  | {
      readonly type: 'model-finished'
      readonly attempt: number
      readonly model: string
      readonly parts: readonly ModelPart[]
      /** One check per call in `parts`, in order. */
      readonly checks: readonly CallCheck[]
      readonly finish: FinishReason
      readonly usage: Usage
      /** Texts of the turn's earlier steps, joined by a blank line; state holds no bodies. */
      readonly textBefore: string
      /** For an agent with an output schema, if the answer has no calls. */
      readonly output?: OutputCheck
      /** For an agent that checks its answers, if the answer has no calls and fits its schema. */
      readonly answer?: AnswerCheck
    }
  | { readonly type: 'model-failed'; readonly attempt: number; readonly error: Failure }
  | { readonly type: 'model-stopped'; readonly attempt: number; readonly text: string }
  | { readonly type: 'attempt-progress'; readonly attempt: number; readonly offset: number; readonly text: string }
  | { readonly type: 'summary-finished'; readonly attempt: number; readonly text: string; readonly usage: Usage }
  | { readonly type: 'summary-failed'; readonly attempt: number; readonly error: Failure }
  | { readonly type: 'tool-finished'; readonly callId: string; readonly attempt: number; readonly outcome: Outcome }
  /** A running tool replaces the session's plan. */
  | {
      readonly type: 'plan-set'
      readonly callId: string
      readonly attempt: number
      /** At most 100, of 1,000 characters each; the rest is cut. */
      readonly entries: readonly PlanEntry[]
    }
  /** Usage of a tool's model request. The call may have ended. */
  | {
      readonly type: 'model-used'
      readonly callId: string
      readonly attempt: number
      readonly model: string
      readonly usage: Usage
    }
  /** A running tool asks its user; the nth question of a call is the same after a restart. */
  | {
      readonly type: 'question-asked'
      readonly callId: string
      readonly attempt: number
      /** From 1; at most 16. */
      readonly n: number
      /** At most 4,000 characters. */
      readonly message: string
      /** JSON Schema of the answer; at most 16,384 characters as JSON. */
      readonly schema: JsonObject
      readonly timeoutMs: number
    }
  | { readonly type: 'timer-fired'; readonly timer: string; readonly generation: number }
  /** The whole host died and restarted: no client is attached, and nothing runs. */
  | { readonly type: 'host-restarted'; readonly downMs: number }
  /** One piece of work died with its process; everything else continues. */
  | { readonly type: 'work-lost'; readonly work: LostWork }
  | { readonly type: 'agent-changed' }
  /** The wall clock has passed the time `dueMs` of a reminder. Of another time it has no effect. */
  | {
      readonly type: 'reminder-due'
      readonly reminder: string
      readonly dueMs: number
      /** Its next time, later than `dueMs`; absent if there is none. */
      readonly nextMs?: number
      /** Its time and its delay, in words for the model. */
      readonly told: { readonly due: string; readonly late?: string }
    }
  /**
   * The news of a child's log after `from`, up to `to`; `birth` is the child's. Its `from` must be the position that this
   * session has read so far (`Child.pos`). A repeat has no effect.
   */
  | {
      readonly type: 'child-reported'
      readonly callId: string
      readonly birth: string
      readonly from: number
      readonly to: number
      /** Tells the record at `to` from another one at that position. */
      readonly mark?: string
      readonly report: ChildReport
    }
  /** The log of a child is missing or damaged, or contradicts this one. */
  | { readonly type: 'child-lost'; readonly callId: string; readonly code: ErrorCode; readonly message: string }
  /** The news of the parent's log after `from`, up to `to`; `birth` is the parent's. See `Parent.pos`. */
  | {
      readonly type: 'parent-told'
      readonly birth: string
      readonly from: number
      readonly to: number
      /** Tells the record at `to` from another one at that position. */
      readonly mark?: string
      readonly items: readonly ParentItem[]
    }

export type Input = UserCommand | ClientReport | HostReport
export type InputType = Input['type']
export type InputOf<Type extends InputType> = Extract<Input, { readonly type: Type }>

export const USER_COMMANDS: ReadonlySet<InputType> = new Set<UserCommand['type']>([
  'user-input',
  'transcript',
  'urgent-event',
  'interrupt',
  'cancel-call',
  'rewind',
  'set-model',
  'set-settings',
  'withdraw',
  'describe',
  'set-reminder',
  'cancel-reminder',
  'pause',
  'continue',
  'stop',
  'start',
  'approval',
  'question-answer',
])

export const CLIENT_REPORTS: ReadonlySet<InputType> = new Set<ClientReport['type']>([
  'client-attached',
  'client-detached',
  'client-tools',
  'tool-result',
  'call-claimed',
  'call-reached',
  'offer-failed',
  'display-written',
])

export const HOST_REPORTS: ReadonlySet<InputType> = new Set<HostReport['type']>([
  'model-finished',
  'model-failed',
  'model-stopped',
  'attempt-progress',
  'summary-finished',
  'summary-failed',
  'tool-finished',
  'question-asked',
  'plan-set',
  'model-used',
  'timer-fired',
  'host-restarted',
  'work-lost',
  'agent-changed',
  'reminder-due',
  'child-reported',
  'child-lost',
  'parent-told',
])

/** The answer to the sender of an input. */
export interface Accepted {
  readonly type: 'accepted'
  /** Position of its record; the first one for a repeated input. */
  readonly pos: number
  /** For a claim: the client had already claimed the call. */
  readonly again?: true
  /** For an interrupt: the turn that it ended. Absent if none was running, or not the named one. */
  readonly ended?: number
}

export interface Refused extends Refusal {
  readonly type: 'refused'
}
