// A session's view of its client, independent of the protocol version.
import type { CallView, JsonObject } from '@baton/core'
import type { Outcome } from '@baton/core/machine'
import type { PermissionAsked } from './permissions.ts'
import type { Update } from './updates.ts'

export interface Wire {
  /** Aborts when the connection has ended, before its open requests reject. */
  readonly gone: AbortSignal
  /** Resolves when it is written. Rejects when the connection is lost. */
  tell(update: Update): Promise<void>
  /** Resolves with the client's answer, unchecked. `signal` aborts when the answer is no longer needed. */
  askPermission(asked: PermissionAsked, signal: AbortSignal): Promise<unknown>
  /** Present if the client can show forms. */
  readonly askForm?: (question: WireQuestion, signal: AbortSignal) => Promise<unknown>
  /** Present if the client runs tools of the agent. */
  readonly callTool?: (call: CallView, signal: AbortSignal) => Promise<Outcome>
  /** Names of the client tools it runs, or `all`. */
  readonly runs?: readonly string[] | 'all'
}

export interface WireQuestion {
  readonly callId: string
  readonly message: string
  readonly schema: JsonObject
}
