// Applies git's ignore rules to a path: the .gitignore files from its folder up to the repository's root, and the
// repository's and the user's own. If a deeper file re-includes part of a folder ignored higher up, this hides more
// than git does. Rules like `a**/` and `?` next to non-ASCII letters can hide less: git matches bytes.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import ignore from 'ignore'
import type { Ignore } from 'ignore'
import type { IgnoreSettings } from './repository.ts'
import { ignoreSettings, repositoryRoot } from './repository.ts'

const RULES_BYTES_MAX = 1024 * 1024
/** Maximum `**` per rule. Each is tried at every depth, so the time grows exponentially with their number. */
const GLOBSTARS_MAX = 3
/** As in git, a link inside the repository does not count as a rule file. */
const NO_LINKS = constants.O_NOFOLLOW ?? 0

interface Base {
  /** Rules are not looked up above this folder. */
  readonly top: string
  readonly settings: IgnoreSettings
}

/** Created for each tool call, so that it sees edits of the rules; within a call, each file is read once. */
export class IgnoreRules {
  readonly #root: string
  readonly #settings: Map<string, Promise<IgnoreSettings>>
  readonly #rules = new Map<string, Promise<Ignore>>()
  readonly #ignored = new Map<string, Promise<boolean>>()
  #base: Promise<Base> | undefined

  /** `root` is the workspace's real, absolute path; `settings` keeps git's answers for the next call. */
  constructor(root: string, settings: Map<string, Promise<IgnoreSettings>>) {
    this.#root = root
    this.#settings = settings
  }

  /** `path` is relative to the root, with `/` separators; '' is the root, which is never ignored. */
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
    return this.#judge(await (this.#base ??= this.#findBase()), join(this.#root, path), isFolder)
  }

  /** The last matching rule wins, and a deeper file wins over all others. */
  async #judge(base: Base, absolute: string, isFolder: boolean): Promise<boolean> {
    let ignored = false
    for (const folder of foldersBetween(base.top, dirname(absolute))) {
      const rules = await this.#listRules(folder, base)
      const verdict = rules.test(relative(folder, absolute).split(sep).join('/') + (isFolder ? '/' : ''))
      if (verdict.ignored) ignored = true
      else if (verdict.unignored) ignored = false
    }
    return ignored
  }

  async #findBase(): Promise<Base> {
    const top = (await repositoryRoot(this.#root)) ?? this.#root
    const known = this.#settings.get(top) ?? ignoreSettings(top, this.#root)
    this.#settings.set(top, known)
    const base = { top, settings: await known }
    // The next call asks again.
    if (!base.settings.isWhole && this.#settings.get(top) === known) this.#settings.delete(top)
    // An owner who chose an ignored folder as the workspace wants to see it, so only the rules inside apply.
    const isRootIgnored = top !== this.#root && (await this.#judge(base, this.#root, true))
    return isRootIgnored ? { top: this.#root, settings: { ...base.settings, ruleFiles: [] } } : base
  }

  #listRules(folder: string, base: Base): Promise<Ignore> {
    const known = this.#rules.get(folder)
    if (known) return known
    const rules = readRules(folder, folder === base.top ? base.settings.ruleFiles : [], base.settings.ignoreCase)
    this.#rules.set(folder, rules)
    return rules
  }
}

/** Rules from the owner's options, in .gitignore syntax. */
export function patternRules(patterns: readonly string[]): Ignore {
  return ignore({ ignorecase: false }).add(patterns)
}

/** The rules of `weaker` files, overridden by the folder's .gitignore. */
async function readRules(folder: string, weaker: readonly string[], ignoreCase: boolean): Promise<Ignore> {
  const rules = ignore({ ignorecase: ignoreCase })
  for (const path of weaker) rules.add(boundedRules(await readText(path, 0)))
  return rules.add(boundedRules(await readText(join(folder, '.gitignore'), NO_LINKS)))
}

/** Returns an empty string if the file does not exist or cannot be read. */
async function readText(path: string, flags: number): Promise<string> {
  try {
    await using handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags)
    const buffer = Buffer.alloc(RULES_BYTES_MAX)
    const { bytesRead } = await handle.read(buffer, 0, RULES_BYTES_MAX, 0)
    return bytesRead < RULES_BYTES_MAX ? buffer.toString('utf8', 0, bytesRead) : '*'
  } catch {
    return ''
  }
}

/** Replaces a rule that could take too long with a broader one that hides everything with the same prefix. */
function boundedRules(text: string): string {
  if (!text.includes('**')) return text
  const bounded = text.split('\n').map((line) => {
    if ((line.match(/\*\*+/g)?.length ?? 0) <= GLOBSTARS_MAX) return line
    return line.startsWith('!') ? '' : `${/^[^*?[\\]*/.exec(line)?.[0] ?? ''}*`
  })
  return bounded.join('\n')
}

/** Lists folders from `top` down to `bottom`, which is inside it. */
function foldersBetween(top: string, bottom: string): readonly string[] {
  const folders = [bottom]
  for (let folder = bottom; folder !== top && dirname(folder) !== folder;) {
    folder = dirname(folder)
    folders.unshift(folder)
  }
  return folders
}
