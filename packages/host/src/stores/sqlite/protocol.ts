// What the main thread and the store's worker say to each other.
import type { StoreFailure } from './sqlite-errors.ts'
import type { LeftBehind } from '@baton/core'
import type { PutConflict } from '../put-by-position.ts'
import type { AppendOutcome, AppendRows, DatabaseInit, PutRequest, RestoreRows, SessionRows } from './database.ts'

/** Each names an act of the database; `session` is whose it is. */
export type StoreRequestBody =
  | { readonly type: 'append'; readonly rows: AppendRows }
  | { readonly type: 'acquire'; readonly session: string; readonly owner: string }
  | { readonly type: 'release'; readonly session: string; readonly epoch: number; readonly left: LeftBehind }
  | { readonly type: 'put'; readonly request: PutRequest }
  | { readonly type: 'read'; readonly session: string; readonly fromPos: number; readonly rows: number }
  | { readonly type: 'list'; readonly after: string; readonly rows: number }
  | { readonly type: 'restore'; readonly rows: RestoreRows }
  | { readonly type: 'remove'; readonly session: string }
  | { readonly type: 'put-snapshot'; readonly session: string; readonly body: string }
  | { readonly type: 'snapshot'; readonly session: string }
  | { readonly type: 'put-blob'; readonly session: string; readonly name: string; readonly body: string }
  | { readonly type: 'blob'; readonly session: string; readonly name: string }
  | { readonly type: 'blob-names'; readonly session: string }
  | { readonly type: 'close' }

export type StoreRequest = StoreRequestBody & { readonly id: number }

export type StoreValue =
  | AppendOutcome
  | PutConflict
  | { readonly epoch: number; readonly pos: number }
  | readonly string[]
  | readonly SessionRows[]
  | boolean
  | string
  | void
  | undefined

export type StoreReply =
  | { readonly id: number; readonly type: 'done'; readonly value: StoreValue }
  | { readonly id: number; readonly type: 'failed'; readonly failure: StoreFailure }
  /** Once, when the file is open (or could not be opened). */
  | { readonly type: 'ready' }
  | { readonly type: 'refused'; readonly failure: StoreFailure }

/** What a worker thread is started with. */
export type WorkerData = DatabaseInit
