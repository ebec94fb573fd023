// Updates of a session for an editor, independent of the protocol version. They are made from session events;
// `v1-updates.ts` and `v2-updates.ts` encode them for the wire; the encoding that both share is here.
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

export function encodeChoice({ name, description, category, current: currentValue, options }: ShownChoice) {
  const listed = options.map((option) => ({ ...option }))
  return { type: 'select' as const, name, description, category, currentValue, options: listed }
}

export function encodeEntries(entries: readonly PlanEntry[]) {
  return entries.map(({ content, status, priority = 'medium' }) => ({ content, status, priority }))
}

export function encodeNews(update: Extract<Update, { readonly type: 'title' | 'usage' | 'notice' | 'compacted' }>) {
  switch (update.type) {
    case 'title': {
      const { title, atMs } = update
      const updatedAt = new Date(atMs).toISOString()
      return { sessionUpdate: 'session_info_update', updatedAt, ...(title !== undefined && { title }) } as const
    }
    case 'usage': {
      const { used, size, costMicros } = update
      const cost = costMicros === undefined ? {} : { cost: { amount: costMicros / 1_000_000, currency: 'USD' } }
      return { sessionUpdate: 'usage_update', used, size, ...cost } as const
    }
    case 'notice': {
      const { severity, title, text: description } = update
      return { sessionUpdate: 'notice', severity, title, ...(description !== undefined && { description }) } as const
    }
    case 'compacted': {
      const { id: compactionId, summary } = update
      const told = summary === undefined ? {} : { summary: [{ type: 'text' as const, text: summary }] }
      return { sessionUpdate: 'compaction_update', compactionId, status: 'completed', ...told } as const
    }
    default:
      return update satisfies never
  }
}

const STOP_REASONS = {
  end: 'end_turn',
  tool: 'end_turn',
  silent: 'end_turn',
  'max-tokens': 'max_tokens',
  limit: 'max_turn_requests',
  refused: 'refusal',
  cancelled: 'cancelled',
  stopped: 'cancelled',
} as const satisfies Record<Exclude<TurnStop, 'failed'>, string>

/** The protocol's reason for the end of a turn, or the turn's error if it failed for a reason other than a limit. */
export function readStop({ stop, error = { code: 'internal', message: 'the turn failed' } }: TurnEnd) {
  if (stop !== 'failed') return { stopReason: STOP_REASONS[stop] }
  if (error.code === 'tool_round_limit_exceeded') return { stopReason: STOP_REASONS.limit }
  if (error.code === 'turn_tokens_exceeded') return { stopReason: STOP_REASONS['max-tokens'] }
  return { error }
}
