// Messages between the main thread and the threads of a SQLite store.
import type { Act, ActOutcome } from './acts.ts'
import type { ReadRows } from './record-rows.ts'
import type { ListedSession } from './session-rows.ts'
import type { StoreFailure } from './sqlite-errors.ts'
import type { FoundSnapshot } from './text-rows.ts'

export type StoreRequestBody =
  | { readonly type: 'commit'; readonly acts: readonly Act[] }
  | { readonly type: 'read'; readonly session: string; readonly fromPos: number; readonly rows: number }
  | { readonly type: 'list'; readonly after: string; readonly rows: number }
  | { readonly type: 'epoch'; readonly session: string }
  | { readonly type: 'snapshot'; readonly session: string }
  | { readonly type: 'blob'; readonly session: string; readonly name: string }
  | { readonly type: 'blob-names'; readonly session: string }
  | { readonly type: 'close' }

export type StoreRequest = StoreRequestBody & { readonly id: number }

export interface Committed {
  readonly outcomes: readonly ActOutcome[]
  /** Milliseconds that the commit took. */
  readonly tookMs: number
}

export type StoreValue =
  Committed | ReadRows | FoundSnapshot | readonly string[] | readonly ListedSession[] | string | number | undefined

export type StoreReply =
  | { readonly id: number; readonly type: 'done'; readonly value: StoreValue }
  | { readonly id: number; readonly type: 'failed'; readonly failure: StoreFailure }
  /** Once, when the file is open (or could not be opened). */
  | { readonly type: 'ready'; readonly opening: Opening }
  | { readonly type: 'refused'; readonly failure: StoreFailure }
  | { readonly type: 'warning'; readonly message: string }

export interface Opening {
  /** Without links. */
  readonly path: string
  /** As it stands in the file; undefined for one that is only read. */
  readonly token: string | undefined
  /** Milliseconds that a commit took when the file was opened. */
  readonly commitMs: number
}

/** Start data of the worker thread. */
export interface WorkerData {
  readonly path: string
  /** Looks at a file that another process may own; every writing fails. */
  readonly readOnly: boolean
  /** Bytes of the file, after which it takes no more. */
  readonly maxBytes: number | undefined
}

/** Requests to the checkpointer: to write back pages that nobody waits for, or all while no commit begins. */
export interface CheckpointRequest {
  readonly mode: 'PASSIVE' | 'TRUNCATE'
}

export interface CheckpointReply {
  /** Bytes of the write-ahead log that were not written back, and of all of it. */
  readonly restBytes: number
  readonly logBytes: number
}
