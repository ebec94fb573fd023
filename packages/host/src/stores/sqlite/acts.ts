// Writes to a SQLite store as plain data, committed on the caller's thread or sent to the worker.
import type { ChildOf, LeftBehind, OutboxRow, SessionEntry, Under } from '@baton/core/internal'
import type { PutOutcome, PutRows } from '../put-by-position.ts'
import type { StoreFailure } from './sqlite-errors.ts'

/** Records as they are added. */
export interface AddedRows {
  /** As JSON text. */
  readonly bodies: readonly string[]
  readonly lastMs: number
  /** When a host has to look at the session; null: not by itself; undefined: as before. */
  readonly dueMs?: number | null | undefined
}

export interface AppendRows extends AddedRows {
  readonly session: string
  readonly epoch: number
  readonly afterPos: number
  readonly entry: SessionEntry | 'same' | undefined
}

export interface PutRequest extends PutRows, AddedRows {
  /** Epoch of the last record. */
  readonly epoch: number
  /** The holder of the session, or of its root, which alone may add to it. */
  readonly heldBy: string | undefined
  readonly under: ChildOf | undefined
}

export interface RestoreRows extends AddedRows {
  readonly session: string
  readonly epoch: number
  readonly under?: ChildOf | undefined
}

export interface OutboxSwap {
  readonly session: string
  readonly name: string
  readonly was: string | undefined
  readonly row: OutboxRow | undefined
}

/** One write. `session` is the session it belongs to. */
export type Act =
  | ({ readonly type: 'append' } & AppendRows)
  | ({ readonly type: 'put' } & PutRequest)
  | ({ readonly type: 'restore' } & RestoreRows)
  | { readonly type: 'acquire'; readonly session: string; readonly owner: string }
  | { readonly type: 'acquire-under'; readonly session: string; readonly under: Under }
  | { readonly type: 'release'; readonly session: string; readonly epoch: number; readonly left: LeftBehind }
  | { readonly type: 'remove'; readonly session: string }
  | { readonly type: 'put-entry'; readonly session: string; readonly pos: number; readonly entry: SessionEntry }
  | ({ readonly type: 'swap-outbox' } & OutboxSwap)
  | { readonly type: 'put-snapshot'; readonly session: string; readonly pos: number; readonly body: string }
  | { readonly type: 'put-blob'; readonly session: string; readonly name: string; readonly body: string }
  /** A write without data, which checks whether the file is writable. */
  | { readonly type: 'probe'; readonly session: '' }

/** `undefined` if the root was removed, or has another epoch. */
export type AcquiredUnder = { readonly epoch: number; readonly pos: number } | undefined

/** The name of an existing session, which refuses the restore: itself, or its root. */
export type RestoreOutcome = string | undefined

export type AppendOutcome = { readonly pos: number } | { readonly conflict: string }

export type ActValue =
  AppendOutcome | PutOutcome | { readonly epoch: number; readonly pos: number } | string | boolean | undefined

export type ActOutcome =
  { readonly type: 'done'; readonly value: ActValue } | { readonly type: 'failed'; readonly failure: StoreFailure }

/** A removal may delete any number of rows, so it counts as too large for the caller's thread (see commit-pace.ts). */
const REMOVAL_CHARS = 100_000

/** Approximate size of an act's texts, in UTF-16 units. */
export function measureAct(act: Act): number {
  switch (act.type) {
    case 'append':
    case 'put':
    case 'restore':
      return act.bodies.reduce((sum, body) => sum + body.length, 0)
    case 'put-snapshot':
    case 'put-blob':
      return act.body.length
    case 'put-entry':
      return act.entry.body.length
    case 'remove':
      return REMOVAL_CHARS
    default:
      return 0
  }
}
