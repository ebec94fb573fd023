// Walks the workspace in a fixed order within limits, never through links or into hidden entries. The order (folder by
// folder, names by code unit) makes a path a cursor: a later walk can continue after it.
import type { Dirent } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { isBatonError } from '@baton/core'
import type { CallBudget } from './call-budget.ts'
import type { Guard, Workspace } from './workspace.ts'

export interface WalkedEntry {
  readonly path: string
  readonly type: 'file' | 'folder' | 'link' | 'other'
  readonly bytes?: number
}

export interface WalkOptions {
  readonly workspace: Workspace
  readonly guard: Guard
  /** The folder to start in. */
  readonly from: string
  /** 1: only the entries of `from`. */
  readonly depth: number
  /** Only entries after this path in the order. */
  readonly after?: string | undefined
  readonly withBytes: boolean
  readonly budget: CallBudget
}

/** Ends early once the budget is spent, which `hasStopped` reports. */
export async function* walk(options: WalkOptions): AsyncGenerator<WalkedEntry> {
  const { after, budget, guard } = options
  for (const entry of await readEntries(options)) {
    if (budget.isSpent()) return
    const isFolder = entry.type === 'folder'
    // An earlier walk already returned the cursor itself; of its parent folders, only later entries are new.
    const leadsToCursor = after !== undefined && isFolder && after.startsWith(`${entry.path}/`)
    if (after !== undefined && !leadsToCursor && compareInWalk(entry.path, after) < 0) continue
    // Counted and checked when the walk reaches it: the budget decides how much of a huge folder is searched.
    budget.takeEntry()
    if (await guard.isHidden(entry.path, isFolder)) {
      budget.hidden++
      continue
    }
    if (entry.path !== after && !leadsToCursor) yield entry
    if (isFolder && options.depth > 1) yield* walk({ ...options, from: entry.path, depth: options.depth - 1 })
  }
}

/** Maximum entries of one folder; the rest count as unreadable. */
const FOLDER_ENTRIES_MAX = 200_000

async function readEntries(options: WalkOptions): Promise<readonly WalkedEntry[]> {
  const { workspace, from, budget, withBytes } = options
  const entries: WalkedEntry[] = []
  try {
    await workspace.readFolder(from, async (folder, stablePath) => {
      for await (const found of folder) {
        if (entries.length >= FOLDER_ENTRIES_MAX || budget.isSpent()) {
          budget.unreadable++
          break
        }
        const path = from === '' ? found.name : `${from}/${found.name}`
        const type = readType(found)
        const bytes = withBytes && type === 'file' ? await toBytes(join(stablePath, found.name)) : undefined
        entries.push({ path, type, ...(bytes !== undefined && { bytes }) })
      }
    })
  } catch (error) {
    if (isBatonError(error) && error.code === 'cancelled') throw error
    budget.unreadable++
  }
  return entries.sort((left, right) => compareInWalk(left.path, right.path))
}

/** Order of the walk: name by name, each by code unit. A folder precedes its contents. */
function compareInWalk(left: string, right: string): number {
  const leftNames = left.split('/')
  const rightNames = right.split('/')
  const length = Math.min(leftNames.length, rightNames.length)
  for (let index = 0; index < length; index++) {
    const leftName = leftNames[index] ?? ''
    const rightName = rightNames[index] ?? ''
    if (leftName !== rightName) return leftName < rightName ? -1 : 1
  }
  return leftNames.length - rightNames.length
}

function readType(entry: Dirent): WalkedEntry['type'] {
  if (entry.isDirectory()) return 'folder'
  if (entry.isSymbolicLink()) return 'link'
  return entry.isFile() ? 'file' : 'other'
}

function toBytes(path: string): Promise<number | undefined> {
  return lstat(path).then(
    (stats) => stats.size,
    () => undefined,
  )
}
