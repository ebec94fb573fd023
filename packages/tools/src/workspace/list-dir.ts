// `fs.list_dir`: the contents of a workspace folder, as entries in a fixed order.
import { tool } from '@baton/core'
import * as z from 'zod'
import type { WalkedEntry } from './walk.ts'
import { workspacePath } from './workspace-limits.ts'
import { walk } from './walk.ts'
import type { WorkspaceKit } from './workspace.ts'
import { WORKSPACE_ERRORS, refused } from './refused.ts'

export function listDirTool(kit: WorkspaceKit) {
  const { workspace, limits } = kit
  return tool({
    name: 'fs.list_dir',
    description:
      'List the files and folders in a folder of the workspace. Ignored files and files that may hold secrets are left out.',
    effect: 'pure',
    title: 'List a folder',
    kind: 'read',
    describe: ({ path }) => ({
      title: path === '.' ? 'List the workspace' : `List ${path}`,
      locations: [{ path }],
    }),
    trust: kit.trust,
    network: false,
    errors: WORKSPACE_ERRORS,
    input: z.object({
      path: workspacePath.default('.').describe('Folder, relative to the root of the workspace'),
      depth: z
        .int()
        .min(0)
        .max(limits.depthMax)
        .default(1)
        .describe('How many levels of folders to list; 0 and 1 list only the folder itself'),
      after: workspacePath
        .optional()
        .describe('Continue after this entry: the value of "next.after" of a truncated listing'),
    }),
    output: z.object({
      path: z.string(),
      entries: z.array(
        z.object({ path: z.string(), type: z.enum(['file', 'folder', 'link', 'other']), bytes: z.int().optional() }),
      ),
      hidden: z.int().describe('Entries left out because they are ignored or protected'),
      unreadable: z.int(),
      truncated: z.boolean(),
      next: z.object({ after: z.string() }).optional().describe('Arguments to add to continue reading'),
    }),
    execute: async (input, context) => {
      const guard = workspace.guard()
      const budget = kit.startBudget(context)
      const from = await workspace.locate(input.path, guard)
      if (await workspace.isFile(from))
        throw refused('tool_failed', `"${from}" is a file, not a folder; read it with content.get_span`)
      const after = input.after === undefined ? undefined : workspace.normalise(input.after)
      const entries: WalkedEntry[] = []
      let more = false
      const depth = Math.max(1, input.depth)
      for await (const entry of walk({ workspace, guard, from, depth, after, withBytes: true, budget })) {
        more = entries.length >= limits.listedEntriesMax
        if (more) break
        entries.push(entry)
      }
      const truncated = more || budget.hasStopped
      const last = entries.at(-1)
      return {
        path: from === '' ? '.' : from,
        entries,
        hidden: budget.hidden,
        unreadable: budget.unreadable,
        truncated,
        ...(truncated && last && { next: { after: last.path } }),
      }
    },
  })
}
