// Everything that can come into a session, by who may say it. A host lets nobody speak in its own name: what comes from
// outside is a `UserCommand` or a `ClientReport`, and the machine itself does not know who hands an input in.
import type { ErrorCode } from '../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { FinishReason, StoredPart, Usage } from '../messages.ts'
import type { ModelPart, ModelSettings } from '../agent/model.ts'
import type { IndexEntry } from './state.ts'
import type { PlanEntry, ToolSpec } from './spec.ts'

/** How much of the answer the user took in, counted over the turn's whole text. */
export type Played =
  | { readonly type: 'all' }
  | { readonly type: 'chars'; readonly chars: number }
  /** A version 1 app does not say: all if the answer was handed to its voice, else nothing. */
  | { readonly type: 'display' }

/** Title and meta that people and programs gave it. */
export type Heard =
  | Exclude<Played, { readonly type: 'chars' }>
  | { readonly type: 'none' }
  /** As much of the newest answer as a voice has reported; all if none has. */
  | { readonly type: 'reported' }
  | HeardPlace

/**
 * A place in the answer `message`, or in the newest one. If a newer answer than `message` has begun, nothing of the newer one was
 * heard. The session counts the characters, and hands on `chars` alone.
 */
export type HeardPlace =
  /** UTF-16 units of the answer's text, such as up to the `end` of a sentence. */
  | { readonly type: 'chars'; readonly chars: number; readonly message?: string }
  /** The first words of what a voice says of the answer, as `Intl.Segmenter` counts words. */
  | { readonly type: 'words'; readonly words: number; readonly message?: string }
  /** Up to the end of this sentence (counted from 0), or of its first words. */
  | { readonly type: 'sentence'; readonly index: number; readonly words?: number; readonly message?: string }

export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly retryable: boolean
  readonly retryAfterMs?: number
  /** Tokens of the model's window, where its refusal names them. */
  readonly contextTokens?: number
}

/** The result of a tool or a client. */
export type Outcome =
  /** `value`: what the content is the text of, where it is JSON and short enough to be kept twice. */
  | { readonly type: 'ok'; readonly content: readonly StoredPart[]; readonly value?: JsonValue }
  | { readonly type: 'error'; readonly code: ErrorCode; readonly message: string }

/** When an input reaches the model: after the running turn, at the end of the running step, or by interrupting it. */
export type Delivery = 'queue' | 'steer' | 'interrupt'

/** The host's findings about one call of an answer before it handed the answer in. */
export interface CallCheck {
  /** Hash of the raw arguments; finds a decision that is remembered for them. */
  readonly argumentsHash: string
  /** The fault of the arguments, in words that the model can act on. */
  readonly invalid?: string
  /** Present: a person must approve. */
  readonly asks?: true
  /**
   * Beside `asks`: earlier decisions to approve do not count, but for those of a call of the tool that asked for the same. A person who
   * approves the call approves later ones that ask for the same. Empty: the decision is about this call alone.
   */
  readonly asksFor?: string
  /** Beside `asksFor`: the approval stands for later calls only if the person says so (`remember`). */
  readonly asksEach?: true
  /** Present: a policy denies the call, in words for the model. No person can approve it. */
  readonly denied?: string
  /** The call's description for people: a title, a kind, places, a diff. The machine only keeps it. */
  readonly about?: JsonObject
  /** Repairs of its text before it was read. */
  readonly repairs?: readonly string[]
  /** The call could not be read; `invalid` says why. */
  readonly unreadable?: true
}

export interface ClientToolSpec extends ToolSpec {
  readonly description: string
  readonly inputSchema: JsonValue
}

/** Whether the step's text fits the agent's output schema. */
export interface OutputCheck {
  /** In words that a model can act on; null when it fits. */
  readonly issue: string | null
}

/** The verdict of the agent's `checkAnswer` on an answer. */
export type AnswerCheck =
  | { readonly verdict: 'accept' }
  | { readonly verdict: 'again'; readonly reason: string }
  /** A person decides: one of `by`, where it is there, else the session's own. */
  | { readonly verdict: 'ask'; readonly reason: string; readonly title?: string; readonly by?: readonly string[] }
  /** It threw, took too long or gave no verdict: the answer is not taken. */
  | { readonly verdict: 'failed'; readonly message: string }

/**
 * Inputs that a person or a program may give through a session. `asks` (true by default) says whether who sends an input can be
 * asked for approvals and questions while it is answered.
 */
export type UserCommand =
  | {
      readonly type: 'user-input'
      readonly inputId: string
      readonly parts: readonly StoredPart[]
      readonly delivery?: Delivery
      readonly model?: string
      readonly settings?: ModelSettings
      /** JSON Schema that the answer fits, in place of the agent's. Inputs that differ in it are not answered together. */
      readonly output?: JsonObject
      readonly heard?: Heard
      readonly asks?: boolean
      /**
       * Another input follows at once, and one answer is for both. If none comes within the silence of a batch (2 s by default), this
       * one is answered alone.
       */
      readonly more?: true
      /** W3C trace context of whoever sends it: the parent of its turn's spans. */
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
      /** In the brackets before the name, for the model; `Event` by default. */
      readonly label?: string
      readonly detail?: JsonValue
      readonly message?: string
      readonly delivery?: Delivery
      readonly heard?: Heard
      readonly asks?: boolean
    }
  /** `turn`: only while this turn is the newest. */
  | { readonly type: 'interrupt'; readonly reason: string; readonly heard: Heard; readonly turn?: number }
  | {
      readonly type: 'rewind'
      readonly inputId: string
      /** This exchange and all later ones leave the history. */
      readonly exchange: number
      /** Removes only the entries of that exchange from this one on; absent: all of them. */
      readonly fromEntry?: number
      /** Whether the inputs that leave that exchange are asked again. */
      readonly again: boolean
      /** A running turn ends first. Without it a rewind is refused while one runs. */
      readonly interrupt?: true
      /** Said in place of what leaves, under the id of this input. */
      readonly replace?: {
        readonly parts: readonly StoredPart[]
        readonly model?: string
        readonly settings?: ModelSettings
      }
      /** JSON Schema that the new answer fits; the host takes it from the turn that is taken back. */
      readonly output?: JsonObject
      /** The index as it stood, where state no longer has it; the host folds it from the log. */
      readonly index?: readonly IndexEntry[]
    }
  | { readonly type: 'set-model'; readonly model: string }
  /** Settings of all turns from the next one on; those of an input win. Null: none. */
  | { readonly type: 'set-settings'; readonly settings: ModelSettings | null }
  /** Takes back an input that waits. */
  | { readonly type: 'withdraw'; readonly target: string }
  /** The session's title (null: none; at most 200 characters), and the notes of programs about it (replaced whole). */
  | { readonly type: 'describe'; readonly title?: string | null; readonly meta?: JsonObject }
  | { readonly type: 'pause' }
  | { readonly type: 'continue' }
  | { readonly type: 'stop' }
  | { readonly type: 'start' }
  | {
      readonly type: 'approval'
      /** The request that was shown: it names its call. */
      readonly approvalId: string
      readonly principal: string
      readonly decision: 'approve' | 'deny' | 'edit'
      readonly reason?: string
      /** Decides later calls of this tool too, or those with the same arguments. */
      readonly remember?: 'tool' | 'arguments'
      /** Only for `edit`: the new arguments as JSON text, and what the host found out about them. They are approved. */
      readonly edited?: { readonly arguments: string; readonly check: CallCheck }
      /** Only where an answer is approved: the turn's whole answer. State holds no text, so the host brings it. */
      readonly answer?: string
    }
  | ({ readonly type: 'question-answer'; readonly questionId: string; readonly principal: string } & QuestionReply)

/** A person's reply to a question of a tool: a value, which the host has checked against its schema, or a refusal to answer. */
export type QuestionReply =
  | { readonly value: JsonValue }
  /** `reason`: for the tool. */
  | { readonly decline: true; readonly reason?: string }

/** Reports of an attached client, or of the front that carries it: about its own calls and its display. */
export type ClientReport =
  | {
      readonly type: 'client-attached'
      /** Attached again under the same name, a client with a lease renews it; one without changes nothing. */
      readonly connection: string
      readonly principal: string
      /** Whether the client answers its calls strictly one after another. */
      readonly sequential: boolean
      /** Whether it claims a call before it acts on it; else delivery is the claim. */
      readonly claims: boolean
      /** Whether it says how much of an answer was heard; else its front says `display`. */
      readonly reportsPlayback: boolean
      /** Whether a person behind it can be asked for approvals and questions. */
      readonly asks: boolean
      /** Names of the agent's own client tools that it can run; all by default. */
      readonly tools?: readonly string[]
      /** Milliseconds after which a client without a connection counts as gone; at most an hour. Absent: never. */
      readonly leaseMs?: number
    }
  | { readonly type: 'client-detached'; readonly connection: string }
  /** The tools that this client brings, in place of those that it brought before. */
  | { readonly type: 'client-tools'; readonly connection: string; readonly tools: readonly ClientToolSpec[] }
  | { readonly type: 'tool-result'; readonly callId: string; readonly connection: string; readonly outcome: Outcome }
  | { readonly type: 'call-claimed'; readonly callId: string; readonly connection: string; readonly offer: number }
  | { readonly type: 'call-reached'; readonly callId: string; readonly offer: number }
  | { readonly type: 'offer-failed'; readonly callId: string; readonly offer: number }
  /** The answer of this turn is shown as a whole, or handed to a voice; with `chars`, a voice played so much of its text. */
  | { readonly type: 'display-written'; readonly turn: number; readonly chars?: number }

/** A model attempt (a summary's too), or one start of a server tool. */
export type LostWork =
  | { readonly type: 'model'; readonly attempt: number }
  | { readonly type: 'tool'; readonly callId: string; readonly attempt: number }

/** Inputs that only the host may give: answers to effects, and news of its work and its process. */
export type HostReport =
  | {
      readonly type: 'model-finished'
      readonly attempt: number
      readonly model: string
      readonly parts: readonly ModelPart[]
      /** One for each call among `parts`, in their order. */
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
      /** At most 100, of 1,000 characters each; further ones and longer texts are cut. */
      readonly entries: readonly PlanEntry[]
    }
  /** A tool asked a model, and this is what it cost. The call may be over. */
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
  /** The whole host died and came back: nobody is attached, nothing runs. */
  | { readonly type: 'host-restarted'; readonly downMs: number }
  /** One piece of work died with its process; everything else goes on. */
  | { readonly type: 'work-lost'; readonly work: LostWork }
  | { readonly type: 'agent-changed' }

export type Input = UserCommand | ClientReport | HostReport
export type InputType = Input['type']
export type InputOf<Type extends InputType> = Extract<Input, { readonly type: Type }>

export const USER_COMMANDS: ReadonlySet<InputType> = new Set<UserCommand['type']>([
  'user-input',
  'transcript',
  'urgent-event',
  'interrupt',
  'rewind',
  'set-model',
  'set-settings',
  'withdraw',
  'describe',
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
])
