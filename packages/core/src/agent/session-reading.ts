// Reading a session: its events, its messages and its current state.
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
import type { Delivery } from '../machine/input.ts'
import type { PlanEntry } from '../machine/spec.ts'
import type { AbortSignalLike } from './environment.ts'
import type { PendingApproval, PendingQuestion } from './session-api.ts'

/** The first event to read: after a cursor, from the first record, from the newest turn, or only new ones. */
export interface EventsOptions {
  /** `now` by default. Of a step that is being written, all that was said so far comes first. */
  readonly from?: EventCursor | 'start' | 'turn' | 'now'
  /** Ends the reading. */
  readonly signal?: AbortSignalLike
  /**
   * For fronts that write to devices: also events of who was asked to run a call, who spoke an answer and who interrupted, and
   * with each event that a record tells its place in the log (`at`), of which a front may make ids that a repeat keeps. A
   * cursor of such a reading belongs to such readings. False by default.
   */
  readonly delivery?: boolean
}

/** Events one by one, or as many as there are: read it one way or the other, and not both. */
export interface EventStream<Call extends CallView = CallView> extends AsyncIterable<SessionEvent<Call>> {
  /** All events that are there, at least one; the events of a record stand together. Undefined at the end. */
  nextBatch(): Promise<EventBatch<Call> | undefined>
  /** Ends the reading at once. */
  leave(): void
}

export interface EventBatch<Call extends CallView = CallView> {
  readonly events: readonly SessionEvent<Call>[]
  /** The cursor after them. */
  readonly next: EventCursor
}

export interface MessagesQuery {
  /** Only messages before this one. */
  readonly before?: MessageId
  /** The newest so many of them; 1 to 200, 50 by default. */
  readonly limit?: number
}

export interface MessagesPage {
  readonly messages: readonly ChatMessage[]
  /** There are older ones: ask again with `before`. */
  readonly more: boolean
  /** Hand it to `events` to go on from what this page shows. */
  readonly next: EventCursor
}

export interface SessionDetails {
  readonly id: string
  readonly agent: string
  readonly principal: string
  readonly title?: string
  readonly meta: JsonObject
  readonly activity: SessionActivity
  /** The model that the next turn asks, and the ids of all that may be asked, in their order. */
  readonly model: string
  readonly models: readonly string[]
  /** Inputs that wait, oldest first. */
  readonly queued: readonly { readonly inputId: MessageId; readonly delivery: Delivery }[]
  readonly approvals: readonly PendingApproval[]
  readonly questions: readonly PendingQuestion[]
  readonly plan: readonly PlanEntry[]
  /** Tokens of the next request, as they are estimated; `size`: of the model's window, where that is known. */
  readonly context: ContextUse
  /** Milliseconds since 1970, of the newest record. */
  readonly lastMs: number
  /** The cursor at which `events` continues from now. */
  readonly head: EventCursor
}
