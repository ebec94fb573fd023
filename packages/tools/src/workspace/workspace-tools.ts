// The kit that lets a model look around in one folder: list, read lines, search. It never writes.
import type { Clock, Tool, ToolContext } from '@baton/core'
import { CallBudget } from './call-budget.ts'
import { getSpanTool } from './get-span.ts'
import { grepTool } from './grep.ts'
import { listDirTool } from './list-dir.ts'
import type { WorkspaceLimits } from './workspace-limits.ts'
import { workspaceLimits } from './workspace-limits.ts'
import { Workspace } from './workspace.ts'

export interface WorkspaceOptions {
  /** The folder that is shown. Nothing outside it can be read, by no path and no link. */
  readonly root: string
  /**
   * What models may read although it is ignored by git or its name says that it may hold secrets: patterns in the
   * syntax of .gitignore. Nothing by default.
   */
  readonly allow?: readonly string[]
  readonly limits?: Partial<WorkspaceLimits>
  /** For the time limit of a call; the machine's clock by default. */
  readonly clock?: Clock
}

/** What the tools of one workspace share. */
export interface WorkspaceKit {
  readonly workspace: Workspace
  readonly limits: WorkspaceLimits
  startBudget(context: ToolContext): CallBudget
}

/**
 * `fs.list_dir`, `content.get_span` and `code.grep` over one folder. All are pure and bounded; a result that met a
 * bound says `truncated: true` and, in `next`, with which arguments to read on.
 * @throws BatonError `invalid_option` when `root` is not a folder or a limit is not a number
 */
export function workspaceTools(options: WorkspaceOptions): readonly Tool[] {
  const limits = workspaceLimits(options.limits)
  const clock = options.clock ?? { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
  const kit: WorkspaceKit = {
    workspace: new Workspace(options.root, options.allow ?? []),
    limits,
    startBudget: (context) => new CallBudget(clock, limits, context),
  }
  return [listDirTool(kit), getSpanTool(kit), grepTool(kit)]
}
