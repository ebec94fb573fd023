// Events in session files of coding agents, in terms that do not depend on the agent.

export const SESSION_PROVIDERS = ['claude-code', 'codex', 'gemini-cli', 'opencode'] as const
export type SessionProvider = (typeof SESSION_PROVIDERS)[number]

/** One thing that happened. A line may have several, or none. */
export interface HistoryEvent {
  /** `note`: what a program put in a user's or its own name: commands, environments, summaries. */
  readonly role: 'user' | 'assistant' | 'tool' | 'note'
  readonly type: 'text' | 'reasoning' | 'call' | 'result' | 'image'
  readonly text: string
  readonly tool?: string
  readonly callId?: string
  readonly isError?: true
  /** Set for an agent that the agent started. */
  readonly isSidechain?: true
  /** Files that a call names. */
  readonly files?: readonly string[]
  /** Events of one session with the same key are one; the first one is shown. */
  readonly key?: string
}

export interface TokenCount {
  /** Without those read from a cache. */
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** A line's facts about the session. */
export interface SessionFacts {
  readonly id?: string
  readonly cwd?: string
  readonly branch?: string
  readonly version?: string
  readonly model?: string
  /** The higher `rank` wins. */
  readonly title?: { readonly text: string; readonly rank: number }
}

export interface ReadLine {
  readonly atMs?: number
  readonly events: readonly HistoryEvent[]
  readonly facts?: SessionFacts
  readonly tokens?: TokenCount
  /** Counts of the same key stand for one: the last one counts. */
  readonly tokensKey?: string
  /** A type that the reader does not know. */
  readonly unknown?: string
}

export type ReadSessionLine = (line: Readonly<Record<string, unknown>>) => ReadLine

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A larger count in one line is ignored. */
const COUNT_MAX = 1_000_000_000
/** The year 2100. */
const TIME_MAX_MS = 4_102_444_800_000

export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= COUNT_MAX ? value : 0
}

/** Milliseconds since 1970, from a date or from themselves; undefined for what is not a time, or one that no session can have had. */
export function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? Math.trunc(value) : Number.NaN
  return ms >= 0 && ms <= TIME_MAX_MS ? ms : undefined
}

export function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** Paths that the arguments of a call have under these names. */
export function filesOf(input: unknown, names: readonly string[]): readonly string[] {
  return isRecord(input) ? names.flatMap((name) => textOf(input[name]) ?? []) : []
}
