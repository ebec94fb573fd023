// Exports a session as lines of JSON, and imports it into another store. A header line is followed by records and
// blobs.
import type { LogStore } from '@baton/core/internal'
import { BatonError, checkName, checkSessionId, DERIVED_BLOBS } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { applyRecord, followRecord, FORMAT_VERSION, initialState } from '@baton/core/machine'

type Line =
  | { readonly type: 'baton-session'; readonly version: number; readonly session: string }
  | { readonly type: 'record'; readonly record: SessionRecord }
  | { readonly type: 'blob'; readonly name: string; readonly text: string }

/**
 * The session's lines, without line breaks.
 * @throws BatonError `unknown_session`, `store_failed`, `log_damaged`
 */
export async function* exportSession(store: LogStore, session: string): AsyncGenerator<string> {
  let told = false
  for await (const record of store.read(session, 0)) {
    if (!told) yield encodeLine({ type: 'baton-session', version: FORMAT_VERSION, session })
    told = true
    yield encodeLine({ type: 'record', record })
  }
  if (!told) throw new BatonError({ code: 'unknown_session', message: `the store has no session ${session}` })
  for (const name of await store.blobs.names(session))
    if (!name.startsWith(DERIVED_BLOBS))
      yield encodeLine({ type: 'blob', name, text: (await store.blobs.get(session, name)) ?? '' })
}

/** Owner of no session: what somebody holds meanwhile is not removed. */
const IMPORTING = 'importing'

/**
 * Imports an exported session under its own id, after folding every record as a check. Resolves with that id.
 * @throws BatonError `log_damaged` (names the line and the fault), `log_version_unknown`, `invalid_option` (an illegal
 * name), `session_exists`, `store_failed`
 */
export async function importSession(store: LogStore, lines: AsyncIterable<string> | Iterable<string>): Promise<string> {
  let session: string | undefined
  let number = 0
  const records: SessionRecord[] = []
  const blobs: { readonly name: string; readonly text: string }[] = []
  for await (const text of lines) {
    number += 1
    if (text.trim() === '') continue
    const line = lineIn(text, number)
    if (session === undefined && line.type !== 'baton-session') throw damaged(number, 'it is not an exported session')
    if (line.type === 'baton-session') {
      if (session !== undefined) throw damaged(number, 'a second session begins, but a file may hold only one')
      checkVersion(line.version, number)
      session = line.session
    }
    if (line.type === 'record') records.push(line.record)
    if (line.type === 'blob' && !line.name.startsWith(DERIVED_BLOBS)) blobs.push(line)
  }
  if (session === undefined || records.length === 0) throw damaged(number, 'there is no session in the file')
  checkSessionId(session)
  checkLog(session, records)
  for (const { name } of blobs) checkName('a blob’s name', name)
  await store.restore(session, records)
  try {
    for (const { name, text } of blobs) await store.blobs.put(session, name, text)
  } catch (cause) {
    // The next try would find half a session under this name.
    await store.remove(session, IMPORTING).catch(() => {}) // the failure above is reported
    throw cause
  }
  return session
}

/** @throws BatonError `log_damaged`, `log_version_unknown` */
function checkVersion(version: unknown, line: number): void {
  if (version === FORMAT_VERSION) return
  if (!Number.isSafeInteger(version)) throw damaged(line, 'it has no format version')
  throw new BatonError({
    code: 'log_version_unknown',
    message: `line ${line}: the session was exported in format ${String(version)}; this Baton reads format ${FORMAT_VERSION}`,
  })
}

/** @throws BatonError `log_damaged`, `log_version_unknown` */
function checkLog(session: string, records: readonly SessionRecord[]): void {
  let state = initialState(session)
  for (const record of records) {
    followRecord(state, record)
    state = applyRecord(state, record)
  }
  const [opened] = records[0]?.facts ?? []
  if (opened?.type !== 'session-opened' || opened.session !== session)
    throw damaged(2, `its first record does not open session ${session}`)
}

function encodeLine(line: Line): string {
  return JSON.stringify(line)
}

function lineIn(text: string, number: number): Line {
  let line: Partial<Line> | null
  try {
    line = JSON.parse(text) as Partial<Line> | null // checked below
  } catch {
    throw damaged(number, 'it is not JSON')
  }
  if (line?.type === 'baton-session' && typeof line.session === 'string' && line.session !== '') return line as Line
  if (line?.type === 'record' && typeof line.record === 'object' && Array.isArray(line.record?.facts))
    return line as Line
  if (line?.type === 'blob' && typeof line.name === 'string' && typeof line.text === 'string') return line as Line
  throw damaged(number, 'it is neither a session, a record nor a blob')
}

function damaged(line: number, why: string): BatonError {
  return new BatonError({ code: 'log_damaged', message: `line ${line}: ${why}` })
}
