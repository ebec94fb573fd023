// One session on this machine, and its records one after the other, whatever it is kept in: lines, one object, many files, or rows.
import { createGeminiReader } from './gemini-cli.ts'
import { readClaudeCodeLine } from './claude-code.ts'
import { readCodexLine } from './codex.ts'
import { closeQuietly, openOpenCodeDatabase, readOpenCodeRows } from './opencode-database.ts'
import { readOpenCodeFiles } from './opencode-files.ts'
import { createOpenCodeReader } from './opencode.ts'
import { openPlain } from './plain-files.ts'
import type { ReadLine, ReadSessionLine, SessionProvider } from './session-events.ts'
import { isRecord } from './session-events.ts'
import type { SessionLine } from './session-lines.ts'
import { readLines } from './session-lines.ts'
import { readMembers } from './session-members.ts'

export interface SessionFile {
  readonly id: string
  readonly provider: SessionProvider
  readonly form: 'lines' | 'members' | 'files' | 'rows'
  readonly path: string
  /** Absent for a session that is not one file. */
  readonly bytes?: number
  readonly updatedMs: number
  /** The folder in which it ran, if its place names it. */
  readonly cwd?: string
}

/** Makes the reader of one session, which may remember what it has read. */
export const READERS: Readonly<Record<SessionProvider, () => ReadSessionLine>> = {
  'claude-code': () => readClaudeCodeLine,
  codex: () => readCodexLine,
  'gemini-cli': createGeminiReader,
  opencode: createOpenCodeReader,
}

export interface OpenSession {
  readonly records: AsyncIterable<SessionLine> | Iterable<SessionLine>
  close(): Promise<void>
}

/**
 * Undefined for a session that cannot be opened, or that is a link.
 * @param bytesMax of a session in one file: bytes at its beginning to read, all by default
 */
export async function openSession(
  file: SessionFile,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<OpenSession | undefined> {
  if (file.form === 'files') return { records: readOpenCodeFiles(file), close: async () => {} }
  if (file.form === 'rows') {
    const database = await openOpenCodeDatabase(file.path)
    return database && { records: readOpenCodeRows(database, file.id), close: async () => closeQuietly(database) }
  }
  const handle = await openPlain(file.path)
  const bytes = Math.min(file.bytes ?? 0, bytesMax)
  const readRecords = file.form === 'lines' ? readLines : readMembers
  return handle && { records: readRecords(handle, bytes), close: () => handle.close() }
}

/** Undefined for a record that is not a JSON object. */
export function parseLine(text: string, read: ReadSessionLine): ReadLine | undefined {
  try {
    const line: unknown = JSON.parse(text)
    return isRecord(line) ? read(line) : undefined
  } catch {
    return undefined
  }
}
