// Evidence in results of calls: places in files, and coding sessions. A citation counts if a settled call has shown what it names.
import type { JsonValue, Message } from '@baton/core'
import { isJsonObject, parseJson, readText } from '@baton/core'
import * as z from 'zod'

export const citation = z
  .object({
    path: z.string().min(1).max(1000).optional().describe('A file or folder that a result named'),
    line: z.int().min(1).optional().describe('A line of it that a result showed'),
    sessionId: z.string().min(1).max(100).optional().describe('A coding session that a result named'),
  })
  .refine(({ path, sessionId }) => (path === undefined) !== (sessionId === undefined), 'name a path or a sessionId')
export type Citation = z.infer<typeof citation>

/** A citation with the call that supports it. */
export interface Evidence extends Citation {
  readonly callId: string
  readonly tool: string
}

interface Shown {
  readonly callId: string
  readonly tool: string
  /** Lines of a file, from and to, both included. */
  readonly paths: ReadonlyMap<string, readonly (readonly [number, number])[]>
  readonly sessionIds: ReadonlySet<string>
}

/** Calls of one session that are remembered; the oldest are forgotten first. */
const CALLS_MAX = 1000
const DEPTH_MAX = 12
/** Tools that have looked at the files that they name. A coding session also names files that nobody has seen, and is a file of others. */
const SHOWS_PATHS: ReadonlySet<string> = new Set(['fs.list_dir', 'code.grep', 'content.get_span'])
const SHOWS_SESSIONS = 'session.'

export class ShownResults {
  readonly #calls = new Map<string, Shown>()

  /** Adds what a result shows; twice is once. */
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

  /** Those of a conversation. Results that failed show nothing. */
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

  /** The newest call that shows it. */
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

  /** How many calls showed each file, the most first. */
  countPaths(): readonly (readonly [path: string, calls: number])[] {
    const counts = new Map<string, number>()
    for (const { paths, tool } of this.#calls.values())
      if (tool !== 'fs.list_dir') for (const path of paths.keys()) counts.set(path, (counts.get(path) ?? 0) + 1)
    return [...counts].toSorted(([, one], [, other]) => other - one)
  }
}

/** As the workspace tools write paths. Only for citations: a file may have a backslash in its name, and is no other file. */
function normalise(path: string): string {
  return path
    .replaceAll('\\', '/')
    .replace(/^(?:\.\/)+/, '')
    .replace(/(?<=.)\/+$/, '')
}

interface Collecting {
  readonly paths: Map<string, [number, number][]>
  readonly sessionIds: Set<string>
  /** The tool shows files; otherwise it shows coding sessions. */
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
