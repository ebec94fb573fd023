// Guards what git would run later, outside the sandbox: hooks and settings of every repository in a folder, its submodules
// and work trees. It knows the command line of bwrap and git's layout (https://git-scm.com/docs/gitrepository-layout).
import { execFile } from 'node:child_process'
import type { Dirent } from 'node:fs'
import { existsSync, lstatSync, readFileSync, rmSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

export interface GitGuards {
  /** For bwrap, behind the binding of the root. */
  readonly words: readonly string[]
  /** False: the folder is too large to find every repository in it. */
  readonly isWhole: boolean
  /** Call this when the command has ended: it takes away what could not be kept out. False where it could not look. Never rejects. */
  cleanUp(): Promise<boolean>
}

/** Folders that are looked into, without those of packages that were installed. */
const FOLDERS_MAX = 20_000
/** Submodules in submodules. */
const MODULE_LEVELS_MAX = 8

export async function guardGit(root: string): Promise<GitGuards> {
  const startMs = Date.now()
  const { files, folders, isWhole } = await findRepositories(root)
  const stray = folders.flatMap((folder) =>
    ['commondir', 'config.worktree'].map((name) => join(folder, name)).filter((path) => !existsSync(path)),
  )
  const parents = new Set([...files, ...folders].flatMap((path) => listParents(root, path)))
  return {
    isWhole,
    words: [
      // A mount cannot be renamed, so no other folder takes its place. The higher ones come first.
      ...[...parents, ...folders].toSorted((one, other) => one.length - other.length).flatMap(bind),
      ...files.flatMap((path) => ['--ro-bind', path, path]),
      ...folders.flatMap(keepSettings),
    ],
    cleanUp: async () => {
      for (const path of stray) rmSync(path, { force: true, recursive: true })
      return await dropSetId(root, startMs)
    },
  }
}

interface Repositories {
  /** Files that lead to a repository elsewhere: those of submodules and of work trees. */
  readonly files: string[]
  readonly folders: string[]
  isWhole: boolean
}

async function findRepositories(root: string): Promise<Repositories> {
  const found: Repositories = { files: [], folders: [], isWhole: true }
  const next = [root]
  for (let seen = 0; next.length > 0; seen += 1) {
    found.isWhole = seen < FOLDERS_MAX
    if (!found.isWhole) return found
    const folder = next.pop() ?? root
    for (const entry of await list(folder)) {
      const path = join(folder, entry.name)
      if (entry.name === '.git' && entry.isFile()) found.files.push(path)
      else if (entry.name === '.git' && entry.isDirectory()) await takeRepository(path, found)
      else if (entry.isDirectory() && entry.name !== 'node_modules') next.push(path)
    }
  }
  return found
}

/** A repository has those of its submodules in it, and files of its work trees. */
async function takeRepository(folder: string, found: Repositories): Promise<void> {
  found.folders.push(folder)
  for (const { name } of await list(join(folder, 'worktrees')))
    for (const file of ['commondir', 'gitdir', 'config.worktree']) {
      const path = join(folder, 'worktrees', name, file)
      if (lstatSync(path, { throwIfNoEntry: false })?.isFile()) found.files.push(path)
    }
  await takeModules(join(folder, 'modules'), found, MODULE_LEVELS_MAX)
}

/** The name of a submodule may have several parts. */
async function takeModules(folder: string, found: Repositories, levels: number): Promise<void> {
  for (const entry of await list(folder)) {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) continue
    if (existsSync(join(path, 'HEAD'))) await takeRepository(path, found)
    else if (levels > 0) await takeModules(path, found, levels - 1)
    else found.isWhole = false
  }
}

function list(folder: string): Promise<readonly Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => [])
}

function listParents(root: string, path: string): readonly string[] {
  const parents: string[] = []
  for (let at = dirname(path); at !== root && at.length > root.length; at = dirname(at)) parents.push(at)
  return parents
}

function keepSettings(folder: string): readonly string[] {
  const [hooks, settings, own] = ['hooks', 'config', 'config.worktree'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ] // one for each name
  const keep = (path: string) => (existsSync(path) ? ['--ro-bind', path, path] : ['--ro-bind', '/dev/null', path])
  return [
    ...(existsSync(hooks) ? ['--ro-bind', hooks, hooks] : ['--tmpfs', hooks, '--remount-ro', hooks]),
    ...keep(settings),
    ...(existsSync(own) || readsOwn(settings) ? keep(own) : []),
  ]
}

/** Whether git reads `config.worktree` of this repository. */
function readsOwn(settings: string): boolean {
  return existsSync(settings) && /worktreeconfig/i.test(readFileSync(settings, 'utf8'))
}

function bind(path: string): readonly string[] {
  return ['--bind', path, path]
}

/** Milliseconds for a folder of any size. */
const FIND_MS = 60_000

/** Whoever runs a file with these bits runs it in the name of its owner: none that changed since then keeps them. */
async function dropSetId(root: string, sinceMs: number): Promise<boolean> {
  const changed = ['-newerct', `@${Math.floor(sinceMs / 1000) - 1}`]
  const words = [root, '-xdev', '-type', 'f', '-perm', '/6000', ...changed, '-exec', 'chmod', 'ug-s', '{}', '+']
  try {
    await promisify(execFile)('/usr/bin/find', words, { timeout: FIND_MS, env: { PATH: '/usr/bin:/bin' } })
    return true
  } catch (cause) {
    // A folder that it may not read gives 1, and the others were looked at.
    return cause instanceof Error && 'code' in cause && cause.code === 1
  }
}
