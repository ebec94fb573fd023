// Finds readable session files of coding agents: no links, and only sessions whose folder is in the workspace.
import { realpathSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { listGemini } from './gemini-files.ts'
import { listOpenCode } from './opencode-files.ts'
import { entries, openPlain } from './plain-files.ts'
import type { SessionFacts, SessionProvider, SessionFile } from './session-events.ts'
import { READERS, openSession, parseLine } from './session-source.ts'

export interface SessionPlaces {
  /** The workspace, or `undefined` for sessions of all folders. */
  readonly root: string | undefined
  /** `$CLAUDE_CONFIG_DIR/projects`, or `~/.claude/projects`. */
  readonly claudeCode: string
  /** `$CODEX_HOME/sessions`, or `~/.codex/sessions`. */
  readonly codex: string
  /** `$GEMINI_CLI_HOME/.gemini`, or `~/.gemini`. */
  readonly geminiCli: string
  /** `$XDG_DATA_HOME/opencode`, or `~/.local/share/opencode`. */
  readonly opencode: string
}

export interface SessionHead extends SessionFile {
  readonly facts: SessionFacts
  readonly startedMs: number | undefined
  /** The user's first message. */
  readonly opening: string | undefined
}

/** Maximum files examined per call, newest by name first. */
const FILES_MAX = 20_000
/** Leading bytes in which the session's folder must appear. */
const HEAD_BYTES = 1024 * 1024
/** Maximum lines there. For OpenCode, whose first record has title and folder: enough lines to find the model. */
const HEAD_LINES: Readonly<Record<SessionProvider, number>> = {
  'claude-code': 200,
  codex: 200,
  'gemini-cli': 200,
  opencode: 20,
}
/** Trailing bytes searched for a title that was set late. */
const TAIL_BYTES = 64 * 1024
/** Length to which Claude Code truncates folder names. */
const FOLDER_CHARS = 200
const CLAUDE_FILE = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/
const CODEX_FILE = /^rollout-[0-9T-]+-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/

export class SessionFiles {
  readonly #places: SessionPlaces
  /** The root as given, and with links resolved. */
  readonly #roots: readonly string[]

  constructor(places: SessionPlaces) {
    this.#places = places
    this.#roots = places.root === undefined ? [] : [...new Set([resolve(places.root), realPath(places.root)])]
  }

  /** Lists session files, newest first. `head` tells whether they belong to the workspace. */
  async list(provider: SessionProvider | undefined): Promise<readonly SessionFile[]> {
    const { geminiCli, opencode } = this.#places
    const listers: Readonly<Record<SessionProvider, () => Promise<readonly SessionFile[]>>> = {
      'claude-code': () => this.#listClaudeCode(),
      codex: () => this.#listCodex(),
      'gemini-cli': () => listGemini(geminiCli, this.#roots, FILES_MAX),
      opencode: () => listOpenCode(opencode, FILES_MAX),
    }
    const wanted = provider === undefined ? Object.values(listers) : [listers[provider]]
    const found = (await Promise.all(wanted.map((list) => list()))).flat()
    const newest = found.toSorted((one, other) => other.updatedMs - one.updatedMs)
    // The newest file of a session wins.
    const seen = new Set<string>()
    return newest.filter(({ id, provider: of }) => seen.size < seen.add(`${of} ${id}`).size)
  }

  async #listClaudeCode(): Promise<readonly SessionFile[]> {
    const { claudeCode } = this.#places
    // The name of a folder below the workspace starts with that of the workspace.
    const begins = this.#roots.map((root) => root.replaceAll(/[^A-Za-z0-9]/g, '-').slice(0, FOLDER_CHARS))
    const found: SessionFile[] = []
    for (const { name, folder } of (await entries(claudeCode)).filter((entry) => entry.folder)) {
      if (!folder || (begins.length > 0 && !begins.some((begin) => name.startsWith(begin)))) continue
      found.push(...(await listFolder(join(claudeCode, name), 'claude-code', CLAUDE_FILE)))
      if (found.length > FILES_MAX) break
    }
    return found
  }

  /** `YYYY/MM/DD/rollout-….jsonl`, newest day first. */
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

  /** Returns `undefined` if the file is not a session, cannot be read, or belongs to another folder. */
  async head(file: SessionFile): Promise<SessionHead | undefined> {
    if (file.cwd !== undefined && !this.#isOwn(file.cwd)) return undefined
    const opened = await openSession(file, HEAD_BYTES)
    if (!opened) return undefined
    let facts: SessionFacts = file.cwd === undefined ? {} : { cwd: file.cwd }
    let startedMs: number | undefined
    let opening: string | undefined
    const read = READERS[file.provider]()
    try {
      for await (const { number, text } of opened.records) {
        const line = text === undefined ? undefined : parseLine(text, read)
        if (line) {
          facts = joinFacts(facts, line.facts)
          startedMs ??= line.atMs
          opening ??= line.events.find(({ role, type }) => role === 'user' && type === 'text')?.text
        }
        if (number >= HEAD_LINES[file.provider]) break
      }
    } finally {
      await opened.close()
    }
    const title = await lastTitle(file)
    facts = joinFacts(facts, title && { title })
    const isSession = file.provider === 'claude-code' ? facts.cwd !== undefined : facts.id !== undefined
    return isSession && this.#isOwn(facts.cwd) ? { ...file, facts, startedMs, opening } : undefined
  }

  #isOwn(cwd: string | undefined): boolean {
    if (this.#roots.length === 0) return true
    return (
      cwd !== undefined &&
      [resolve(cwd), realPath(cwd)].some((path) => this.#roots.some((root) => isWithin(root, path)))
    )
  }
}

/** A title that was set late, if the session is a single file. */
async function lastTitle(file: SessionFile): Promise<SessionFacts['title']> {
  const handle = file.bytes === undefined ? undefined : await openPlain(file.path)
  if (!handle || file.bytes === undefined) return undefined
  try {
    const start = Math.max(0, file.bytes - TAIL_BYTES)
    const buffer = Buffer.alloc(file.bytes - start)
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start)
    const read = READERS[file.provider]()
    // The first line may be truncated.
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n').slice(1)
    const records = file.form === 'members' ? lines.flatMap(memberOf) : lines
    return records
      .flatMap((line) => parseLine(line, read)?.facts?.title ?? [])
      .reduce<SessionFacts['title']>((best, title) => (best && best.rank > title.rank ? best : title), undefined)
  } finally {
    await handle.close()
  }
}

/** A summary on its own line, as an object; an indentation of two spaces is the outermost level. */
function memberOf(line: string): readonly string[] {
  return line.startsWith('  "summary":') ? [`{${line.trim().replace(/,$/, '')}}`] : []
}

/** Keeps the first session, folder and branch, the latest model, and the highest-ranking title. */
function joinFacts(before: SessionFacts, next: SessionFacts = {}): SessionFacts {
  const { model = before.model, title = before.title } = next
  const best = before.title && title && before.title.rank > title.rank ? before.title : title
  return { ...next, ...before, ...(model !== undefined && { model }), ...(best && { title: best }) }
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
    found.push({ id, provider, form: 'lines', path, bytes: size, updatedMs: mtimeMs })
  }
  return found
}

async function numbered(folder: string, form: RegExp): Promise<readonly string[]> {
  const found = (await entries(folder)).filter(({ name, folder: isFolder }) => isFolder && form.test(name))
  return found.map(({ name }) => name).toSorted((one, other) => (one < other ? 1 : -1))
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path) // the folder of an old session may no longer exist
  }
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (!way.startsWith('..') && !isAbsolute(way))
}
