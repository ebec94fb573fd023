// Protects what git would later run outside the sandbox: hooks and settings of every repository in a folder, its
// submodules and worktrees. Repositories created by a command keep neither hooks nor settings that name programs. Knows
// the command line of bwrap and git's layout (https://git-scm.com/docs/gitrepository-layout).
import { constants, existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { open, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { findProgram } from './find-program.ts'
import type { GitFolders } from './git-folders.ts'
import { findGitFolders, isWithin, runFind } from './git-folders.ts'
import type { NamedPlace } from './git-settings.ts'
import { namedPlaces, plainSettings } from './git-settings.ts'
import type { Workspace } from './workspace.ts'

export interface GitGuards {
  /** Arguments for bwrap, after the binding of the root. */
  readonly words: readonly string[]
  /** False if not every repository was found, or there are too many. */
  readonly isWhole: boolean
  /** Paths that the command cannot move or replace. */
  readonly kept: ReadonlySet<string>
  /**
   * Call this when the command has ended: removes what could not be prevented. Returns false if that failed. Never
   * rejects.
   */
  cleanUp(): Promise<boolean>
}

/** Each repository costs mounts and command-line arguments. */
const REPOSITORIES_MAX = 500
const SETTINGS_BYTES_MAX = 1024 * 1024

/**
 * @param running guards of commands that are running now. They could concurrently replace anything else with a link to
 * the outside, so it counts as created by a command.
 */
export async function guardGit(workspace: Workspace, running: readonly GitGuards[] = []): Promise<GitGuards> {
  const root = workspace.toAbsolute('')
  const startMs = Date.now()
  const found = await findGitFolders(root)
  const isKept = (path: string) => running.every(({ kept }) => kept.has(path))
  const sorted = [...found.folders].filter(isKept).toSorted((one, other) => one.length - other.length)
  const guards = new Guards(root, running)
  for (const folder of sorted.slice(0, REPOSITORIES_MAX)) guards.keepSettings(folder)
  for (const path of [...found.files].filter(isKept).slice(0, REPOSITORIES_MAX)) guards.keep(path)
  for (const [path, target] of found.links) guards.links.set(path, target)
  const program = findProgram('git', root)
  for (const folder of guards.folders)
    for (const place of await namedPlaces(program, folder, found.tops.get(folder) ?? folder)) guards.keepPlace(place)
  return {
    isWhole: found.isWhole && sorted.length <= REPOSITORIES_MAX && found.files.size <= REPOSITORIES_MAX,
    kept: guards.kept,
    words: guards.toWords(),
    cleanUp: async () => {
      const areClean = await cleanGit(workspace, guards)
      const { isWhole } = await dropSetId(root, startMs)
      return areClean && isWhole
    },
  }
}

/** Paths that stay unchanged, and paths that are removed if they appear. */
class Guards {
  readonly folders: string[] = []
  readonly kept = new Set<string>()
  readonly links = new Map<string, string>()
  readonly stray = new Set<string>()
  readonly #root: string
  readonly #running: readonly GitGuards[]
  readonly #words: string[] = []

  constructor(root: string, running: readonly GitGuards[]) {
    this.#root = root
    this.#running = running
  }

  keepSettings(folder: string): void {
    this.folders.push(folder)
    this.kept.add(folder)
    const isWorkTree = existsSync(join(folder, 'commondir'))
    const settings = join(folder, 'config')
    if (!isWorkTree) {
      this.keepPlace({ path: join(folder, 'hooks'), isFolder: true })
      this.keepPlace({ path: settings, isFolder: false })
      this.stray.add(join(folder, 'commondir'))
    }
    const own = join(folder, 'config.worktree')
    if (existsSync(own) || (!isWorkTree && readsOwn(settings))) this.keepPlace({ path: own, isFolder: false })
    else this.stray.add(own)
    if (existsSync(join(folder, 'gitdir'))) this.keep(join(folder, 'gitdir'))
  }

  /** Keeps a place that may not exist yet. */
  keepPlace({ path, isFolder }: NamedPlace): void {
    if (!isWithin(this.#root, path) || path === this.#root || this.kept.has(path)) return
    if (lstatSync(path, { throwIfNoEntry: false })) return this.keep(path)
    const folder = dirname(path)
    if (this.#running.length > 0 || !existsSync(folder) || realpathSync(folder) !== folder) {
      this.stray.add(path)
      return
    }
    this.kept.add(path)
    this.#words.push(...(isFolder ? ['--tmpfs', path, '--remount-ro', path] : ['--ro-bind', '/dev/null', path]))
  }

  /** bwrap follows links out of the folder, so only targets inside the folder are bound. */
  keep(path: string): void {
    if (lstatSync(path).isSymbolicLink()) this.links.set(path, readlinkSync(path))
    if (!existsSync(path)) return
    const real = realpathSync(path)
    if (!isWithin(this.#root, real) || real === this.#root || this.kept.has(real)) return
    if (!this.#running.every(({ kept }) => kept.has(real))) return
    this.kept.add(real)
    this.#words.push('--ro-bind', real, real)
  }

  toWords(): readonly string[] {
    // A mount cannot be renamed, so no other folder can take its place. Parents are listed first.
    const parents = new Set([...this.folders, ...[...this.kept].flatMap((path) => listParents(this.#root, path))])
    for (const path of parents) this.kept.add(path)
    return [
      ...[...parents].toSorted((one, other) => one.length - other.length).flatMap((path) => ['--bind', path, path]),
      ...this.#words,
    ]
  }
}

function listParents(root: string, path: string): readonly string[] {
  const parents: string[] = []
  for (let at = dirname(path); at !== root && at.length > root.length; at = dirname(at)) parents.push(at)
  return parents
}

/** Whether git reads this repository's `config.worktree`. */
function readsOwn(settings: string): boolean {
  return existsSync(settings) && /worktreeconfig/i.test(readFileSync(settings, 'utf8'))
}

/** Another command may still be running and swap folders for links, so each change keeps its folder open. */
async function cleanGit(workspace: Workspace, guards: Guards): Promise<boolean> {
  const root = workspace.toAbsolute('')
  const within = async (folder: string, use: (stable: string) => Promise<void>): Promise<boolean> => {
    if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return true
    return await workspace.useFolder(relative(root, folder), use).then(
      () => true,
      () => false,
    )
  }
  const done: boolean[] = []
  for (const path of guards.stray)
    done.push(
      await within(dirname(path), (stable) => rm(join(stable, basename(path)), { force: true, recursive: true })),
    )
  for (const [path, target] of guards.links)
    done.push(await within(dirname(path), (stable) => restoreLink(join(stable, basename(path)), target)))
  const found: GitFolders = await findGitFolders(root)
  for (const folder of found.folders) {
    if (guards.kept.has(folder)) continue
    done.push(await within(folder, plainFiles), await within(join(folder, 'hooks'), dropHooks))
  }
  return found.isWhole && done.every(Boolean)
}

async function restoreLink(path: string, target: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isSymbolicLink() && readlinkSync(path) === target) return
  await rm(path, { force: true, recursive: true })
  await symlink(target, path)
}

async function plainFiles(folder: string): Promise<void> {
  for (const name of ['config', 'config.worktree']) await plainFile(join(folder, name))
  const hooks = lstatSync(join(folder, 'hooks'), { throwIfNoEntry: false })
  if (hooks?.isSymbolicLink()) await rm(join(folder, 'hooks'))
}

async function plainFile(path: string): Promise<void> {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (!stats || stats.isDirectory()) return
  const text = stats.isFile() && stats.size <= SETTINGS_BYTES_MAX ? await readText(path) : ''
  const plain = plainSettings(text)
  if (stats.isFile() && plain === text) return
  await rm(path)
  await writeFile(path, plain, { flag: 'wx' })
}

async function readText(path: string): Promise<string> {
  await using handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  return await handle.readFile('utf8')
}

async function dropHooks(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (!name.endsWith('.sample')) await rm(join(folder, name), { recursive: true, force: true })
}

/** Anyone who runs a file with these bits runs it as its owner, so no recently changed file keeps them. */
function dropSetId(root: string, sinceMs: number): Promise<{ readonly isWhole: boolean }> {
  const changed = ['-newerct', `@${Math.floor(sinceMs / 1000) - 1}`]
  return runFind(root, ['-type', 'f', '-perm', '/6000', ...changed, '-exec', 'chmod', 'ug-s', '{}', '+'])
}
