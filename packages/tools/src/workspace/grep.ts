// `code.grep`: the lines of the workspace's files that match a regular expression, grouped by file.
// The expressions run on RE2JS, whose time is linear in the text, so no pattern can hang the process.
import type { Tool } from '@baton/core'
import { isBatonError, tool } from '@baton/core'
import { RE2JS } from 're2js'
import * as z from 'zod'
import { isBinary } from './text-bytes.ts'
import type { WalkBudget, WalkedEntry } from './walk.ts'
import { walk } from './walk.ts'
import type { WorkspaceLimits } from './workspace-limits.ts'
import type { WorkspaceKit } from './workspace-tools.ts'
import type { Guard, OpenedFile } from './workspace.ts'
import { refused } from './workspace.ts'

const line = z.object({ line: z.int(), text: z.string() })
const file = z.object({
  path: z.string(),
  count: z.int().describe('Lines that match in this file'),
  lines: z.array(line),
})

export function grepTool(kit: WorkspaceKit): Tool {
  const { limits } = kit
  return tool({
    name: 'code.grep',
    description:
      'Search the text of all files of the workspace for a regular expression (RE2 syntax): find which files and lines contain, mention or use something.',
    effect: 'pure',
    input: z.object({
      pattern: z
        .string()
        .min(1)
        .describe('Text or regular expression to search for; begin it with (?i) to ignore case'),
      pathPrefix: z
        .string()
        .optional()
        .describe('Search only in this folder or file, or in paths that begin with this'),
      after: z.string().optional().describe('Go on behind this file: the value of "next.after" of a truncated search'),
    }),
    output: z.object({
      files: z.array(file),
      filesSearched: z.int(),
      skipped: z.object({ binary: z.int(), tooLarge: z.int(), hidden: z.int(), unreadable: z.int() }),
      truncated: z.boolean(),
      next: z.object({ after: z.string() }).optional().describe('Arguments to add to read on'),
    }),
    execute: async (input, context) => {
      const expression = compile(input.pattern, limits)
      const budget = kit.startBudget(context.signal)
      const search = new Search(kit, expression, budget)
      const after = input.after === undefined ? undefined : kit.workspace.normalise(input.after)
      await search.run(input.pathPrefix ?? '', after)
      return search.result()
    },
  })
}

/** @throws BatonError `invalid_arguments` that tells the model what is wrong with its pattern */
function compile(pattern: string, limits: WorkspaceLimits): RE2JS {
  if (pattern.length > limits.patternCharactersMax)
    throw refused(
      'invalid_arguments',
      `the pattern has ${pattern.length} characters; at most ${limits.patternCharactersMax} are allowed`,
    )
  try {
    return RE2JS.compile(pattern)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace('error parsing regexp: ', '') : String(cause)
    throw refused(
      'invalid_arguments',
      `the pattern ${JSON.stringify(pattern)} is not a regular expression of RE2: ${why}. Write a backslash before characters that stand for themselves; look-around and back-references do not exist.`,
    )
  }
}

interface FileMatches {
  readonly path: string
  readonly count: number
  readonly lines: readonly { readonly line: number; readonly text: string }[]
}

/** One search over many files; holds what was found so far. */
class Search {
  readonly #kit: WorkspaceKit
  readonly #expression: RE2JS
  readonly #budget: WalkBudget
  readonly #guard: Guard
  readonly #files: FileMatches[] = []
  #filesSearched = 0
  #binary = 0
  #tooLarge = 0
  #shown = 0
  #isTruncated = false
  #lastPath: string | undefined

  constructor(kit: WorkspaceKit, expression: RE2JS, budget: WalkBudget) {
    this.#kit = kit
    this.#expression = expression
    this.#budget = budget
    this.#guard = kit.workspace.guard()
  }

  async run(pathPrefix: string, after: string | undefined): Promise<void> {
    const { workspace, limits } = this.#kit
    const start = await this.#startOf(pathPrefix)
    if (start.isFile) return this.#searchFile(start.from, limits.matchesMax)
    // Every level: the budget bounds the walk, not its depth.
    const options = { workspace, guard: this.#guard, from: start.from, depth: Number.MAX_SAFE_INTEGER }
    for await (const entry of walk({ ...options, after, withBytes: false, budget: this.#budget })) {
      if (!isSearched(entry, start.prefix)) continue
      // Asked here and not after the file, so that a search that just fits is not called truncated.
      this.#isTruncated = this.#shown >= limits.matchesMax
      if (this.#isTruncated) return
      await this.#searchFile(entry.path, limits.matchesPerFileMax)
    }
    this.#isTruncated = this.#budget.hasStopped
  }

  result(): object {
    const { hidden, unreadable } = this.#budget
    return {
      files: this.#files,
      filesSearched: this.#filesSearched,
      skipped: { binary: this.#binary, tooLarge: this.#tooLarge, hidden, unreadable },
      truncated: this.#isTruncated,
      ...(this.#isTruncated && this.#lastPath !== undefined && { next: { after: this.#lastPath } }),
    }
  }

  /** A prefix that exists is a folder or a file; else it is the beginning of paths in the folder before its last slash. */
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

  async #searchFile(path: string, linesMax: number): Promise<void> {
    this.#lastPath = path
    try {
      await this.#kit.workspace.readFile(path, this.#guard, (opened) => this.#searchText(opened, linesMax))
    } catch (error) {
      if (isBatonError(error) && error.code === 'cancelled') throw error
      this.#budget.unreadable++
    }
  }

  async #searchText(opened: OpenedFile, linesMax: number): Promise<void> {
    if (opened.bytes > this.#kit.limits.searchedFileBytesMax) {
      this.#tooLarge++
      return
    }
    // One byte more than it had: a file that grows meanwhile is not read without end.
    const buffer = Buffer.alloc(opened.bytes + 1)
    const { bytesRead } = await opened.handle.read(buffer, 0, buffer.length, 0)
    const bytes = buffer.subarray(0, bytesRead)
    if (isBinary(bytes)) {
      this.#binary++
      return
    }
    this.#filesSearched++
    const found = matchingLines(bytes.toString('utf8'), this.#expression)
    if (found.length === 0) return
    const room = Math.max(1, Math.min(linesMax, this.#kit.limits.matchesMax - this.#shown))
    const lines = found.slice(0, room).map(({ number, text }) => ({ line: number, text: this.#shorten(text) }))
    this.#shown += lines.length
    this.#files.push({ path: opened.path, count: found.length, lines })
  }

  #shorten(text: string): string {
    const { matchCharactersMax } = this.#kit.limits
    return text.length > matchCharactersMax ? `${text.slice(0, matchCharactersMax)}…` : text
  }
}

function isSearched(entry: WalkedEntry, prefix: string): boolean {
  return entry.type === 'file' && entry.path.startsWith(prefix)
}

function matchingLines(text: string, expression: RE2JS): readonly { readonly number: number; readonly text: string }[] {
  const found: { number: number; text: string }[] = []
  const lines = text.split('\n')
  for (const [index, raw] of lines.entries()) {
    const isAfterLastNewline = index === lines.length - 1 && raw === ''
    const plain = raw.endsWith('\r') ? raw.slice(0, -1) : raw
    if (!isAfterLastNewline && expression.test(plain)) found.push({ number: index + 1, text: plain })
  }
  return found
}
