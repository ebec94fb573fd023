// Profiles: limits and settings for a kind of program. An agent takes one and overrides what it likes.
import type { BatchSpec, Limits, RetrySpec, WindowSpec } from '../machine/spec.ts'
import type { ModelSettings } from '../model-settings.ts'

/** Defaults for an agent. The agent's own values win. */
export type AgentProfile = {
  readonly limits?: Partial<Limits>
  readonly window?: Partial<WindowSpec>
  readonly retry?: Partial<RetrySpec>
  readonly batch?: Partial<BatchSpec>
  readonly settings?: ModelSettings
  /** How to handle an empty answer: ask once more (default), or treat it as silence. */
  readonly emptyAnswer?: 'retry' | 'silence'
}

/**
 * For voice: answers short enough to be spoken (512 tokens; more while tools are active), the last 20 exchanges without
 * summaries, 8 tool rounds, and 30 seconds for the first word of an answer.
 */
export const voice: AgentProfile = {
  settings: { maxOutputTokens: 512, moreForTools: true },
  window: { exchanges: 20, summarise: false },
  limits: { toolRounds: 8, callsPerTurn: 64, firstWordMs: 30_000 },
}
