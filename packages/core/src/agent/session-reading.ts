// Reading a session: its events, its messages, its current state, and what waits for a person.
import type { ChatMessage } from '../events/conversation.ts'
import type {
  CallView,
  ContextUse,
  EventCursor,
  MessageId,
  SessionActivity,
  SessionEvent,
} from '../events/session-event.ts'
import type { JsonObject } from '../json.ts'
import type { PathStep } from '../machine/tree-values.ts'
import type { Delivery, PlanEntry } from '../machine/values.ts'
import type { AskedFor, Principal } from './policy.ts'
import type { CallDescription, ToolKind } from './tool-options.ts'

/** Events one by one or in batches; use one way or the other, not both. */
export interface EventStream<Call extends CallView = CallView> extends AsyncIterable<SessionEvent<Call>> {
  /** All available events, at least one; the events of a record stay together. Undefined at the end. */
  nextBatch(): Promise<EventBatch<Call> | undefined>
  /** Ends the reading at once. */
  leave(): void
}

export interface EventBatch<Call extends CallView = CallView> {
  readonly events: readonly SessionEvent<Call>[]
  /** The cursor after them. */
  readonly next: EventCursor
}

/** A page of `session.messages`, oldest message first. */
export interface MessagesPage {
  readonly messages: readonly ChatMessage[]
  /** There are older ones: query again with `before`. */
  readonly more: boolean
  /** Pass it to `events` to continue after this page. */
  readonly next: EventCursor
}

/** A call that waits for a person's decision, as it is shown to them. */
export interface PendingApproval extends CallDescription {
  /** Id of this request: an edit or a new request has another one. */
  readonly approvalId: string
  readonly callId: string
  /** The tool's name. */
  readonly name: string
  readonly kind?: ToolKind
  readonly input: JsonObject
  /** Why a policy asks; absent if the tool itself asks. */
  readonly asked?: AskedFor
  /** Session time at which the call is denied. */
  readonly expiresAtMs: number
  /** For a call of an agent below: the delegated calls down to it, and the agents that they call. */
  readonly path?: readonly PathStep[]
}

/** A question of a running tool. */
export interface PendingQuestion {
  readonly questionId: string
  readonly callId: string
  readonly message: string
  /** JSON Schema of the answer. */
  readonly schema: JsonObject
  /** Session time at which it counts as declined. */
  readonly expiresAtMs: number
  /** See `PendingApproval.path`. */
  readonly path?: readonly PathStep[]
}

/** The state of a session, from `session.info()`: one look, without its messages. */
export interface SessionDetails {
  readonly id: string
  readonly agent: string
  readonly principal: Principal
  readonly title?: string
  readonly meta: JsonObject
  readonly activity: SessionActivity
  /** The model of the next turn, and the ids of all candidates, in order. */
  readonly model: string
  readonly models: readonly string[]
  /** Queued inputs, oldest first. */
  readonly queued: readonly { readonly inputId: MessageId; readonly delivery: Delivery }[]
  readonly approvals: readonly PendingApproval[]
  readonly questions: readonly PendingQuestion[]
  readonly plan: readonly PlanEntry[]
  /** Estimated tokens of the next request; `size` is the model's window, if known. */
  readonly context: ContextUse
  /** Time of the newest record, in milliseconds since 1970. */
  readonly lastMs: number
  /** The cursor at which `events` continues from now. */
  readonly head: EventCursor
}
