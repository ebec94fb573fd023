// `code.grep`: lines of the workspace's files that match a regular expression, grouped by file. Expressions run on
// RE2JS, which is linear in the text, so no pattern can hang the process. If ripgrep is installed, it tells which files
// need not be opened.
import { isBatonError, tool } from '@baton/core'
import * as z from 'zod'
import type { CallBudget } from './call-budget.ts'
import { LineSearch } from './line-search.ts'
import type { LineMatch, LinesFound } from './line-search.ts'
import { holdsSecret } from './secret-content.ts'
import { decodeText, hasTwoForms, readTextForm } from './text-bytes.ts'
import type { RipgrepFilter } from './ripgrep-filter.ts'
import { walk } from './walk.ts'
import { workspacePath } from './workspace-limits.ts'
import type { Guard, OpenedFile, WorkspaceKit } from './workspace.ts'
import { WORKSPACE_ERRORS, refused } from './refused.ts'

const file = z.object({
  path: z.string(),
  count: z.int().describe('Matching lines in this file'),
  lines: z.array(z.object({ line: z.int(), text: z.string() })),
})

const skipped = z.object({
  binary: z.int(),
  tooLarge: z.int(),
  longLines: z.int().describe('Lines too long for this pattern; a simpler pattern searches longer lines'),
  hidden: z.int().describe('Files and folders left out because they are ignored or have protected names'),
  unreadable: z.int(),
  unfinished: z.int().describe('Files whose end was not reached in time; search them individually'),
})

export function grepTool(kit: WorkspaceKit) {
  return tool({
    name: 'code.grep',
    description:
      'Search the text of all files of the workspace with a regular expression (RE2 syntax): find which files and lines contain, mention or use something. A file that contains a secret never matches.',
    effect: 'pure',
    title: 'Search the files',
    kind: 'search',
    describe: ({ pattern }) => ({ title: `Search for ${pattern}` }),
    trust: kit.trust,
    network: false,
    errors: WORKSPACE_ERRORS,
    input: z.object({
      pattern: z
        .string()
        .min(1)
        .describe('Text or regular expression to search for; start it with (?i) to ignore case'),
      pathPrefix: workspacePath
        .optional()
        .describe('Search only in this folder or file, or in paths that start with this'),
      startLine: z.int().min(1).default(1).describe('First line to search if pathPrefix is a single file'),
      after: workspacePath
        .optional()
        .describe('Continue after this file: the value of "next.after" of a truncated search'),
    }),
    output: z.object({
      files: z.array(file),
      filesSearched: z.int(),
      skipped,
      truncated: z.boolean(),
      next: z
        .object({ after: z.string().optional(), startLine: z.int().optional() })
        .optional()
        .describe('Arguments to add to continue reading'),
    }),
    execute: async (input, context) => {
      const lines = new LineSearch(input.pattern, kit.limits.patternCharactersMax)
      // ripgrep matches only one Unicode form of a character, but a file may contain the other.
      const open = () => (hasTwoForms(input.pattern) ? undefined : kit.openFilter(input.pattern))
      const filter = new FileFilter(open, context.signal as AbortSignal) // a real one, as ToolContext declares
      const search = new Search(kit, lines, { budget: kit.startBudget(context), filter })
      const after = input.after === undefined ? undefined : kit.workspace.normalise(input.after)
      await search.run(input.pathPrefix ?? '', after, input.startLine)
      return search.result()
    },
  })
}

interface FileMatches {
  readonly path: string
  readonly count: number
  readonly lines: readonly LineMatch[]
}

/** Starting ripgrep takes longer than searching up to this many files without it. */
const ALONE_MAX = 50
/** Files passed to ripgrep at once: few at first, because a search may soon have enough matches. */
const TOGETHER_FIRST = 250
const TOGETHER_MAX = 4000

/** Decides which files can be skipped. Starts ripgrep when it is worthwhile. */
class FileFilter {
  readonly #open: () => RipgrepFilter | undefined
  readonly #signal: AbortSignal
  #filter: RipgrepFilter | undefined
  #reached = 0
  #together = 1

  constructor(open: () => RipgrepFilter | undefined, signal: AbortSignal) {
    this.#open = open
    this.#signal = signal
  }

  /** Number of files to collect for the next query, after `reached` more; 1 means search each one directly. */
  count(reached: number): number {
    this.#reached += reached
    if (this.#filter) this.#together = Math.min(2 * this.#together, TOGETHER_MAX)
    else if (this.#reached === ALONE_MAX) {
      this.#filter = this.#open()
      this.#together = this.#filter ? TOGETHER_FIRST : 1
    }
    return this.#together
  }

  /** Returns `undefined` if all of them must be searched. */
  async choose(paths: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    return paths.length < ALONE_MAX ? undefined : await this.#filter?.choose(paths, this.#signal)
  }
}

/** One search over many files; collects the matches. */
class Search {
  readonly #kit: WorkspaceKit
  readonly #lines: LineSearch
  readonly #budget: CallBudget
  readonly #filter: FileFilter
  readonly #guard: Guard
  readonly #files: FileMatches[] = []
  readonly #skipped = { binary: 0, tooLarge: 0, longLines: 0, unfinished: 0 }
  #shown = 0
  #isTruncated = false
  #next: { readonly after?: string; readonly startLine?: number } | undefined

  constructor(
    kit: WorkspaceKit,
    lines: LineSearch,
    { budget, filter }: { readonly budget: CallBudget; readonly filter: FileFilter },
  ) {
    this.#kit = kit
    this.#lines = lines
    this.#budget = budget
    this.#filter = filter
    this.#guard = kit.workspace.guard()
  }

  /** @throws BatonError `invalid_arguments`, `cancelled`, and as `Workspace.locate` does */
  async run(pathPrefix: string, after: string | undefined, startLine: number): Promise<void> {
    const { workspace } = this.#kit
    const start = await this.#startOf(pathPrefix)
    if (start.isFile) return this.#searchOneFile(start.from, startLine)
    if (startLine > 1) throw refused('invalid_arguments', 'startLine needs a pathPrefix that is a single file')
    // Unlimited depth: the budget bounds the walk.
    const options = { workspace, guard: this.#guard, from: start.from, depth: Number.MAX_SAFE_INTEGER }
    let paths: string[] = []
    let most = this.#filter.count(0)
    for await (const entry of walk({ ...options, after, withBytes: false, budget: this.#budget })) {
      if (entry.type !== 'file' || !entry.path.startsWith(start.prefix)) continue
      paths.push(entry.path)
      if (paths.length < most) continue
      if (!(await this.#searchFiles(paths))) return
      most = this.#filter.count(paths.length)
      paths = []
    }
    // A stopped walk leaves the collected files to the next call.
    if (this.#budget.hasStopped) this.#isTruncated = true
    else await this.#searchFiles(paths)
  }

  /** Returns false if the search has ended; `#isTruncated` tells why. */
  async #searchFiles(paths: readonly string[]): Promise<boolean> {
    const { limits } = this.#kit
    const chosen = await this.#filter.choose(paths)
    for (const path of paths) {
      // Checked here rather than after the file, so that a search that just fits does not count as truncated.
      this.#isTruncated = this.#shown >= limits.matchesMax || (paths.length > 1 && this.#budget.isSpent())
      if (this.#isTruncated) return false
      if (chosen && !chosen.has(path)) {
        this.#budget.filesSearched++
        this.#next = { after: path }
        continue
      }
      const found = await this.#searchFile(path, 1)
      const isUnfinished = found?.stoppedAt !== undefined
      // The next search starts with this file, unless it needs more than a whole call's time, which would block it
      // forever.
      this.#isTruncated = isUnfinished && this.#next !== undefined
      if (this.#isTruncated) return false
      this.#next = { after: path }
      if (isUnfinished) this.#skipped.unfinished++
      if (found) this.#show(path, found.matches, limits.matchesPerFileMax)
    }
    return true
  }

  result() {
    const { filesSearched, hidden, unreadable } = this.#budget
    return {
      files: this.#files,
      filesSearched,
      skipped: { ...this.#skipped, hidden, unreadable },
      truncated: this.#isTruncated,
      ...(this.#isTruncated && this.#next && { next: this.#next }),
    }
  }

  /**
   * An existing prefix is a folder or a file; otherwise it is the start of paths in the folder before its last slash.
   */
  async #startOf(
    pathPrefix: string,
  ): Promise<{ readonly from: string; readonly prefix: string; readonly isFile: boolean }> {
    const { workspace } = this.#kit
    const asked = workspace.normalise(pathPrefix)
    try {
      const from = await workspace.locate(asked, this.#guard)
      return { from, prefix: from, isFile: await workspace.isFile(from) }
    } catch (error) {
      if (!isBatonError(error) || error.code !== 'tool_failed') throw error
      const folder = asked.includes('/') ? asked.slice(0, asked.lastIndexOf('/')) : ''
      return { from: await workspace.locate(folder, this.#guard), prefix: asked, isFile: false }
    }
  }

  async #searchOneFile(path: string, startLine: number): Promise<void> {
    const found = await this.#searchFile(path, startLine)
    if (!found) return
    const firstLeftOut = found.matches[this.#kit.limits.matchesMax]?.line ?? found.stoppedAt
    this.#isTruncated = firstLeftOut !== undefined
    // A line that took a whole call's time would do so again.
    if (firstLeftOut !== undefined) this.#next = { startLine: Math.max(firstLeftOut, startLine + 1) }
    this.#show(path, found.matches, this.#kit.limits.matchesMax)
  }

  #show(path: string, matches: readonly LineMatch[], linesMax: number): void {
    if (matches.length === 0) return
    const room = Math.max(1, Math.min(linesMax, this.#kit.limits.matchesMax - this.#shown))
    const lines = matches.slice(0, room).map(({ line, text }) => ({ line, text: this.#shorten(text) }))
    this.#shown += lines.length
    this.#files.push({ path, count: matches.length, lines })
  }

  /** Returns `undefined` if the file is not searched; it is counted. */
  async #searchFile(path: string, startLine: number): Promise<LinesFound | undefined> {
    try {
      const text = await this.#kit.workspace.readFile(path, this.#guard, (opened) => this.#readText(opened))
      if (text === undefined) return undefined
      const found = await this.#lines.find(text, startLine, this.#budget)
      this.#budget.filesSearched++
      // Checking for secrets takes longer than the search, so only files with something to report are checked. A file
      // with a secret counts as searched whether it matches or not: even a count must not reveal its contents.
      const tells = found.matches.length > 0 || found.longLines > 0
      if (tells && !this.#kit.workspace.isAllowed(path) && (await holdsSecret(text)))
        return { ...found, matches: [], longLines: 0 }
      this.#skipped.longLines += found.longLines
      return found
    } catch (error) {
      if (isBatonError(error) && error.code === 'cancelled') throw error
      this.#budget.unreadable++
      return undefined
    }
  }

  async #readText(opened: OpenedFile): Promise<string | undefined> {
    const { searchedFileBytesMax } = this.#kit.limits
    // Reads one byte more than its size: a growing file must not be read forever.
    const buffer = Buffer.alloc(Math.min(opened.bytes, searchedFileBytesMax) + 1)
    const { bytesRead } = await opened.handle.read(buffer, 0, buffer.length, 0)
    const bytes = buffer.subarray(0, bytesRead)
    const form = readTextForm(bytes)
    if (!form) this.#skipped.binary++
    else if (opened.bytes > searchedFileBytesMax) this.#skipped.tooLarge++
    else return decodeText(bytes, form, false)
    return undefined
  }

  #shorten(text: string): string {
    const { matchCharactersMax } = this.#kit.limits
    return text.length > matchCharactersMax ? `${text.slice(0, matchCharactersMax)}…` : text
  }
}
