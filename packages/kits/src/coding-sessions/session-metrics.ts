// Metrics of a session, counted line by line: turns, tools, files, time, errors, tokens.
import type { HistoryEvent, ReadLine, TokenCount } from './session-events.ts'

export const METRICS = ['turns', 'tools', 'files', 'time', 'errors', 'tokens'] as const
export type Metric = (typeof METRICS)[number]

/** Maximum milliseconds between two lines that count as active time; longer pauses do not count. */
const PAUSE_MS = 5 * 60_000
/** Maximum names, files and calls remembered per session. */
const REMEMBERED = 50_000
/** Answers whose token counts may still be replaced. */
const OPEN_COUNTS = 1000
const NO_TOKENS: TokenCount = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

interface ToolUse {
  readonly calls: number
  readonly errors: number
}

export class SessionMetrics {
  turns = 0
  errors = 0
  startedMs: number | undefined
  endedMs: number | undefined
  elapsedMs = 0
  activeMs = 0
  readonly tools = new Map<string, ToolUse>()
  readonly files = new Map<string, number>()
  readonly #callTools = new Map<string, string>()
  readonly #callsWithFiles = new Set<string>()
  readonly #failed = new Set<string>()
  readonly #openCounts = new Map<string, TokenCount>()
  #tokens: TokenCount = NO_TOKENS

  /** @param line `repeats` may report a failed call whose first result did not */
  take({ atMs, events, repeats, tokens, tokensKey }: ReadLine & { readonly repeats: readonly HistoryEvent[] }): void {
    if (atMs !== undefined) this.#takeTime(atMs)
    for (const event of events) this.#takeEvent(event)
    for (const { callId, isError } of repeats) if (isError) this.#takeError(callId)
    if (tokens) this.#takeTokens(tokens, tokensKey)
  }

  /** Adds a whole session. */
  join(session: SessionMetrics): void {
    this.turns += session.turns
    this.errors += session.errors
    this.elapsedMs += session.elapsedMs
    this.activeMs += session.activeMs
    for (const [name, use] of session.tools) this.#addUse(name, use)
    for (const [path, times] of session.files) this.#addFile(path, times)
    this.#tokens = add(this.#tokens, session.tokens())
  }

  tokens(): TokenCount {
    return [...this.#openCounts.values()].reduce(add, this.#tokens)
  }

  #takeTime(atMs: number): void {
    const gap = this.endedMs === undefined ? 0 : atMs - this.endedMs
    if (gap > 0 && gap <= PAUSE_MS) this.activeMs += gap
    this.startedMs = Math.min(this.startedMs ?? atMs, atMs)
    this.endedMs = Math.max(this.endedMs ?? atMs, atMs)
    this.elapsedMs = this.endedMs - this.startedMs
  }

  #takeEvent({ role, type, tool, callId, isError, isSidechain, files = [] }: HistoryEvent): void {
    // The screen's result of a patch repeats the files of its call, with other paths.
    const isRepeat = type === 'result' && callId !== undefined && this.#callsWithFiles.has(callId)
    if (!isRepeat) for (const path of files) this.#addFile(path, 1)
    if (role === 'user' && type === 'text' && !isSidechain) this.turns += 1
    if (type === 'call' && tool !== undefined) {
      this.#addUse(tool, { calls: 1, errors: 0 })
      if (callId !== undefined && this.#callTools.size < REMEMBERED) {
        this.#callTools.set(callId, tool)
        if (files.length > 0) this.#callsWithFiles.add(callId)
      }
    }
    if (isError) this.#takeError(callId)
  }

  #takeError(callId: string | undefined): void {
    if (callId !== undefined && this.#failed.has(callId)) return
    this.errors += 1
    if (callId === undefined) return
    if (this.#failed.size < REMEMBERED) this.#failed.add(callId)
    const tool = this.#callTools.get(callId)
    if (tool !== undefined) this.#addUse(tool, { calls: 0, errors: 1 })
  }

  #addUse(name: string, { calls, errors }: ToolUse): void {
    const use = this.tools.get(name)
    if (use || this.tools.size < REMEMBERED)
      this.tools.set(name, { calls: (use?.calls ?? 0) + calls, errors: (use?.errors ?? 0) + errors })
  }

  #addFile(path: string, times: number): void {
    const before = this.files.get(path)
    if (before !== undefined || this.files.size < REMEMBERED) this.files.set(path, (before ?? 0) + times)
  }

  /** Counts with the same key are versions of one count; the last one wins. */
  #takeTokens(count: TokenCount, key: string | undefined): void {
    if (key === undefined) {
      this.#tokens = add(this.#tokens, count)
      return
    }
    this.#openCounts.set(key, count)
    const [oldest] = this.#openCounts
    if (this.#openCounts.size <= OPEN_COUNTS || !oldest) return
    this.#openCounts.delete(oldest[0])
    this.#tokens = add(this.#tokens, oldest[1])
  }
}

function add(one: TokenCount, other: TokenCount): TokenCount {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
  }
}
