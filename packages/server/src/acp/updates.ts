// Updates of a session for an editor, independent of the protocol version. They are made from session events;
// `v1-updates.ts` and `v2-updates.ts` encode them for the wire.
import type { CallView, PlanEntry, TurnStop } from '@baton/core/internal'
import type { ContentBlock } from '@agentclientprotocol/sdk'

export type Block = ContentBlock

export type CallStage = 'pending' | 'in_progress' | 'completed' | 'failed' | 'cancelled'

export type ShownContent =
  | { readonly type: 'content'; readonly content: Block }
  | { readonly type: 'diff'; readonly path: string; readonly oldText: string | null; readonly newText: string }
  | { readonly type: 'terminal'; readonly terminalId: string }

export interface ShownCall {
  readonly toolCallId: string
  readonly title: string
  readonly name: string
  readonly kind: NonNullable<CallView['kind']>
  readonly status: CallStage
  readonly content: readonly ShownContent[]
  readonly locations: readonly { readonly path: string; readonly line?: number }[]
  readonly rawInput: unknown
  readonly rawOutput?: unknown
}

export interface ShownChoice {
  readonly id: 'model' | 'thinking' | 'mode'
  readonly name: string
  readonly description: string
  readonly category: 'model' | 'thought_level' | 'mode'
  readonly current: string
  readonly options: readonly { readonly value: string; readonly name: string; readonly description?: string }[]
}

export interface TurnEnd {
  readonly stop: TurnStop
  readonly error?: { readonly code: string; readonly message: string }
}

export type Update =
  /** `isOwn`: this connection sent it, and shows it already. */
  | { readonly type: 'user-message'; readonly id: string; readonly content: readonly Block[]; readonly isOwn: boolean }
  /** Appends to a message. */
  | { readonly type: 'text' | 'thought'; readonly id: string; readonly text: string }
  /** The whole of a past message. */
  | { readonly type: 'whole-text' | 'whole-thought'; readonly id: string; readonly text: string }
  /** Replaces everything sent of a message. */
  | { readonly type: 'text-replaced' | 'thought-replaced'; readonly id: string; readonly text: string }
  | { readonly type: 'call'; readonly call: ShownCall; readonly isNew: boolean }
  /** Output of a running call. */
  | { readonly type: 'call-content'; readonly callId: string; readonly content: readonly ShownContent[] }
  | { readonly type: 'plan'; readonly entries: readonly PlanEntry[] }
  | { readonly type: 'title'; readonly title?: string | null; readonly atMs: number }
  | { readonly type: 'choices'; readonly choices: readonly ShownChoice[] }
  | { readonly type: 'mode'; readonly mode: string }
  | { readonly type: 'usage'; readonly used: number; readonly size: number; readonly costMicros?: number }
  | { readonly type: 'notice'; readonly severity: 'info' | 'warning'; readonly title: string; readonly text?: string }
  | { readonly type: 'compacted'; readonly id: string; readonly summary?: string }
  | { readonly type: 'state'; readonly state: 'running' | 'requires_action' | 'idle' }
  | { readonly type: 'ended'; readonly end: TurnEnd }
