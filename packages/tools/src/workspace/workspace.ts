// One folder as the tools see it: turns a model's paths into open files that are certainly inside it. A path is checked
// again after opening, by what the descriptor really refers to, so swapping in a link meanwhile does not help.
import type { WorkspaceLimits } from './workspace-limits.ts'
import type { WorkspaceEditor } from './workspace-editor.ts'
import type { RipgrepFilter } from './ripgrep-filter.ts'
import type { CallBudget } from './call-budget.ts'
import type { ToolContext, Trust } from '@baton/core/internal'
import { constants, lstatSync, realpathSync, statSync } from 'node:fs'
import type { Dir } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { lstat, open, opendir, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, posix, relative, resolve, sep } from 'node:path'
import { BatonError } from '@baton/core'
import { IgnoreRules, patternRules } from './ignore-rules.ts'
import { isProtected } from './protected-names.ts'
import { describeSystemError, outside, protectedPath, refused, systemCode } from './refused.ts'
import type { IgnoreSettings } from './repository.ts'
import { hasTwoForms } from './text-bytes.ts'

/** With Node's default of 32, a large folder costs a wait for every 32 entries. */
const ENTRIES_AT_ONCE = 512
/** Maximum names in a path. Deeper files are hidden, because rules with `**` take longer the deeper a path is. */
const LEVELS_MAX = 64

export interface OpenedFile {
  readonly handle: FileHandle
  /** Relative to the root, with links resolved and `/` separators. */
  readonly path: string
  readonly bytes: number
}

/** Limits of a walk, created for one tool call. */
export interface Guard {
  /** Whether the entry is hidden unless the owner allows it: ignored files, secrets, git's own files. */
  isHidden(path: string, isFolder: boolean): Promise<boolean>
}

/** See `locateTarget`. */
export interface Target {
  /** Relative to the root, with links resolved. */
  readonly path: string
  /** An existing folder; '' is the root. */
  readonly folder: string
  /** Names below it; only the last one if the target exists. */
  readonly missing: readonly string[]
  readonly exists: boolean
  readonly isFolder: boolean
}

export class Workspace {
  readonly #root: string
  readonly #givenRoot: string
  readonly #allowed: ((path: string) => boolean) | undefined
  readonly #ignoreSettings = new Map<string, Promise<IgnoreSettings>>()
  readonly #descriptors: string
  #change: Promise<unknown> = Promise.resolve()

  /**
   * `descriptors` is the folder where the system lists this process's open files; only Linux has one.
   * @throws BatonError `invalid_option` if `root` is not a folder
   */
  constructor(root: string, allow: readonly string[], descriptors = '/proc/self/fd') {
    this.#descriptors = descriptors
    this.#givenRoot = resolve(root)
    try {
      this.#root = realpathSync(this.#givenRoot)
      if (!statSync(this.#root).isDirectory()) throw new Error('it is a file')
    } catch (cause) {
      throw new BatonError({ code: 'invalid_option', message: `the workspace's root "${root}" is not a folder`, cause })
    }
    const rules = patternRules(allow)
    this.#allowed = allow.length === 0 ? undefined : (path) => rules.ignores(path)
  }

  guard(): Guard {
    const rules = new IgnoreRules(this.#root, this.#ignoreSettings)
    return {
      isHidden: async (path, isFolder) => {
        if (path.split('/').length > LEVELS_MAX) return true
        if (path === '' || this.#allowed?.(isFolder ? `${path}/` : path) === true) return false
        return isProtected(path, isFolder) || (await rules.isIgnored(path, isFolder))
      },
    }
  }

  /** Whether the owner lets models read the file, regardless of its name or content. */
  isAllowed(path: string): boolean {
    return this.#allowed?.(path) === true
  }

  /**
   * Resolves a model's path to the real path, relative to the root ('' is the root itself).
   * @throws BatonError `path_outside_workspace`, `path_protected`, `invalid_arguments`, `tool_failed` (does not exist)
   */
  async locate(path: string, guard: Guard): Promise<string> {
    const asked = await this.#spell(this.normalise(path))
    const real = await this.#realPath(asked, path)
    const isFolder = await this.#isFolder(real, path)
    // Both names count: a link may be named `.env`, or lead to one.
    if ((await guard.isHidden(asked, isFolder)) || (await guard.isHidden(real, isFolder))) throw protectedPath(path)
    return real
  }

  /** Normalizes a path without `.`, `..`, `\` and an absolute prefix. Does not resolve links. */
  normalise(path: string): string {
    if (path.includes('\0')) throw refused('invalid_arguments', 'a path cannot contain a NUL character')
    let plain = path.replaceAll('\\', '/')
    if (/^[A-Za-z]:/.test(plain) || plain.startsWith('//')) {
      // A drive or a share: only on Windows can they be inside.
      if (process.platform !== 'win32') throw outside(path)
    }
    if (isAbsolute(plain)) {
      const base = resolveInside(this.#root, plain) === undefined ? this.#givenRoot : this.#root
      plain = resolveInside(base, plain) ?? '..'
    }
    // On Windows, a colon opens another stream of the same file, whose name hides the real one.
    if (process.platform === 'win32' && plain.includes(':')) throw outside(path)
    const normal = posix.normalize(plain === '' ? '.' : plain).replace(/\/+$/, '')
    if (normal === '..' || normal.startsWith('../')) throw outside(path)
    return normal === '.' ? '' : normal
  }

  /** Absolute path for programs started in it. `path` is a real path from `locate`. */
  toAbsolute(path: string): string {
    return join(this.#root, path)
  }

  /**
   * Whether an entry exists, by name only; used for text shown to people. @throws BatonError `path_outside_workspace`
   */
  exists(path: string): boolean {
    return lstatSync(join(this.#root, this.normalise(path)), { throwIfNoEntry: false }) !== undefined
  }

  /** Takes a real path from `locate`. */
  async isFile(path: string): Promise<boolean> {
    return (await stat(join(this.#root, path))).isFile()
  }

  /**
   * Opens a file by a real path from `locate` or a walk, and closes it when `use` has ended.
   * @throws BatonError `path_outside_workspace`, `path_protected`, `tool_failed`
   */
  async readFile<Result>(path: string, guard: Guard, use: (file: OpenedFile) => Promise<Result>): Promise<Result> {
    const handle = await this.#open(path, 0)
    try {
      const actual = await this.#actualPath(handle, path)
      if (await guard.isHidden(actual, false)) throw protectedPath(path)
      const stats = await handle.stat()
      if (!stats.isFile()) throw refused('tool_failed', `"${path}" is not a file; fs.list_dir lists folders`)
      return await use({ handle, path: actual, bytes: stats.size })
    } finally {
      await handle.close()
    }
  }

  /**
   * Opens a folder by a real path from `locate` or a walk, and closes it after `use`, which gets it with a path to its
   * contents.
   * @throws BatonError `path_outside_workspace`, `tool_failed`
   */
  readFolder<Result>(path: string, use: (folder: Dir, stablePath: string) => Promise<Result>): Promise<Result> {
    return this.useFolder(path, async (stable) => {
      const folder = await opendir(stable, { bufferSize: ENTRIES_AT_ONCE })
      try {
        return await use(folder, stable)
      } finally {
        await folder.close().catch(ignoreClosed)
      }
    })
  }

  /**
   * Holds a folder open while `use` works in it: the path passed to `use` leads into this folder, even if it is
   * swapped.
   * @throws BatonError `path_outside_workspace`, `tool_failed`
   */
  async useFolder<Result>(path: string, use: (stablePath: string) => Promise<Result>): Promise<Result> {
    const handle = await this.#open(path, constants.O_DIRECTORY ?? 0)
    try {
      const actual = await this.#actualPath(handle, path)
      const descriptor = join(this.#descriptors, `${handle.fd}`)
      if (await isReadable(descriptor)) return await use(descriptor)
      const result = await use(join(this.#root, actual))
      // The result counts only if the folder is still in place, since this path may have been swapped.
      await this.#actualPath(handle, path)
      return result
    } finally {
      await handle.close()
    }
  }

  /**
   * Resolves a write target: an existing folder, and the names below it. The last name is the target's own. A link's
   * target must be named by its real path, so that a person who approves a change sees what changes.
   * @throws BatonError `path_outside_workspace`, `path_protected`, `invalid_arguments`, `tool_failed`
   */
  async locateTarget(path: string, guard: Guard): Promise<Target> {
    const asked = await this.#spell(this.normalise(path))
    if (asked === '') throw refused('invalid_arguments', `"${path}" is the workspace itself; name something in it`)
    const missing: string[] = []
    for (let at = asked; ; at = posix.dirname(at) === '.' ? '' : posix.dirname(at)) {
      const found = await lstat(join(this.#root, at)).catch((error: unknown) => {
        if (systemCode(error) === 'ENOENT') return undefined
        throw new BatonError({
          code: 'tool_failed',
          message: `could not access "${path}" (${describeSystemError(error)})`,
          cause: error,
        })
      })
      if (!found) {
        missing.unshift(posix.basename(at))
        continue
      }
      const real = await this.#realPath(at, path)
      const whole = [real, ...missing].filter((name) => name !== '').join('/')
      const isFolder = missing.length === 0 && (await this.#isFolder(real, path))
      if ((await guard.isHidden(asked, isFolder)) || (await guard.isHidden(whole, isFolder))) throw protectedPath(path)
      if (whole !== asked)
        throw refused(
          'tool_failed',
          `"${path}" is, or goes through, a link; its real path is "${whole}"; use that path`,
        )
      if (missing.length > 0) return { path: whole, folder: real, missing, exists: false, isFolder }
      const folder = posix.dirname(real)
      return {
        path: real,
        folder: folder === '.' ? '' : folder,
        missing: [posix.basename(real)],
        exists: true,
        isFolder,
      }
    }
  }

  /** Runs changes one at a time, so that no two change the same file at once. */
  changeAlone<Result>(change: () => Promise<Result>): Promise<Result> {
    const changed = this.#change.then(change)
    this.#change = changed.catch(() => {}) // the caller gets the error
    return changed
  }

  async #open(path: string, flags: number): Promise<FileHandle> {
    // NONBLOCK: opening a pipe would wait for its writer.
    const safe = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | flags
    try {
      return await open(join(this.#root, path), safe)
    } catch (cause) {
      throw new BatonError({
        code: 'tool_failed',
        message: `could not open "${path}" (${describeSystemError(cause)})`,
        cause,
      })
    }
  }

  async #isFolder(real: string, shown: string): Promise<boolean> {
    try {
      return (await stat(join(this.#root, real))).isDirectory()
    } catch (cause) {
      // The system's own message contains the whole path.
      throw new BatonError({
        code: 'tool_failed',
        message: `could not read "${shown}" (${describeSystemError(cause)})`,
        cause,
      })
    }
  }

  /** The path as spelled by the file system: a name may be stored in a different Unicode form than the model's. */
  async #spell(asked: string): Promise<string> {
    if (!hasTwoForms(asked)) return asked
    let spelled = ''
    for (const name of asked.split('/')) {
      const next = await this.#findName(spelled, name)
      spelled = spelled === '' ? next : `${spelled}/${next}`
    }
    return spelled
  }

  /** Returns the entry with this name, otherwise an entry that is equal in composed form, otherwise the name as is. */
  async #findName(folder: string, name: string): Promise<string> {
    const place = join(this.#root, folder)
    if (!hasTwoForms(name) || (await isThere(join(place, name)))) return name
    const real = await realpath(place).catch(() => undefined)
    if (real === undefined || resolveInside(this.#root, real) === undefined) return name
    const names = await readdir(real).catch(() => [])
    return names.find((one) => one.normalize('NFC') === name.normalize('NFC')) ?? name
  }

  async #realPath(asked: string, shown: string): Promise<string> {
    // Climbs up to an existing folder, so that "not found" never reveals anything about a place outside.
    for (let path = join(this.#root, asked); ; path = dirname(path)) {
      const real = await realpath(path).catch((error: unknown) => {
        if (['ENOENT', 'ENOTDIR'].includes(systemCode(error)) && resolveInside(this.#root, dirname(path)) !== undefined)
          return undefined
        throw new BatonError({
          code: 'tool_failed',
          message: `could not read "${shown}" (${describeSystemError(error)})`,
          cause: error,
        })
      })
      if (real === undefined) continue
      const inside = resolveInside(this.#root, real)
      if (inside === undefined) throw outside(shown)
      if (path !== join(this.#root, asked))
        throw refused('tool_failed', `"${shown}" does not exist in the workspace; fs.list_dir shows what does`)
      return inside
    }
  }

  /** The real path of an open file by its descriptor; if the system cannot tell, the path is resolved again. */
  async #actualPath(handle: FileHandle, path: string): Promise<string> {
    const fromSystem = await readlink(join(this.#descriptors, `${handle.fd}`)).catch(() => undefined)
    const real = fromSystem?.replace(/ \(deleted\)$/, '') ?? (await this.#resolveAgain(handle, path))
    const inside = resolveInside(this.#root, real)
    if (inside === undefined) throw outside(path)
    return inside
  }

  /** The path must lead to the same place before and after the comparison, so a single swap back is not enough. */
  async #resolveAgain(handle: FileHandle, path: string): Promise<string> {
    const before = await this.#realPath(path, path)
    const real = join(this.#root, before)
    const [opened, there] = await Promise.all([handle.stat({ bigint: true }), lstat(real, { bigint: true })])
    const after = await this.#realPath(path, path)
    if (opened.ino !== there.ino || opened.dev !== there.dev || before !== after) throw outside(path)
    return real
  }
}

/** The path from `root` to `path` with `/` separators, or `undefined` if it is not inside. */
function resolveInside(root: string, path: string): string | undefined {
  const way = relative(root, path)
  if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) return undefined
  return way.split(sep).join('/')
}

function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}

function isReadable(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

/** An exhausted iterator has already closed the folder. */
function ignoreClosed(cause: unknown): void {
  if (!(cause instanceof Error && 'code' in cause && cause.code === 'ERR_DIR_CLOSED')) throw cause
}

/** Shared by the tools of one workspace. */
export interface WorkspaceKit {
  readonly workspace: Workspace
  readonly limits: WorkspaceLimits
  readonly trust: Trust
  readonly editor: WorkspaceEditor
  /** For a pattern that RE2 has accepted; `undefined` if ripgrep cannot help. */
  openFilter(pattern: string): RipgrepFilter | undefined
  startBudget(context: ToolContext): CallBudget
}
