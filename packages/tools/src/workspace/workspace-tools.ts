// The kit that lets a model explore one folder: list, read lines and search, and write if its owner allows it.
import type { WorkspaceKit } from './workspace.ts'
import { realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import type { Clock, Trust } from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, describeValue } from '@baton/core/internal'
import type { KitTool } from '../shared/kit-tool.ts'
import { CallBudget } from './call-budget.ts'
import { getSpanTool } from './get-span.ts'
import { grepTool } from './grep.ts'
import { listDirTool } from './list-dir.ts'
import { RipgrepFilter, findRipgrep } from './ripgrep-filter.ts'
import type { ShellOptions } from './shell-tool.ts'
import { shellTool } from './shell-tool.ts'
import type { WorkspaceEditor } from './workspace-editor.ts'
import type { WorkspaceLimits } from './workspace-limits.ts'
import { workspaceLimits } from './workspace-limits.ts'
import { Workspace } from './workspace.ts'
import type { WriteOptions } from './write-tools.ts'
import { writeTools } from './write-tools.ts'

/** Options of `workspaceTools`: `{ root: '.' }`. */
export interface WorkspaceOptions {
  /** The folder to expose. Nothing outside it can be read, by any path or link. */
  readonly root: string
  /**
   * Files that models may read although git ignores them or their names suggest secrets: patterns in .gitignore syntax.
   * None by default.
   */
  readonly allow?: readonly string[]
  /**
   * Adds `fs.write`, `fs.edit`, `fs.move` and `fs.delete`; each call needs an approval, unless `{ approval: false }`.
   */
  readonly write?: boolean | WriteOptions
  /** Adds `shell.run`; each call needs an approval, unless `{ approval: false }`. */
  readonly shell?: boolean | ShellOptions
  /**
   * Whether file contents are trusted. `untrusted` by default: others may have written them, and a taint policy asks
   * before the model acts on what it read.
   */
  readonly trust?: Trust
  /**
   * Reads and writes files and runs commands in place of the tools, to the extent it supports. The tools still check
   * paths and contents.
   */
  readonly editor?: WorkspaceEditor
  /**
   * The `ripgrep` used to find files that a search can skip: the one on the PATH by default, the one at an absolute
   * path, or none (false). It affects how long a search takes, not what it finds.
   */
  readonly ripgrep?: string | false
  readonly limits?: Partial<WorkspaceLimits>
  /** Clock for the time limit of a call; the system clock by default. */
  readonly clock?: Clock
}

/** Call events of these tools have typed arguments and results. */
export type WorkspaceTool = KitTool<
  | ReturnType<typeof listDirTool | typeof getSpanTool | typeof grepTool | typeof shellTool>
  | ReturnType<typeof writeTools>[number]
>

/**
 * `fs.list_dir`, `content.get_span` and `code.grep` over one folder. They are pure and bounded; a result that reached a
 * limit says `truncated: true` and, in `next`, which arguments continue. `write` adds four tools that change files,
 * `shell` adds a tool that runs commands.
 * @throws BatonError `invalid_option` for an unknown or invalid option, or if `root` is not a folder
 */
export function workspaceTools(options: WorkspaceOptions): readonly WorkspaceTool[] {
  checkOptions(options)
  const limits = workspaceLimits(options.limits)
  checkRipgrep(options.ripgrep)
  const clock = options.clock ?? { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
  const kit: WorkspaceKit = {
    workspace: new Workspace(options.root, options.allow ?? []),
    limits,
    trust: options.trust ?? 'untrusted',
    editor: options.editor ?? {},
    openFilter: createFilterOpener(options, limits),
    startBudget: (context) => new CallBudget(clock, limits, context),
  }
  const { write = false, shell = false } = options
  const running = shell === false ? [] : [shellTool(kit, shell === true ? {} : shell)]
  const writing = write === false ? [] : writeTools(kit, write === true ? {} : write)
  return [listDirTool(kit), getSpanTool(kit), grepTool(kit), ...writing, ...running]
}

const WHAT = 'workspaceTools'
const FIELDS = new Set(['root', 'allow', 'write', 'shell', 'trust', 'editor', 'ripgrep', 'limits', 'clock'])
/** Names that other libraries give an option, or what to write in place of one. */
const ELSEWHERE = {
  cwd: 'root',
  dir: 'root',
  directory: 'root',
  folder: 'root',
  path: 'root',
  bash: 'shell',
  commands: 'shell',
  approval: 'Write write: { approval: false } or shell: { approval: … }',
  guard: 'Which calls may run, the approvalPolicy and permissions of the agent say',
  policy: 'Which calls may run, the approvalPolicy and permissions of the agent say',
}
const KINDS = {
  root: 'text',
  allow: 'an array',
  trust: ['trusted', 'untrusted'],
  editor: 'an object',
  limits: 'an object',
} as const

/** @throws BatonError `invalid_option` */
function checkOptions(options: WorkspaceOptions): void {
  const given: unknown = options
  if (typeof given === 'string')
    throw new BatonError({
      code: 'invalid_option',
      message: `${WHAT} must be an object of options, not ${given.slice(0, 100)}`,
      hint: `Write ${WHAT}({ root: ${JSON.stringify(given.slice(0, 100))} }).`,
    })
  checkFields(options, { what: WHAT, code: 'invalid_option', fields: FIELDS, elsewhere: ELSEWHERE })
  checkKinds(options, { what: WHAT, code: 'invalid_option', kinds: KINDS })
  if (typeof options.root !== 'string')
    throw new BatonError({ code: 'invalid_option', message: `${WHAT}: root must name a folder` })
}

/** @throws BatonError `invalid_option` */
function checkRipgrep(ripgrep: WorkspaceOptions['ripgrep']): void {
  if (ripgrep === undefined || ripgrep === false || (typeof ripgrep === 'string' && isAbsolute(ripgrep))) return
  throw new BatonError({
    code: 'invalid_option',
    message: `ripgrep must be false or an absolute path, not ${describeValue(ripgrep)}`,
  })
}

/** Looks for ripgrep once, at the first search. */
function createFilterOpener(options: WorkspaceOptions, limits: WorkspaceLimits): WorkspaceKit['openFilter'] {
  const root = realpathSync(options.root)
  let program = options.ripgrep
  return (pattern) => {
    program ??= findRipgrep(root) ?? false
    if (program === false) return undefined
    const { searchedFileBytesMax: fileBytesMax, timeMs } = limits
    return RipgrepFilter.open({ program, root, pattern, fileBytesMax, timeMs })
  }
}
