// The bounds of the workspace tools. A result that met one says so, and says where to read on.
import { BatonError, checkFields } from '@baton/core'
import * as z from 'zod'

/** A path as a model writes it; no system takes longer ones. */
export const workspacePath = z.string().max(4096)

export interface WorkspaceLimits {
  /** Folders below the listed one that a listing may enter. */
  readonly depthMax: number
  /** Entries of one listing. */
  readonly listedEntriesMax: number
  /** Entries that one listing or search may look at, listed or not. */
  readonly walkedEntriesMax: number
  /** Lines of one span. */
  readonly spanLinesMax: number
  /** UTF-8 bytes of one span. */
  readonly spanBytesMax: number
  /** Bytes to read in order to reach a span and to count the lines after it. */
  readonly scanBytesMax: number
  /** Characters of one line; the rest of a longer line is left out. */
  readonly lineCharactersMax: number
  /** Characters of a search's pattern. */
  readonly patternCharactersMax: number
  /** Lines that one search shows; a file's matches are counted to its end. */
  readonly matchesMax: number
  /** Lines that one search shows of one file, unless only this file is searched. */
  readonly matchesPerFileMax: number
  /** Characters shown of a line that matches. */
  readonly matchCharactersMax: number
  /** Larger files are not searched, but counted in the result. */
  readonly searchedFileBytesMax: number
  /** UTF-8 bytes of a file that is written or edited. */
  readonly writtenBytesMax: number
  /** Bytes to show of a command's output: a quarter from its beginning, the rest from its end. */
  readonly shellOutputBytesMax: number
  /** Milliseconds of one call that lists, reads or searches. */
  readonly timeMs: number
}

export const WORKSPACE_LIMITS: WorkspaceLimits = {
  depthMax: 8,
  listedEntriesMax: 200,
  walkedEntriesMax: 50_000,
  spanLinesMax: 400,
  spanBytesMax: 32 * 1024,
  scanBytesMax: 64 * 1024 * 1024,
  lineCharactersMax: 2000,
  patternCharactersMax: 1000,
  matchesMax: 100,
  matchesPerFileMax: 20,
  matchCharactersMax: 200,
  searchedFileBytesMax: 1024 * 1024,
  writtenBytesMax: 1024 * 1024,
  shellOutputBytesMax: 32 * 1024,
  timeMs: 10_000,
}

const FIELDS = new Set(Object.keys(WORKSPACE_LIMITS))

/** @throws BatonError `invalid_option` for a limit that does not exist, or is not a whole number from 0 */
export function workspaceLimits(given: Partial<WorkspaceLimits> = {}): WorkspaceLimits {
  checkFields(given, { what: 'workspaceTools: limits', code: 'invalid_option', fields: FIELDS })
  for (const [name, value] of Object.entries(given))
    if (!Number.isSafeInteger(value) || value < 0)
      throw new BatonError({
        code: 'invalid_option',
        message: `limits.${name} must be a whole number from 0, not ${value}`,
      })
  return { ...WORKSPACE_LIMITS, ...given }
}
