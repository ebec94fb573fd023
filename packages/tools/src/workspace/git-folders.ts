// Finds what git would use in a folder and below it: repositories, including bare ones and those of submodules and
// worktrees, and the files and links that lead to them. Follows no links out of the folder, and reads no settings.
import { execFile } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { systemCode } from './refused.ts'

export interface GitFolders {
  /** Real paths of repositories: a `.git` folder, a bare one, those of submodules and worktrees. */
  readonly folders: Set<string>
  /** Files that lead to another folder: `.git` and `commondir`. */
  readonly files: Set<string>
  /** Links in place of such files, with their targets. */
  readonly links: Map<string, string>
  /** The folders in which repositories' hooks run. */
  readonly tops: Map<string, string>
  /** False if not all folders could be examined. */
  isWhole: boolean
}

/** Milliseconds allowed for a folder of any size. */
const FIND_MS = 60_000
const FIND_BYTES_MAX = 64 * 1024 * 1024
const LEADING_BYTES_MAX = 64 * 1024

/** @param root path with links resolved */
export async function findGitFolders(root: string): Promise<GitFolders> {
  const { paths, isWhole } = await findNames(root)
  const found: GitFolders = { folders: new Set(), files: new Set(), links: new Map(), tops: new Map(), isWhole }
  for (const path of paths)
    try {
      take(root, path, found)
    } catch (cause) {
      // The path vanished, unless its name is too long or not valid Unicode, which nothing here can reach.
      if (systemCode(cause) !== 'ENOENT' || path.includes('\ufffd')) found.isWhole = false
    }
  return found
}

/** Runs the system's `find` on the folder. @returns false if it could not look everywhere */
export async function runFind(
  root: string,
  words: readonly string[],
): Promise<{ readonly output: string; readonly isWhole: boolean }> {
  const options = { timeout: FIND_MS, maxBuffer: FIND_BYTES_MAX, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' } }
  try {
    return { output: (await promisify(execFile)('/usr/bin/find', [root, ...words], options)).stdout, isWhole: true }
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string } // set by execFile
    // Exit code 1 also covers folders that are unreadable or vanished; any other message means that it did not look
    // everywhere.
    const lines = stderr.split('\n').filter((line) => line !== '')
    const isWhole =
      lines.length > 0 && lines.every((line) => /: (Permission denied|No such file or directory)$/.test(line))
    return { output: stdout, isWhole: isWhole && existsSync('/usr/bin/find') }
  }
}

async function findNames(root: string): Promise<{ readonly paths: readonly string[]; readonly isWhole: boolean }> {
  const names = ['-name', '.git', '-o', '-name', 'HEAD', '-o', '-name', 'commondir']
  const { output, isWhole } = await runFind(root, ['(', ...names, ')', '-print0'])
  return { paths: output.split('\0').filter((path) => path !== ''), isWhole }
}

function take(root: string, path: string, found: GitFolders): void {
  const stats = lstatSync(path)
  const [folder, name] = [dirname(path), basename(path)]
  if (name === 'HEAD') {
    if (['objects', 'refs'].every((part) => existsSync(join(folder, part)))) found.folders.add(folder)
    return
  }
  if (name === 'commondir' && !stats.isDirectory()) found.folders.add(folder)
  if (stats.isDirectory()) {
    if (name === '.git') lead(root, path, path, found)
  } else if (stats.isSymbolicLink()) {
    found.links.set(path, readlinkSync(path))
    lead(root, path, path, found)
  } else if (stats.isFile() && stats.size <= LEADING_BYTES_MAX) {
    found.files.add(path)
    const target = readFileSync(path, 'utf8')
      .replace(/^gitdir:\s*/, '')
      .trimEnd()
    lead(root, path, resolve(folder, target), found)
  }
}

/** Records that `path` makes git use `place`, unless that is outside. */
function lead(root: string, path: string, place: string, { folders, tops }: GitFolders): void {
  if (!existsSync(place)) return
  const real = realpathSync(place)
  if (!isWithin(root, real) || !lstatSync(real).isDirectory()) return
  folders.add(real)
  if (basename(path) === '.git') tops.set(real, dirname(path))
}

export function isWithin(root: string, path: string): boolean {
  return path === root || path.startsWith(root.endsWith(sep) ? root : root + sep)
}
