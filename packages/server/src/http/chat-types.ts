// Types of a chat for `UIMessage` of the AI SDK: Baton's message metadata, its `data-…` parts, and an agent's tools. A
// page imports only the types.
import type {
  Agent,
  EventCursor,
  JsonObject,
  JsonValue,
  PendingApproval,
  PlanEntry,
  SessionEventOf,
  TurnStop,
  Usage,
  UserChatMessage,
} from '@baton/core/internal'

/** `UIMessage['metadata']`. An answer being written has only `turn`; a loaded message has more. */
export interface ChatMetadata {
  readonly turn?: number
  /** Why the answer ended. */
  readonly stop?: TurnStop
  readonly usage?: Usage
  /** Position in the session's events after the answer. Absent on a loaded message. */
  readonly cursor?: EventCursor
  /** On a loaded message: milliseconds since 1970. */
  readonly atMs?: number
  /** On a loaded message: the number of its exchange, a question with its answer. */
  readonly exchange?: number
  /** On a loaded answer that failed; `code` is listed in docs/errors.md. */
  readonly error?: { readonly code: string; readonly message: string }
  /** On a loaded user message: who sent it. */
  readonly from?: UserChatMessage['from']
  /** On a loaded user message: the model has not read it yet. */
  readonly waits?: boolean
}

// A type, not an interface: the AI SDK wants an index signature.
/**
 * Data of Baton's parts, by the suffix of their type after `data-`. `useChat<UIMessage<ChatMetadata, ChatData>>` types
 * them.
 */
export type ChatData = {
  /** A question of a tool. The part is sent again with `value` or `declined` once it is answered. */
  readonly question: { readonly questionId: string; readonly callId: string } & (
    | {
        readonly message: string
        readonly schema: JsonObject
        readonly expiresAtMs: number
        /** For a question of an agent below: the delegated calls down to it. */
        readonly path?: readonly { readonly callId: string; readonly agent: string }[]
      }
    | { readonly value: JsonValue }
    | { readonly declined: 'person' | 'expired' | 'nobody' }
  )
  /**
   * A call that others than the page's user decide. The part is sent again once they have; `decision` is `approve`,
   * `edit` or `deny`.
   */
  readonly approval: { readonly approvalId: string; readonly callId: string } & (
    | {
        readonly name: string
        readonly title?: string
        readonly deciders: NonNullable<PendingApproval['deciders']>
        readonly expiresAtMs: number
        /** For a call of an agent below: the delegated calls down to it. */
        readonly path?: readonly { readonly callId: string; readonly agent: string }[]
      }
    | Pick<SessionEventOf<'approval-decided'>, 'decision' | 'principal' | 'reason' | 'note'>
  )
  readonly plan: readonly PlanEntry[]
  readonly limit: Pick<SessionEventOf<'limit'>, 'limit' | 'used' | 'max' | 'reached'>
  readonly 'left-out': Pick<SessionEventOf<'content-left-out'>, 'messages' | 'reason'>
  /** Transient: the calls and questions that a message sent during a waiting turn is waiting for. */
  readonly waiting: readonly {
    readonly callId: string
    readonly name: string
    readonly title?: string
    readonly waitsFor: 'approval' | 'client' | 'question'
  }[]
  /** Transient: only passed to `onData`. */
  readonly progress: { readonly callId: string; readonly note: JsonValue }
  /** Transient. */
  readonly title: string | null
  /** Transient: older messages left the model's window. */
  readonly compacted: Pick<SessionEventOf<'compacted'>, 'how'>
}

/** Inputs and outputs of an agent's tools by name, as `useChat` expects them. */
export type ChatTools<A extends Agent> = {
  [T in A['tools'][number] as T['name']]: {
    input: NonNullable<T['types']>['input']
    output: NonNullable<T['types']>['output']
  }
}
