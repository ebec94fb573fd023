// The types of a chat for `UIMessage` of the AI SDK: what Baton puts into a message's metadata and its `data-…` parts, and the
// tools of an agent. A page imports the types alone.
import type {
  Agent,
  EventCursor,
  JsonObject,
  JsonValue,
  PlanEntry,
  SessionEventOf,
  TurnStop,
  Usage,
  UserChatMessage,
} from '@baton/core'

/** `UIMessage['metadata']`. An answer that is being written has only `turn`; a loaded message has more. */
export interface ChatMetadata {
  readonly turn?: number
  /** Why the answer ended. */
  readonly stop?: TurnStop
  readonly usage?: Usage
  /** The place behind the answer in the session's events; a loaded message has none. */
  readonly cursor?: EventCursor
  /** For a loaded message: milliseconds since 1970. */
  readonly atMs?: number
  /** For a loaded message: counts the questions of the session, each with its answer. */
  readonly exchange?: number
  /** For a loaded answer that failed; `code` is a word of docs/errors.md. */
  readonly error?: { readonly code: string; readonly message: string }
  /** For a loaded user message: who said it. */
  readonly from?: UserChatMessage['from']
  /** For a loaded user message: the model has not read it yet. */
  readonly waits?: boolean
}

/** The data of Baton's own parts, by what follows `data-` in the part's type. */
// A type, not an interface: the AI SDK wants an index signature.
export type ChatData = {
  /** A tool asks; the same part again, with `value` or `declined`, once it is answered. */
  readonly question: { readonly questionId: string; readonly callId: string } & (
    | { readonly message: string; readonly schema: JsonObject; readonly expiresAtMs: number }
    | { readonly value: JsonValue }
    | { readonly declined: 'person' | 'expired' | 'nobody' }
  )
  readonly plan: readonly PlanEntry[]
  readonly limit: Pick<SessionEventOf<'limit'>, 'limit' | 'used' | 'max' | 'reached'>
  readonly 'left-out': Pick<SessionEventOf<'content-left-out'>, 'messages' | 'reason'>
  /** Transient: what a message waits for that was sent while a turn waits. */
  readonly waiting: readonly {
    readonly callId: string
    readonly name: string
    readonly title?: string
    readonly waitsFor: 'approval' | 'client' | 'question'
  }[]
  /** Transient: `onData` alone is told. */
  readonly progress: { readonly callId: string; readonly note: JsonValue }
  /** Transient. */
  readonly title: string | null
  /** Transient: older messages left the model's window. */
  readonly compacted: Pick<SessionEventOf<'compacted'>, 'how'>
}

/** The inputs and outputs of an agent's tools, by their names, as `useChat` knows them. */
export type ChatTools<A extends Agent> = {
  [T in A['tools'][number] as T['name']]: {
    input: NonNullable<T['types']>['input']
    output: NonNullable<T['types']>['output']
  }
}
