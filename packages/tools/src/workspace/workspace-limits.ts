// The limits of the workspace tools. A result that reached one says so, and where to continue.
import { BatonError, checkFields } from '@baton/core/internal'
import * as z from 'zod'

/** A path as a model writes it; no system allows longer ones. */
export const workspacePath = z.string().max(4096)

/** Limits of the workspace tools. Results beyond them say so, and how to go on. */
export interface WorkspaceLimits {
  /** Maximum levels of folders that a listing may enter. */
  readonly depthMax: number
  /** Maximum entries of one listing. */
  readonly listedEntriesMax: number
  /** Maximum entries that one listing or search may examine, listed or not. */
  readonly walkedEntriesMax: number
  /** Maximum lines of one span. */
  readonly spanLinesMax: number
  /** Maximum UTF-8 bytes of one span. */
  readonly spanBytesMax: number
  /** Maximum bytes to read in order to reach a span and count the lines after it. */
  readonly scanBytesMax: number
  /** Maximum characters of a line; the rest of a longer line is omitted. */
  readonly lineCharactersMax: number
  /** Maximum characters of a search pattern. */
  readonly patternCharactersMax: number
  /** Maximum lines that one search shows; all matches of a file are still counted. */
  readonly matchesMax: number
  /** Maximum lines that one search shows per file, unless it searches only that file. */
  readonly matchesPerFileMax: number
  /** Maximum characters shown of a matching line. */
  readonly matchCharactersMax: number
  /** Larger files are not searched, but counted in the result. */
  readonly searchedFileBytesMax: number
  /** Maximum UTF-8 bytes of a file that is written or edited. */
  readonly writtenBytesMax: number
  /** Maximum bytes shown of a command's output: a quarter from its beginning, the rest from its end. */
  readonly shellOutputBytesMax: number
  /** Time limit in milliseconds of one call that lists, reads or searches. */
  readonly timeMs: number
}

/** Default limits of the workspace tools. */
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

/** @throws BatonError `invalid_option` for an unknown limit, or a value that is not a whole number of at least 0 */
export function workspaceLimits(given: Partial<WorkspaceLimits> = {}): WorkspaceLimits {
  checkFields(given, { what: 'workspaceTools: limits', code: 'invalid_option', fields: FIELDS })
  for (const [name, value] of Object.entries(given))
    if (!Number.isSafeInteger(value) || value < 0)
      throw new BatonError({
        code: 'invalid_option',
        message: `limits.${name} must be a whole number of at least 0, not ${value}`,
      })
  return { ...WORKSPACE_LIMITS, ...given }
}
