// Exports a session with its children as lines of JSON, and imports it into another store. A header line of each is
// followed by its records and blobs.
import type { LogStore } from '@baton/core/internal'
import { BatonError, CHILD_PREFIX, checkName, checkSessionId, DERIVED_BLOBS } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { applyRecord, followRecord, FORMAT_VERSION, initialState } from '@baton/core/machine'
import { createEntry } from '@baton/runtime'
import { foldSession } from '../local/session-log.ts'

type Line =
  | { readonly type: 'baton-session'; readonly version: number; readonly session: string }
  | { readonly type: 'baton-child'; readonly session: string }
  | { readonly type: 'record'; readonly record: SessionRecord }
  | { readonly type: 'blob'; readonly name: string; readonly text: string }

/**
 * The lines of the session and of everything below it, without line breaks: each child follows with its header.
 * @throws BatonError `unknown_session`, `store_failed`, `log_damaged`
 */
export async function* exportSession(
  store: LogStore,
  session: string,
  { alone = false }: { readonly alone?: boolean } = {},
): AsyncGenerator<string> {
  let told = false
  for await (const line of exportLog(store, session)) {
    if (!told) yield encodeLine({ type: 'baton-session', version: FORMAT_VERSION, session })
    told = true
    yield line
  }
  if (!told) throw new BatonError({ code: 'unknown_session', message: `the store has no session ${session}` })
  if (alone) return
  for await (const child of store.children(session)) {
    // Acquired, and perhaps about to begin: an import opens it again.
    if (child.records === 0) continue
    yield encodeLine({ type: 'baton-child', session: child.session })
    yield* exportLog(store, child.session)
  }
}

async function* exportLog(store: LogStore, session: string): AsyncGenerator<string> {
  let isNew = true
  for await (const record of store.read(session, 0)) {
    isNew = false
    yield encodeLine({ type: 'record', record })
  }
  if (isNew) return
  for (const name of await store.blobs.names(session))
    if (!name.startsWith(DERIVED_BLOBS))
      yield encodeLine({ type: 'blob', name, text: (await store.blobs.get(session, name)) ?? '' })
}

/** Owner of no session: what somebody holds meanwhile is not removed. */
const IMPORTING = 'importing'

/** The lines of one session of the file. */
interface Part {
  readonly session: string
  /** Number of its first line. */
  readonly line: number
  readonly records: SessionRecord[]
  readonly blobs: { readonly name: string; readonly text: string }[]
}

/**
 * Imports an exported session with its children under their own ids, after folding every record as a check. Resolves with
 * the session's id.
 * @throws BatonError `log_damaged` (names the line and the fault), `log_version_unknown`, `invalid_option` (an illegal
 * name), `illegal_input` (an exported child without its root), `session_exists`, `store_failed`
 */
export async function importSession(store: LogStore, lines: AsyncIterable<string> | Iterable<string>): Promise<string> {
  const [root, ...children] = await readParts(lines)
  if (!root) throw damaged(0, 'there is no session in the file')
  checkSessionId(root.session)
  checkPart(root, undefined)
  for (const child of children) checkPart(child, root.session)
  let isBegun = false
  try {
    // The root is the last: recovery starts from it.
    for (const { session, records, blobs } of [...children, root]) {
      await store.restore(session, records, session === root.session ? undefined : { root: root.session })
      isBegun = true
      for (const { name, text } of blobs) await store.blobs.put(session, name, text)
    }
    const folded = await foldSession(store, root.session)
    if (folded) {
      const { state, history, lastMs } = folded
      await store.entries.put(root.session, state.pos, createEntry(state, history, lastMs))
    }
  } catch (cause) {
    // The next try would find a part of the tree under these names.
    if (isBegun) await store.remove(root.session, IMPORTING).catch(() => {}) // the failure above is reported
    throw cause
  }
  return root.session
}

async function readParts(lines: AsyncIterable<string> | Iterable<string>): Promise<readonly Part[]> {
  const parts: Part[] = []
  let number = 0
  for await (const text of lines) {
    number += 1
    if (text.trim() === '') continue
    const line = lineIn(text, number)
    const part = parts.at(-1)
    if (!part && line.type !== 'baton-session') throw damaged(number, 'it is not an exported session')
    if (line.type === 'baton-session') {
      if (part) throw damaged(number, 'a second session begins, but a file may hold only one')
      checkVersion(line.version, number)
    }
    if (line.type === 'baton-session' || line.type === 'baton-child')
      parts.push({ session: line.session, line: number, records: [], blobs: [] })
    if (line.type === 'record') part?.records.push(line.record)
    if (line.type === 'blob' && !line.name.startsWith(DERIVED_BLOBS)) part?.blobs.push(line)
  }
  const empty = parts.find(({ records }) => records.length === 0)
  if (empty || parts.length === 0) throw damaged(number, 'there is no session in the file')
  return parts
}

/** @throws BatonError `log_damaged`, `log_version_unknown`, `invalid_option`, `illegal_input` */
function checkPart({ session, line, records, blobs }: Part, root: string | undefined): void {
  checkLog(session, records, line + 1)
  for (const { name } of blobs) checkName('a blob’s name', name)
  const opened = records[0]?.facts.find((fact) => fact.type === 'child-opened')
  if (opened?.root === root) return
  if (root !== undefined) throw damaged(line, `session ${session} is no child of session ${root}`)
  throw new BatonError({
    code: 'illegal_input',
    message: `session ${session} is a child of session ${opened?.root}, and cannot be imported without it`,
    hint: `Export session ${opened?.root}: its export has its children.`,
  })
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
function checkLog(session: string, records: readonly SessionRecord[], line: number): void {
  let state = initialState(session)
  for (const record of records) {
    followRecord(state, record)
    state = applyRecord(state, record)
  }
  const [opened] = records[0]?.facts ?? []
  if (opened?.type !== 'session-opened' || opened.session !== session)
    throw damaged(line, `its first record does not open session ${session}`)
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
  if (line?.type === 'baton-child' && typeof line.session === 'string' && line.session.startsWith(CHILD_PREFIX))
    return line as Line
  if (line?.type === 'record' && typeof line.record === 'object' && Array.isArray(line.record?.facts))
    return line as Line
  if (line?.type === 'blob' && typeof line.name === 'string' && typeof line.text === 'string') return line as Line
  throw damaged(number, 'it is neither a session, a record nor a blob')
}

function damaged(line: number, why: string): BatonError {
  return new BatonError({ code: 'log_damaged', message: `line ${line}: ${why}` })
}
