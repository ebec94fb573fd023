// Messages between the main thread and the threads of a SQLite store.
import type { DueSession, EntryQuery, FoundEntry, FoundRow, OutboxQuery, OutdatedEntry } from '@baton/core/internal'
import type { Act, ActOutcome } from './acts.ts'
import type { ReadRows } from './record-rows.ts'
import type { ListedSession } from './session-rows.ts'
import type { StoreFailure } from './sqlite-errors.ts'
import type { FoundSnapshot } from './text-rows.ts'

export type StoreRequestBody =
  | { readonly type: 'commit'; readonly acts: readonly Act[] }
  | { readonly type: 'read'; readonly session: string; readonly fromPos: number; readonly rows: number }
  | { readonly type: 'list'; readonly after: string; readonly rows: number }
  | { readonly type: 'children'; readonly root: string; readonly after: string; readonly rows: number }
  | { readonly type: 'due'; readonly after: DueSession | undefined }
  | { readonly type: 'entries'; readonly query: EntryQuery }
  | { readonly type: 'entry'; readonly session: string }
  | { readonly type: 'outdated'; readonly after: string; readonly rows: number }
  | { readonly type: 'outbox-row'; readonly session: string; readonly name: string }
  | { readonly type: 'outbox'; readonly query: OutboxQuery }
  | { readonly type: 'epoch'; readonly session: string }
  | { readonly type: 'snapshot'; readonly session: string }
  | { readonly type: 'blob'; readonly session: string; readonly name: string }
  | { readonly type: 'blob-names'; readonly session: string }
  | { readonly type: 'close' }

export type StoreRequest = StoreRequestBody & { readonly id: number }

export interface Committed {
  readonly outcomes: readonly ActOutcome[]
  /** Milliseconds the commit took. */
  readonly tookMs: number
}

export type StoreValue =
  | Committed
  | ReadRows
  | FoundSnapshot
  | readonly string[]
  | readonly ListedSession[]
  | readonly FoundEntry[]
  | readonly OutdatedEntry[]
  | readonly DueSession[]
  | readonly FoundRow[]
  | string
  | number
  | undefined

export type StoreReply =
  | { readonly id: number; readonly type: 'done'; readonly value: StoreValue }
  | { readonly id: number; readonly type: 'failed'; readonly failure: StoreFailure }
  /** Sent once, when the file was opened or could not be. */
  | { readonly type: 'ready'; readonly opening: Opening }
  | { readonly type: 'refused'; readonly failure: StoreFailure }
  | { readonly type: 'warning'; readonly message: string }

export interface Opening {
  /** With links resolved. */
  readonly path: string
  /** Token stored in the file; undefined for a file opened read-only. */
  readonly token: string | undefined
  /** Milliseconds a commit took when the file was opened. */
  readonly commitMs: number
}

/** Start data of the worker thread. */
export interface WorkerData {
  readonly path: string
  /** Opens the file for reading only, even if another process owns it; writes fail. */
  readonly readOnly: boolean
  /** Maximum bytes of the file. */
  readonly maxBytes: number | undefined
}

/**
 * Requests to the checkpointer: PASSIVE copies pages that no reader needs, TRUNCATE copies all while no commit begins.
 */
export interface CheckpointRequest {
  readonly mode: 'PASSIVE' | 'TRUNCATE'
}

export interface CheckpointReply {
  /** Bytes of the write-ahead log not yet copied, and of the whole log. */
  readonly restBytes: number
  readonly logBytes: number
}
