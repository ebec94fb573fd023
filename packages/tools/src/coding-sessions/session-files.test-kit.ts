// Session files as Claude Code and Codex write them, in folders of a test.
import { appendFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Store {
  readonly root: string
  readonly claudeCode: string
  readonly codex: string
}

export function createStore(place: string): Store {
  const store = {
    root: join(place, 'work'),
    claudeCode: join(place, 'claude', 'projects'),
    codex: join(place, 'codex', 'sessions'),
  }
  for (const folder of Object.values(store)) mkdirSync(folder, { recursive: true })
  return store
}

/** A session id with this number at its end. */
export function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

interface Written {
  readonly cwd?: string
  /** Minutes after the beginning of 2026-05-01, for the file's time. */
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
