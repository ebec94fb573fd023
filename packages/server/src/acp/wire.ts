// A session's view of its client, whatever version of the protocol the client speaks.
import type { CallView, JsonObject } from '@baton/core'
import type { Outcome } from '@baton/core/machine'
import type { PermissionAsked } from './permissions.ts'
import type { Update } from './updates.ts'

export interface Wire {
  /** Resolves when it is written. Rejects when the connection is gone. */
  tell(update: Update): Promise<void>
  /** Resolves with the client's answer, unchecked. `signal`: nobody waits for the answer any more. */
  askPermission(asked: PermissionAsked, signal: AbortSignal): Promise<unknown>
  /** Present where the client can show forms. */
  readonly askForm?: (question: WireQuestion, signal: AbortSignal) => Promise<unknown>
  /** Present where the client runs tools of the agent. */
  readonly callTool?: (call: CallView, signal: AbortSignal) => Promise<Outcome>
  /** Names of the client tools that it runs; `all` of them. */
  readonly runs?: readonly string[] | 'all'
}

export interface WireQuestion {
  readonly callId: string
  readonly message: string
  readonly schema: JsonObject
}
