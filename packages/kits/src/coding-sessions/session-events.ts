// Session files and their events, whichever agent wrote them.

export const SESSION_PROVIDERS = ['claude-code', 'codex', 'gemini-cli', 'opencode'] as const
export type SessionProvider = (typeof SESSION_PROVIDERS)[number]

/** A stored session, and where it is. */
export interface SessionFile {
  readonly id: string
  readonly provider: SessionProvider
  readonly form: 'lines' | 'members' | 'files' | 'rows'
  readonly path: string
  /** Absent if the session is not a single file. */
  readonly bytes?: number
  readonly updatedMs: number
  /** The folder in which it ran, if its location reveals it. */
  readonly cwd?: string
}

/** One event. A line may contain several or none. */
export interface HistoryEvent {
  /** `note`: text that a program wrote in a user's or its own name: commands, environments, summaries. */
  readonly role: 'user' | 'assistant' | 'tool' | 'note'
  readonly type: 'text' | 'reasoning' | 'call' | 'result' | 'image'
  readonly text: string
  readonly tool?: string
  readonly callId?: string
  readonly isError?: true
  /** Set for events of a subagent. */
  readonly isSidechain?: true
  /** Files named by a call. */
  readonly files?: readonly string[]
  /** Events of one session with the same key are duplicates; the first is shown. */
  readonly key?: string
}

export interface TokenCount {
  /** Excludes cache reads. */
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
  /** The title with the higher `rank` wins. */
  readonly title?: { readonly text: string; readonly rank: number }
}

export interface ReadLine {
  readonly atMs?: number
  readonly events: readonly HistoryEvent[]
  readonly facts?: SessionFacts
  readonly tokens?: TokenCount
  /** Counts with the same key replace each other; the last one wins. */
  readonly tokensKey?: string
  /** A type unknown to the reader. */
  readonly unknown?: string
}

export type ReadSessionLine = (line: Readonly<Record<string, unknown>>) => ReadLine

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Larger counts are ignored. */
const COUNT_MAX = 1_000_000_000
/** The year 2100. */
const TIME_MAX_MS = 4_102_444_800_000

export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= COUNT_MAX ? value : 0
}

/** Milliseconds since 1970, from a date or a number; `undefined` if it is not a time, or implausible for a session. */
export function timeOf(value: unknown): number | undefined {
  const ms = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? Math.trunc(value) : Number.NaN
  return ms >= 0 && ms <= TIME_MAX_MS ? ms : undefined
}

export function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

/** Paths in a call's arguments under the given names. */
export function filesOf(input: unknown, names: readonly string[]): readonly string[] {
  return isRecord(input) ? names.flatMap((name) => textOf(input[name]) ?? []) : []
}
