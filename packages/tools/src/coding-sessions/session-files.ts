// Where the session files of coding agents lie, and which of them may be read: files that are not links, of sessions whose folder is the
// workspace.
import type { Dirent } from 'node:fs'
import { realpathSync } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { constants, open, readdir } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { readClaudeCodeLine } from './claude-code.ts'
import { readCodexLine } from './codex.ts'
import type { ReadLine, ReadSessionLine, SessionFacts, SessionProvider } from './session-events.ts'
import { isRecord } from './session-events.ts'
import { readLines } from './session-lines.ts'

export interface SessionPlaces {
  /** The workspace; undefined: sessions of all folders. */
  readonly root: string | undefined
  /** `$CLAUDE_CONFIG_DIR/projects`, else `~/.claude/projects`. */
  readonly claudeCode: string
  /** `$CODEX_HOME/sessions`, else `~/.codex/sessions`. */
  readonly codex: string
}

export interface SessionFile {
  readonly id: string
  readonly provider: SessionProvider
  readonly path: string
  readonly bytes: number
  readonly updatedMs: number
}

export interface SessionHead extends SessionFile {
  readonly facts: SessionFacts
  readonly startedMs: number | undefined
  /** The user's first words. */
  readonly opening: string | undefined
}

export const READERS: Readonly<Record<SessionProvider, ReadSessionLine>> = {
  'claude-code': readClaudeCodeLine,
  codex: readCodexLine,
}

/** Files that one call looks at, the newest by name first. */
export const FILES_MAX = 20_000
/** Bytes at the beginning in which the folder of a session must be named. */
const HEAD_BYTES = 1024 * 1024
/** Lines there. */
const HEAD_LINES = 200
/** Bytes at the end in which a title may stand that was given late. */
const TAIL_BYTES = 64 * 1024
/** Characters that Claude Code leaves of a folder's name. */
const FOLDER_CHARS = 200
const CLAUDE_FILE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/
const CODEX_FILE = /^rollout-[0-9T-]+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/

export class SessionFiles {
  readonly #places: SessionPlaces
  /** The root as it was given, and without links. */
  readonly #roots: readonly string[]

  constructor(places: SessionPlaces) {
    this.#places = places
    this.#roots = places.root === undefined ? [] : [...new Set([resolve(places.root), realPath(places.root)])]
  }

  /** By time, the newest first. Whether they belong to the workspace, `head` says. */
  async list(provider: SessionProvider | undefined): Promise<readonly SessionFile[]> {
    const claude = provider === 'codex' ? [] : await this.#listClaudeCode()
    const codex = provider === 'claude-code' ? [] : await this.#listCodex()
    return [...claude, ...codex].toSorted((one, other) => other.updatedMs - one.updatedMs)
  }

  async #listClaudeCode(): Promise<readonly SessionFile[]> {
    const { claudeCode } = this.#places
    // A folder below the workspace has a name that begins with that of the workspace.
    const begins = this.#roots.map((root) => root.replaceAll(/[^A-Za-z0-9]/g, '-').slice(0, FOLDER_CHARS))
    const found: SessionFile[] = []
    for (const { name, folder } of (await entries(claudeCode)).filter((entry) => entry.folder)) {
      if (!folder || (begins.length > 0 && !begins.some((begin) => name.startsWith(begin)))) continue
      found.push(...(await listFolder(join(claudeCode, name), 'claude-code', CLAUDE_FILE)))
      if (found.length > FILES_MAX) break
    }
    return found
  }

  /** `YYYY/MM/DD/rollout-….jsonl`, the newest day first. */
  async #listCodex(): Promise<readonly SessionFile[]> {
    const { codex } = this.#places
    const found: SessionFile[] = []
    for (const year of await numbered(codex, /^\d{4}$/))
      for (const month of await numbered(join(codex, year), /^\d\d$/))
        for (const day of await numbered(join(codex, year, month), /^\d\d$/)) {
          if (found.length > FILES_MAX) return found
          found.push(...(await listFolder(join(codex, year, month, day), 'codex', CODEX_FILE)))
        }
    return found
  }

  /** Undefined for a file that is not a session, that cannot be read, or whose session belongs to another folder. */
  async head(file: SessionFile): Promise<SessionHead | undefined> {
    const handle = await openPlain(file.path)
    if (!handle) return undefined
    try {
      let facts: SessionFacts = {}
      let startedMs: number | undefined
      let opening: string | undefined
      for await (const { number, text } of readLines(handle, Math.min(file.bytes, HEAD_BYTES))) {
        const read = text === undefined ? undefined : parseLine(text, file.provider)
        if (read) {
          facts = joinFacts(facts, read.facts)
          startedMs ??= read.atMs
          opening ??= read.events.find(({ role, type }) => role === 'user' && type === 'text')?.text
        }
        if (number >= HEAD_LINES) break
      }
      const title = await lastTitle(handle, file)
      facts = joinFacts(facts, title && { title })
      const isSession = file.provider === 'claude-code' ? facts.cwd !== undefined : facts.id !== undefined
      return isSession && this.#isOwn(facts.cwd) ? { ...file, facts, startedMs, opening } : undefined
    } finally {
      await handle.close()
    }
  }

  #isOwn(cwd: string | undefined): boolean {
    if (this.#roots.length === 0) return true
    return (
      cwd !== undefined &&
      [resolve(cwd), realPath(cwd)].some((path) => this.#roots.some((root) => isWithin(root, path)))
    )
  }
}

async function lastTitle(handle: FileHandle, file: SessionFile): Promise<SessionFacts['title']> {
  const start = Math.max(0, file.bytes - TAIL_BYTES)
  const buffer = Buffer.alloc(file.bytes - start)
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start)
  // The first line may be cut.
  const lines = buffer.toString('utf8', 0, bytesRead).split('\n').slice(1)
  return lines
    .flatMap((line) => parseLine(line, file.provider)?.facts?.title ?? [])
    .reduce<SessionFacts['title']>((best, title) => (best && best.rank > title.rank ? best : title), undefined)
}

/** Undefined for a line that is not a JSON object. */
export function parseLine(text: string, provider: SessionProvider): ReadLine | undefined {
  try {
    const line: unknown = JSON.parse(text)
    return isRecord(line) ? READERS[provider](line) : undefined
  } catch {
    return undefined
  }
}

/** The first session, folder and branch, the newest model, and the title of the highest rank. */
export function joinFacts(before: SessionFacts, next: SessionFacts = {}): SessionFacts {
  const { model = before.model, title = before.title } = next
  const best = before.title && title && before.title.rank > title.rank ? before.title : title
  return { ...next, ...before, ...(model !== undefined && { model }), ...(best && { title: best }) }
}

/** A file that is not a link, pipe or device; undefined for anything else. */
export async function openPlain(path: string): Promise<FileHandle | undefined> {
  let handle: FileHandle | undefined
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if ((await handle.stat()).isFile()) return handle
  } catch {
    return undefined
  }
  await handle.close()
  return undefined
}

async function listFolder(folder: string, provider: SessionProvider, form: RegExp): Promise<readonly SessionFile[]> {
  const found: SessionFile[] = []
  for (const { name, folder: isFolder } of await entries(folder)) {
    const id = isFolder ? undefined : form.exec(name)?.[1]
    if (id === undefined) continue
    const path = join(folder, name)
    const handle = await openPlain(path)
    if (!handle) continue
    const { size, mtimeMs } = await handle.stat()
    await handle.close()
    found.push({ id, provider, path, bytes: size, updatedMs: mtimeMs })
  }
  return found
}

async function numbered(folder: string, form: RegExp): Promise<readonly string[]> {
  const found = (await entries(folder)).filter(({ name, folder: isFolder }) => isFolder && form.test(name))
  return found.map(({ name }) => name).toSorted((one, other) => (one < other ? 1 : -1))
}

/** Files and folders; links are neither. Nothing where there is no such folder. */
async function entries(folder: string): Promise<readonly { readonly name: string; readonly folder: boolean }[]> {
  try {
    const found: readonly Dirent[] = await readdir(folder, { withFileTypes: true })
    return found
      .filter((entry) => entry.isDirectory() || entry.isFile())
      .map((entry) => ({ name: entry.name, folder: entry.isDirectory() }))
  } catch {
    return []
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path) // the folder of an old session may be gone
  }
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}
