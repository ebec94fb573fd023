// News of a session between processes, beside its log: that there are new records, and a model's live text. A bus
// may lose anything: records are in the log, and live text comes again with its step.
import type { LiveFrame } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'

export type BusMessage =
  | { readonly type: 'records'; readonly records: readonly SessionRecord[] }
  /** There are records up to here; they are too large to be sent along. */
  | { readonly type: 'pos'; readonly pos: number }
  | { readonly type: 'live'; readonly frames: readonly LiveFrame[] }
  /** To those who listen to `EVERY_SESSION`: a list shows this session otherwise. */
  | { readonly type: 'listed'; readonly session: string }
  /** To those who have it open, and to those who listen to `EVERY_SESSION`. */
  | { readonly type: 'removed'; readonly session: string; readonly principal?: string; readonly birth?: string }

/** In place of a session's name, which is never empty: what concerns lists of sessions. */
export const EVERY_SESSION = ''

export interface LiveBus {
  /** Never throws and never waits for long: what cannot be sent is dropped. */
  publish(session: string, message: BusMessage): void
  /** Calls `onMessage` for what is published from now on, and `onGap` when something may have been missed. */
  subscribe(session: string, onMessage: (message: BusMessage) => void, onGap: () => void): Promise<() => void>
  /** Live text of the newest attempt of a session, as far as it is kept. */
  readAttempt(session: string): Promise<readonly LiveFrame[]>
  /** Keeps pieces of the running attempt for those who come later. */
  keepAttempt(session: string, attempt: number, frames: readonly LiveFrame[]): void
  /** Undefined while it works; else why not, in words for whoever runs the server. */
  problem(): string | undefined
  close(): Promise<void>
}

/** Frames of an attempt that are kept at most; a reader that comes later than that waits for the step. */
const KEPT_MAX = 10_000
/** Sessions whose newest attempt is kept; the oldest give way. */
const SESSIONS_MAX = 1000

/** For workers and hosts of one process, as in tests and small programs. */
export function createMemoryBus(): LiveBus {
  const listeners = new Map<string, Set<(message: BusMessage) => void>>()
  const attempts = new Map<string, { readonly attempt: number; readonly frames: LiveFrame[] }>()
  return {
    publish: (session, message) => {
      // As a network would: plain data, later, nothing shared.
      const text = JSON.stringify(message)
      for (const listener of listeners.get(session) ?? []) setImmediate(() => listener(JSON.parse(text) as BusMessage)) // what was published
    },
    subscribe: async (session, onMessage) => {
      const own = listeners.get(session) ?? new Set()
      listeners.set(session, own)
      own.add(onMessage)
      return () => {
        own.delete(onMessage)
        if (own.size === 0) listeners.delete(session)
      }
    },
    readAttempt: async (session) => attempts.get(session)?.frames ?? [],
    keepAttempt: (session, attempt, frames) => {
      const known = attempts.get(session)
      const kept = known?.attempt === attempt ? known : { attempt, frames: [] }
      if (kept.frames.length + frames.length <= KEPT_MAX) kept.frames.push(...frames)
      attempts.delete(session)
      attempts.set(session, kept)
      const [oldest] = attempts.keys()
      if (attempts.size > SESSIONS_MAX && oldest !== undefined) attempts.delete(oldest)
    },
    problem: () => undefined,
    close: async () => {
      listeners.clear()
      attempts.clear()
    },
  }
}
