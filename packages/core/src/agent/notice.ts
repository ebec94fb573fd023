// Notices: short messages of a host to programs and people that something happened in a session, and the places that
// they go to. The host's outbox says when they are sent.
import type { JsonObject } from '../json.ts'
import type { PlatformAbortSignal } from './environment.ts'
import type { WaitingApproval } from './host-api.ts'

/** The kinds of notices, as `type` of a notice. */
export const NOTICE_TYPES = [
  'approval.requested',
  'approval.decided',
  'approval.withdrawn',
  'question.asked',
  'task.finished',
  'turn.finished',
  'turn.failed',
] as const
/** A kind of notices. */
export type NoticeType = (typeof NOTICE_TYPES)[number]

/** A message that something happened. It names things, and has no text of the conversation. */
export interface Notice {
  /** The same at each attempt, whichever process makes it; letters, digits, `_` and `-`. */
  readonly id: string
  readonly type: NoticeType
  /** When it happened, as ISO 8601. */
  readonly timestamp: string
  readonly data: NoticeData
}

export interface NoticeData extends JsonObject {
  readonly session: string
  readonly agent: string
  /** The session's principal. */
  readonly principal: { readonly id: string }
  /** Position of its record in the session's log. Later notices of a session have the same or a higher one. */
  readonly pos: number
}

/** A place that notices go to, such as `webhook` of @baton/notices. */
export interface NoticeDestination {
  /**
   * Unique in its host, and the same after each restart: the store keeps under it what was delivered. 1 to 64 letters,
   * digits, `.`, `_` and `-`.
   */
  readonly name: string
  /** The kinds that it gets; all by default. */
  readonly types?: readonly NoticeType[]
  /**
   * Milliseconds before each further attempt, each varied by up to a fifth. Default: 5 seconds, 5 and 30 minutes, 2, 5 and
   * 10 hours. After the last one the notice is dead.
   */
  readonly retriesMs?: readonly number[]
  /** Milliseconds for an attempt, 100 to 120,000. Default: 15,000. */
  readonly timeoutMs?: number
  /**
   * Delivers a notice. Returning nothing means that it was taken, and the next one of its session may follow; a failure or
   * a throw, that it is tried again. A notice that was taken may be sent again, with its `id`.
   */
  send(notice: Notice, context: NoticeContext): Promise<NoticeFailure | void>
}

/** The help that a destination gets to make its message. Its methods throw BatonError `store_failed`. */
export interface NoticeContext {
  /** Aborted at the end of the attempt's time. */
  readonly signal: PlatformAbortSignal
  /** The request of `approval.requested`, as its deciders see it; undefined if it is no longer open. */
  request(): Promise<WaitingApproval | undefined>
  /** The answer of `turn.finished`; undefined for other notices. */
  answer(): Promise<string | undefined>
  /** Short texts that the destination keeps with the session, such as the id of a message to change later. */
  readonly notes: {
    get(name: string): Promise<string | undefined>
    put(name: string, text: string): Promise<void>
  }
}

/** The reason why a notice was not taken. */
export interface NoticeFailure {
  /** For the list of dead notices and the log; without secrets. */
  readonly message: string
  /** Milliseconds that the destination asks to wait before the next attempt. */
  readonly retryAfterMs?: number
  /** The destination no longer exists: this host sends it nothing more. */
  readonly isGone?: boolean
}

/** A notice whose last attempt failed. */
export interface DeadNotice {
  readonly destination: string
  readonly notice: Notice
  readonly attempts: number
  /** Why the last one failed. */
  readonly error: string
  /** Milliseconds since 1970. */
  readonly diedMs: number
}

/** Notices of a host after their last failed attempt. They are removed with their sessions. */
export interface DeadNotices {
  /** Oldest first, a page at a time. @throws BatonError `store_failed`, `invalid_option` */
  dead(query?: DeadQuery): Promise<DeadPage>
  /**
   * Sends a dead notice once more, now. It leaves the list if it is taken.
   * @throws BatonError `api_unavailable` if it is not taken; `invalid_option` if this host has no such destination, or there
   * is no such dead notice
   */
  redeliver(dead: Pick<DeadNotice, 'destination' | 'notice'>): Promise<void>
  /** Drops a dead notice. @throws BatonError `store_failed` */
  drop(dead: Pick<DeadNotice, 'destination' | 'notice'>): Promise<void>
}

export interface DeadQuery {
  /** The cursor from the previous page; undefined for the first one. */
  readonly cursor?: string | undefined
  /** 1 to 200; 50 by default. */
  readonly limit?: number
}

export interface DeadPage {
  readonly dead: readonly DeadNotice[]
  /** Present if there may be more. */
  readonly cursor?: string
}
