// News of a session between processes, alongside its log: new records, and a model's live text. A bus may lose
// anything: records are in the log, and live text is repeated with its step.
import type { LiveFrame } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'

export type BusMessage =
  | { readonly type: 'records'; readonly records: readonly SessionRecord[] }
  /** Records up to this position exist; they are too large to send. */
  | { readonly type: 'pos'; readonly pos: number }
  | { readonly type: 'live'; readonly frames: readonly LiveFrame[] }
  /** Sent to listeners of `EVERY_SESSION`: the session's entry in lists has changed. */
  | { readonly type: 'listed'; readonly session: string }
  /** Sent to processes that have the session open, and to listeners of `EVERY_SESSION`. */
  | { readonly type: 'removed'; readonly session: string; readonly principal?: string; readonly birth?: string }

/** Used instead of a session's name, which is never empty, for news about lists of sessions. */
export const EVERY_SESSION = ''

/**
 * Carries live text and records between the processes of a Temporal host. `connectRedisBus` makes one over Redis,
 * `createMemoryBus` one within a process.
 */
export interface LiveBus {
  /** Never throws or blocks: messages that cannot be sent are dropped. */
  publish(session: string, message: BusMessage): void
  /** Calls `onMessage` for each later message, and `onGap` when messages may have been missed. */
  subscribe(session: string, onMessage: (message: BusMessage) => void, onGap: () => void): Promise<() => void>
  /** The stored live text of a session's newest attempt. */
  readAttempt(session: string): Promise<readonly LiveFrame[]>
  /** Stores pieces of the running attempt for late readers. */
  keepAttempt(session: string, attempt: number, frames: readonly LiveFrame[]): void
  /** `undefined` while the bus works; otherwise the reason why not, in words for the server's operator. */
  problem(): string | undefined
  close(): Promise<void>
}

/** Maximum frames of an attempt to store; later readers wait for the step. */
const KEPT_MAX = 10_000
/** Maximum number of sessions with a stored attempt; the oldest are dropped. */
const SESSIONS_MAX = 1000

/** A bus for workers and hosts in one process, as in tests and small programs. */
export function createMemoryBus(): LiveBus {
  const listeners = new Map<string, Set<(message: BusMessage) => void>>()
  const attempts = new Map<string, { readonly attempt: number; readonly frames: LiveFrame[] }>()
  return {
    publish: (session, message) => {
      // As over a network: plain data, delivered later, nothing shared.
      const text = JSON.stringify(message)
      for (const listener of listeners.get(session) ?? []) setImmediate(() => listener(JSON.parse(text) as BusMessage)) // published above
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
