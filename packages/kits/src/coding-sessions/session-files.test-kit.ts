// Writes sessions in the formats of Claude Code, Codex, Gemini CLI and OpenCode into test folders.
import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface Store {
  readonly root: string
  readonly claudeCode: string
  readonly codex: string
  readonly geminiCli: string
  readonly opencode: string
}

export function createStore(place: string): Store {
  const store = {
    root: join(place, 'work'),
    claudeCode: join(place, 'claude', 'projects'),
    codex: join(place, 'codex', 'sessions'),
    geminiCli: join(place, '.gemini'),
    opencode: join(place, 'opencode'),
  }
  for (const folder of Object.values(store)) mkdirSync(folder, { recursive: true })
  return store
}

/** A session id that ends with this number. */
export function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

interface Written {
  readonly cwd?: string
  /** Minutes after the start of 2026-05-01, for the file's time. */
  readonly minute?: number
}

export function writeClaudeCode(
  store: Store,
  number: number,
  lines: readonly (object | string)[],
  { cwd = store.root, minute = number }: Written = {},
): string {
  const path = join(store.claudeCode, cwd.replaceAll(/[^A-Za-z0-9]/g, '-').slice(0, 200), `${idOf(number)}.jsonl`)
  const common = {
    sessionId: idOf(number),
    cwd,
    gitBranch: 'main',
    version: '2.1.0',
    isSidechain: false,
    userType: 'external',
  }
  return write(
    path,
    lines.map((line) => (typeof line === 'string' ? line : JSON.stringify({ ...common, ...line }))),
    minute,
  )
}

export function writeCodex(
  store: Store,
  number: number,
  lines: readonly (object | string)[],
  { cwd = store.root, minute = number }: Written = {},
): string {
  const path = join(store.codex, '2026', '05', '01', `rollout-2026-05-01T00-00-00-${idOf(number)}.jsonl`)
  const meta = {
    timestamp: at(0),
    type: 'session_meta',
    payload: { id: idOf(number), cwd, cli_version: '0.144.6', originator: 'codex_cli_rs', git: { branch: 'main' } },
  }
  return write(
    path,
    [meta, ...lines].map((line) => (typeof line === 'string' ? line : JSON.stringify({ timestamp: at(0), ...line }))),
    minute,
  )
}

/** Gemini CLI's format until 2025: one indented object. */
export function writeGemini(
  store: Store,
  number: number,
  messages: readonly unknown[],
  { cwd = store.root, minute = number, more = {} }: Written & { readonly more?: object } = {},
): string {
  const projectHash = createHash('sha256').update(cwd).digest('hex')
  const session = { sessionId: idOf(number), projectHash, startTime: at(0), lastUpdated: at(9), messages, ...more }
  const path = join(store.geminiCli, 'tmp', projectHash, 'chats', `session-2025-10-18T14-57-${String(number)}.json`)
  return write(path, [JSON.stringify(session, null, 2)], minute)
}

/** Its format since then: records, in a folder with a short name. */
export function writeGeminiLines(
  store: Store,
  number: number,
  lines: readonly (object | string)[],
  { cwd = store.root, minute = number }: Written = {},
): string {
  const projectHash = createHash('sha256').update(cwd).digest('hex')
  const head = { sessionId: idOf(number), projectHash, startTime: at(0), lastUpdated: at(0), kind: 'main' }
  const folder = join(store.geminiCli, 'tmp', `work-${projectHash.slice(0, 4)}`)
  const path = join(folder, 'chats', `session-2026-05-01T00-00-${String(number)}.jsonl`)
  write(join(folder, '.project_root'), [cwd], minute)
  return write(
    path,
    [head, ...lines].map((line) => (typeof line === 'string' ? line : JSON.stringify(line))),
    minute,
  )
}

export interface OpenCodeMessage {
  readonly info: object | string
  readonly parts: readonly (object | string)[]
}

const asText = (value: object | string): string => (typeof value === 'string' ? value : JSON.stringify(value))
const ids = (number: number, position: number): string => `${number}${String(position).padStart(6, '0')}`

/** OpenCode's format until 2026: one file per message and part. */
export function writeOpenCodeFiles(
  store: Store,
  number: number,
  messages: readonly OpenCodeMessage[],
  { cwd = store.root, minute = number, more = {} }: Written & { readonly more?: object } = {},
): string {
  const id = `ses_${number}`
  const storage = join(store.opencode, 'storage')
  messages.forEach(({ info, parts }, position) => {
    const message = `msg_${ids(number, position)}`
    write(join(storage, 'message', id, `${message}.json`), [asText(info)], minute)
    parts.forEach((part, place) =>
      write(join(storage, 'part', message, `prt_${ids(number, place)}.json`), [asText(part)], minute),
    )
  })
  const session = { id, version: '1.0.1', projectID: 'p', directory: cwd, title: `Session ${number}`, ...more }
  return write(
    join(storage, 'session', 'p', `${id}.json`),
    [JSON.stringify({ ...session, time: { created: Date.parse(at(0)), updated: Date.parse(at(minute * 60)) } })],
    minute,
  )
}

/** Its format since then: rows. */
export function writeOpenCodeRows(
  store: Store,
  number: number,
  messages: readonly OpenCodeMessage[],
  { cwd = store.root, minute = number }: Written = {},
): string {
  const path = join(store.opencode, 'opencode.db')
  const database = new DatabaseSync(path)
  const times = 'time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL'
  database.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL,
      title TEXT NOT NULL, version TEXT NOT NULL, ${times});
    CREATE TABLE IF NOT EXISTS message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, ${times}, data TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, ${times}, data TEXT NOT NULL)`)
  const [id, ms, updatedMs] = [`ses_${number}`, Date.parse(at(0)), Date.parse(at(minute * 60))]
  for (const table of ['part', 'message']) database.prepare(`DELETE FROM ${table} WHERE session_id = ?`).run(id)
  database
    .prepare('INSERT OR REPLACE INTO session VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?)')
    .run(id, 'p', 's', cwd, `Session ${number}`, '1.2.0', ms, updatedMs)
  messages.forEach(({ info, parts }, position) => {
    const message = `msg_${ids(number, position)}`
    database.prepare('INSERT INTO message VALUES (?, ?, ?, ?, ?)').run(message, id, ms + position, ms, asText(info))
    parts.forEach((part, place) =>
      database
        .prepare('INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)')
        .run(`prt_${ids(number, position)}_${ids(number, place)}`, message, id, ms, ms, asText(part)),
    )
  })
  database.close()
  return path
}

function write(path: string, lines: readonly string[], minute: number): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, '')
  for (const line of lines) appendFileSync(path, `${line}\n`)
  const time = new Date(at(minute * 60))
  utimesSync(path, time, time)
  return path
}

export function at(second: number): string {
  return new Date(Date.UTC(2026, 4, 1) + second * 1000).toISOString()
}

/** A line of Claude Code. */
export const user = (second: number, content: unknown, more: object = {}) => ({
  type: 'user',
  uuid: `u${second}`,
  timestamp: at(second),
  message: { role: 'user', content },
  ...more,
})
export const assistant = (
  second: number,
  content: readonly object[],
  more: { readonly id?: string; readonly output?: number } & object = {},
) => ({
  type: 'assistant',
  uuid: `a${second}`,
  timestamp: at(second),
  requestId: `req_${second}`,
  message: {
    id: more.id ?? `msg_${second}`,
    role: 'assistant',
    model: 'claude-opus-4-8',
    content,
    stop_reason: null,
    usage: {
      input_tokens: 10,
      output_tokens: more.output ?? 5,
      cache_read_input_tokens: 100,
      cache_creation_input_tokens: 1,
    },
  },
})

/** Lines of Codex. */
export const item = (second: number, payload: object) => ({ timestamp: at(second), type: 'response_item', payload })
export const screen = (second: number, payload: object) => ({ timestamp: at(second), type: 'event_msg', payload })
