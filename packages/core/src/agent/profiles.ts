// Profiles: limits and settings for a kind of program. An agent takes one and overrides what it likes.
import type { AgentProfile } from './agent.ts'

/**
 * For voice: answers short enough to be spoken (512 tokens; more while tools are active), the last 20 exchanges without
 * summaries, 8 tool rounds, and 30 seconds for the first word of an answer.
 */
export const voice: AgentProfile = {
  settings: { maxOutputTokens: 512, moreForTools: true },
  window: { exchanges: 20, summarise: false },
  limits: { toolRounds: 8, callsPerTurn: 64, firstWordMs: 30_000 },
}
