// What the main thread and the store's worker say to each other.
import type { AppendRows, AppendOutcome } from './database.ts'

export type StoreRequest =
  | { readonly id: number; readonly type: 'append'; readonly rows: AppendRows }
  | { readonly id: number; readonly type: 'acquire'; readonly session: string; readonly owner: string }
  | {
      readonly id: number
      readonly type: 'read'
      readonly session: string
      readonly fromPos: number
      readonly rows: number
    }
  | { readonly id: number; readonly type: 'put-snapshot'; readonly session: string; readonly body: string }
  | { readonly id: number; readonly type: 'snapshot'; readonly session: string }
  | {
      readonly id: number
      readonly type: 'put-blob'
      readonly session: string
      readonly name: string
      readonly body: string
    }
  | { readonly id: number; readonly type: 'blob'; readonly session: string; readonly name: string }
  | { readonly id: number; readonly type: 'close' }

export type StoreValue =
  AppendOutcome | { readonly epoch: number; readonly pos: number } | readonly string[] | string | undefined

export type StoreReply =
  | { readonly id: number; readonly type: 'done'; readonly value: StoreValue }
  | { readonly id: number; readonly type: 'failed'; readonly message: string }
  /** Once, when the file is open (or could not be opened). */
  | { readonly type: 'ready' }
  | { readonly type: 'refused'; readonly code: 'store_locked' | 'store_failed'; readonly message: string }
