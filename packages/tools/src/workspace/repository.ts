// Asks git, if installed, about a folder's repository: its root, and ignore rules other than .gitignore files.
// Otherwise git's defaults apply.
import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from './find-program.ts'

/** Maximum folders above the workspace searched for the repository's root. */
const LEVELS_MAX = 64
const GIT_TIMEOUT_MS = 5000
const GIT_OUTPUT_BYTES_MAX = 64 * 1024
/** Variables that would point git to another repository. */
const MISLEADING = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_COMMON_DIR', 'GIT_CEILING_DIRECTORIES']

export interface IgnoreSettings {
  /** Rule files for the whole repository, weakest first; .gitignore files are stronger. */
  readonly ruleFiles: readonly string[]
  readonly ignoreCase: boolean
  /** False if git could not answer this time, so that there may be more rule files. */
  readonly isWhole: boolean
}

/** The folder with `.git`: `folder` or one above it; `undefined` outside of a repository. */
export async function repositoryRoot(folder: string): Promise<string | undefined> {
  let place = folder
  for (let level = 0; level < LEVELS_MAX; level++) {
    const isTop = await stat(join(place, '.git')).then(
      () => true,
      () => false,
    )
    if (isTop) return place
    if (dirname(place) === place) return undefined
    place = dirname(place)
  }
  return undefined
}

/** `top` is the root of the repository that contains `root`, the workspace. */
export async function ignoreSettings(top: string, root: string): Promise<IgnoreSettings> {
  // Never git from the workspace: a package manager may have put one of its folders on the PATH.
  const program = findProgram(process.platform === 'win32' ? 'git.exe' : 'git', root)
  const [config, exclude] = await Promise.all([
    tryGit(program, top, ['config', '-z', '--type=path', '--get-regexp', '^core\\.(excludesfile|ignorecase)$']),
    // In a linked worktree, it is not below `.git`.
    tryGit(program, top, ['rev-parse', '--git-path', 'info/exclude']),
  ])
  const values = new Map((config ?? '').split('\0').map((entry) => splitOnce(entry, '\n')))
  const defaultFile = join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'git', 'ignore')
  const ignoreCase = values.get('core.ignorecase')
  return {
    ruleFiles: [
      resolve(top, values.get('core.excludesfile') ?? defaultFile),
      resolve(top, exclude?.replace(/\r?\n$/, '') || join('.git', 'info', 'exclude')),
    ],
    ignoreCase: ignoreCase === undefined ? process.platform !== 'linux' : ignoreCase === 'true',
    isWhole: config !== undefined && exclude !== undefined,
  }
}

/** Git's output; empty if git is not installed, refuses this folder, or has no answer. */
export async function askGit(program: string | undefined, folder: string, words: readonly string[]): Promise<string> {
  return (await tryGit(program, folder, words)) ?? ''
}

/** Returns `undefined` if git could not be started or did not end in time: it may answer later. */
async function tryGit(
  program: string | undefined,
  folder: string,
  words: readonly string[],
): Promise<string | undefined> {
  if (program === undefined) return ''
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !MISLEADING.includes(name)))
  const options = { cwd: folder, env, timeout: GIT_TIMEOUT_MS, maxBuffer: GIT_OUTPUT_BYTES_MAX, windowsHide: true }
  try {
    return (await promisify(execFile)(program, [...words], options)).stdout
  } catch (cause) {
    const hasEnded = cause instanceof Error && 'code' in cause && typeof cause.code === 'number'
    return hasEnded ? '' : undefined
  }
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator)
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}
