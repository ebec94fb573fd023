// What the .gitignore files say about a path: those of its folder and of all folders above, up to the repository's root.
// Where the files disagree about an ignored folder this hides more than git does, never less.
import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import ignore from 'ignore'
import type { Ignore } from 'ignore'

const RULES_BYTES_MAX = 256 * 1024
/** Folders above the workspace that are looked at for the repository's root. */
const LEVELS_MAX = 64

/** Made anew for each call of a tool, so that edits of the rules are seen; within it every file is read once. */
export class IgnoreRules {
  readonly #root: string
  readonly #rules = new Map<string, Promise<Ignore | undefined>>()
  readonly #ignored = new Map<string, Promise<boolean>>()
  #top: Promise<string> | undefined

  /** `root` is the workspace's real, absolute path. */
  constructor(root: string) {
    this.#root = root
  }

  /** `path` is relative to the root, with `/` between names; '' is the root, which is never ignored. */
  isIgnored(path: string, isFolder: boolean): Promise<boolean> {
    if (path === '') return Promise.resolve(false)
    const known = this.#ignored.get(path)
    if (known) return known
    const answer = this.#decide(path, isFolder)
    if (isFolder) this.#ignored.set(path, answer)
    return answer
  }

  async #decide(path: string, isFolder: boolean): Promise<boolean> {
    const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
    if (await this.isIgnored(parent, true)) return true
    const absolute = join(this.#root, path)
    this.#top ??= repositoryRoot(this.#root)
    let ignored = false
    for (const folder of foldersBetween(await this.#top, dirname(absolute))) {
      const rules = await this.#rulesOf(folder)
      if (!rules) continue
      const name = relative(folder, absolute).split(sep).join('/') + (isFolder ? '/' : '')
      const verdict = rules.test(name)
      if (verdict.ignored) ignored = true
      else if (verdict.unignored) ignored = false
    }
    return ignored
  }

  #rulesOf(folder: string): Promise<Ignore | undefined> {
    const known = this.#rules.get(folder)
    if (known) return known
    const rules = readRules(join(folder, '.gitignore'))
    this.#rules.set(folder, rules)
    return rules
  }
}

/** Rules that the workspace's owner writes in the options, in the syntax of .gitignore. */
export function patternRules(patterns: readonly string[]): Ignore {
  return ignore({ ignorecase: false }).add(patterns)
}

async function readRules(path: string): Promise<Ignore | undefined> {
  try {
    // As git does: a link is no file of rules.
    await using handle = await open(
      path,
      constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
    )
    const buffer = Buffer.alloc(RULES_BYTES_MAX)
    const { bytesRead } = await handle.read(buffer, 0, RULES_BYTES_MAX, 0)
    return ignore({ ignorecase: process.platform !== 'linux' }).add(buffer.toString('utf8', 0, bytesRead))
  } catch {
    return undefined
  }
}

async function repositoryRoot(root: string): Promise<string> {
  let folder = root
  for (let level = 0; level < LEVELS_MAX; level++) {
    const isTop = await stat(join(folder, '.git')).then(
      () => true,
      () => false,
    )
    if (isTop) return folder
    if (dirname(folder) === folder) break
    folder = dirname(folder)
  }
  return root
}

/** From `top` down to `bottom`, which lies in it. */
function foldersBetween(top: string, bottom: string): readonly string[] {
  const folders = [bottom]
  for (let folder = bottom; folder !== top && dirname(folder) !== folder;) {
    folder = dirname(folder)
    folders.unshift(folder)
  }
  return folders
}
