// Evidence in results of calls: places in files, and coding sessions. A citation counts if the result of a call showed
// it.
import type { JsonValue, Message } from '@baton/core/internal'
import { isJsonObject, parseJson, readText } from '@baton/core/internal'
import * as z from 'zod'

export const citation = z
  .object({
    path: z.string().min(1).max(1000).optional().describe('A file or folder named in a result'),
    line: z.int().min(1).optional().describe('A line of it shown in a result'),
    sessionId: z.string().min(1).max(100).optional().describe('A coding session named in a result'),
  })
  .refine(({ path, sessionId }) => (path === undefined) !== (sessionId === undefined), 'give either path or sessionId')
/** A place that supports a statement: a file and its lines. */
export type Citation = z.infer<typeof citation>

/** A citation with the call that supports it. */
export interface Evidence extends Citation {
  readonly callId: string
  readonly tool: string
}

interface Shown {
  readonly callId: string
  readonly tool: string
  /** Line ranges of files, both ends included. */
  readonly paths: ReadonlyMap<string, readonly (readonly [number, number])[]>
  readonly sessionIds: ReadonlySet<string>
}

/** Maximum calls remembered per session; the oldest are forgotten first. */
const CALLS_MAX = 1000
const DEPTH_MAX = 12
/**
 * Tools that have read the files they name. Coding sessions also mention files that were never read, or that belong
 * elsewhere.
 */
const SHOWS_PATHS: ReadonlySet<string> = new Set(['fs.list_dir', 'code.grep', 'content.get_span'])
const SHOWS_SESSIONS = 'session.'

export class ShownResults {
  readonly #calls = new Map<string, Shown>()

  /** Adds what a result shows. Idempotent. */
  add(callId: string, tool: string, result: JsonValue): void {
    const paths = new Map<string, [number, number][]>()
    const sessionIds = new Set<string>()
    const hasPaths = SHOWS_PATHS.has(tool)
    if (!hasPaths && !tool.startsWith(SHOWS_SESSIONS)) return
    collect(result, { paths, sessionIds, hasPaths, depth: 0 })
    if (paths.size === 0 && sessionIds.size === 0) return
    this.#calls.delete(callId)
    this.#calls.set(callId, { callId, tool, paths, sessionIds })
    const [oldest] = this.#calls.keys()
    if (this.#calls.size > CALLS_MAX && oldest !== undefined) this.#calls.delete(oldest)
  }

  /** Adds the results in a conversation. Failed results show nothing. */
  addMessages(messages: readonly Message[]): void {
    for (const message of messages) {
      if (message.role !== 'tool') continue
      for (const { callId, name, isError, content } of message.parts) {
        if (isError) continue
        const parsed = parseJson(readText(content))
        if (parsed.ok) this.add(callId, name, parsed.value)
      }
    }
  }

  /** Returns the newest call that shows it. */
  find({ path, line, sessionId }: Citation): Evidence | undefined {
    for (const shown of [...this.#calls.values()].reverse()) {
      const { callId, tool } = shown
      if (sessionId !== undefined && shown.sessionIds.has(sessionId)) return { callId, tool, sessionId }
      const plain = path === undefined || shown.paths.has(path) ? path : normalise(path)
      const spans = plain === undefined ? undefined : shown.paths.get(plain)
      if (plain === undefined || !spans) continue
      if (line === undefined) return { callId, tool, path: plain }
      if (spans.some(([from, to]) => from <= line && line <= to)) return { callId, tool, path: plain, line }
    }
    return undefined
  }

  /** Number of calls that showed each file, in descending order. */
  countPaths(): readonly (readonly [path: string, calls: number])[] {
    const counts = new Map<string, number>()
    for (const { paths, tool } of this.#calls.values())
      if (tool !== 'fs.list_dir') for (const path of paths.keys()) counts.set(path, (counts.get(path) ?? 0) + 1)
    return [...counts].toSorted(([, one], [, other]) => other - one)
  }
}

/** Normalizes a path as the workspace tools write it. Only for citations, since backslashes are legal in file names. */
function normalise(path: string): string {
  return path
    .replaceAll('\\', '/')
    .replace(/^(?:\.\/)+/, '')
    .replace(/(?<=.)\/+$/, '')
}

interface Collecting {
  readonly paths: Map<string, [number, number][]>
  readonly sessionIds: Set<string>
  /** Whether the tool shows files rather than coding sessions. */
  readonly hasPaths: boolean
  readonly depth: number
}

function collect(value: JsonValue, into: Collecting): void {
  if (into.depth > DEPTH_MAX) return
  const inner = { ...into, depth: into.depth + 1 }
  if (Array.isArray(value)) for (const item of value) collect(item, inner)
  else if (isJsonObject(value)) {
    const { path, sessionId, startLine, endLine, lines } = value
    if (into.hasPaths && typeof path === 'string') {
      const spans = into.paths.get(path) ?? []
      into.paths.set(path, spans)
      if (typeof startLine === 'number' && typeof endLine === 'number') spans.push([startLine, endLine])
      if (Array.isArray(lines))
        for (const one of lines)
          if (isJsonObject(one) && typeof one['line'] === 'number') spans.push([one['line'], one['line']])
    }
    if (!into.hasPaths && typeof sessionId === 'string') into.sessionIds.add(sessionId)
    for (const item of Object.values(value)) collect(item, inner)
  }
}
