// Yields the records of one session in order, however it is stored: lines, one object, many files, or rows.
import type { SessionFile, ReadLine, ReadSessionLine, SessionProvider } from './session-events.ts'
import { createGeminiReader } from './gemini-cli.ts'
import { readClaudeCodeLine } from './claude-code.ts'
import { readCodexLine } from './codex.ts'
import { closeQuietly, openOpenCodeDatabase, readOpenCodeRows } from './opencode-database.ts'
import { readOpenCodeFiles } from './opencode-files.ts'
import { createOpenCodeReader } from './opencode.ts'
import { openPlain } from './plain-files.ts'
import { isRecord } from './session-events.ts'
import type { SessionLine } from './session-lines.ts'
import { readLines } from './session-lines.ts'
import { readMembers } from './session-members.ts'

/** Creates the reader for one session, which may keep state. */
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
 * Returns `undefined` if the session cannot be opened or is a link.
 * @param bytesMax for a session in a single file: leading bytes to read, all by default
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

/** Returns `undefined` if the record is not a JSON object. */
export function parseLine(text: string, read: ReadSessionLine): ReadLine | undefined {
  try {
    const line: unknown = JSON.parse(text)
    return isRecord(line) ? read(line) : undefined
  } catch {
    return undefined
  }
}
