// One chat response: streams the events of a turn as chunks. The page reading it acts as the client of the calls it is
// asked to run. A call is claimed before the page sees it, so that two pages never both run it.
import type { CallView, LeaseClient, FrontSession, Logger, Principal, SessionEvent, Timers } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'
import type { UiChunk } from './ui-chunks.ts'
import type { KnownAnswer } from './ui-answer.ts'
import { UiAnswer } from './ui-answer.ts'
import type { LinkMedia } from './ui-messages.ts'
import { KEPT_LEASE_MS, keepLease } from '../shared/keep-lease.ts'
import { tryAgain } from '../shared/try-again.ts'

export interface ChatAnswerOptions {
  readonly session: FrontSession
  readonly principal: Principal
  readonly linkMedia: LinkMedia
  readonly known?: KnownAnswer
  readonly timers: Timers
  readonly log: Logger
  readonly nowMs: () => number
  readonly newId: () => string
  /** Events up to this position are from the past; calls that they leave waiting are handled after all are read. */
  readonly livePos: number
  /** The later state of those calls by id: no client attaches for a call that has settled since. */
  readonly calls?: ReadonlyMap<string, CallView>
}

/** Prefix of the names of clients behind responses. */
const CLIENT = 'chat-'
/** Milliseconds past a call's deadline when a page's result is still accepted, because clocks differ. */
const GRACE_MS = 5000
const LEASE_MAX_MS = 3_600_000

export class ChatAnswer {
  readonly #init: ChatAnswerOptions
  readonly #answer: UiAnswer
  readonly #claimed = new Set<string>()
  #client: LeaseClient | undefined
  #stopRenewals: (() => void) | undefined
  #isLive = false
  #isAttaching = false
  readonly #left = new AbortController()

  constructor(init: ChatAnswerOptions) {
    this.#init = init
    this.#answer = new UiAnswer({
      principal: init.principal,
      linkMedia: init.linkMedia,
      ...(init.known && { known: init.known }),
      mayRun: (call) =>
        this.#claimed.has(call.callId) || (call.status === 'running' && call.effect !== 'once' && isPage(call.holder)),
    })
  }

  /** Whether the response is complete: the turn has ended, or waits for its page. */
  isOver = false

  /** Synchronous except for calls, because most events are pieces of text. */
  take(event: SessionEvent): readonly UiChunk[] | Promise<readonly UiChunk[]> {
    this.#isLive ||= event.type === 'live' || event.cursor.pos > this.#init.livePos
    return event.type === 'call' ? this.#hold(event.call).then(() => this.#tell(event)) : this.#tell(event)
  }

  #tell(event: SessionEvent): readonly UiChunk[] {
    const chunks = this.#answer.take(event)
    const isWhole = event.cursor.read === undefined // the last event of its record
    if (this.#answer.ended) this.isOver = true
    else if (this.#isLive && isWhole && this.#answer.waitsForPage) {
      this.isOver = true
      return [...chunks, ...this.#answer.pause()]
    }
    return chunks
  }

  /** Keeps the lease until the deadlines of calls that its page is to run. Never rejects. */
  async leave(): Promise<void> {
    this.#left.abort()
    this.#stopRenewals?.()
    const { session, nowMs } = this.#init
    const client = this.#client
    if (!client) return
    const own = this.#answer.ownCalls.filter(({ callId }) => this.#claimed.has(callId))
    const untilMs = Math.max(0, ...own.map(({ deadlineMs }) => deadlineMs ?? nowMs() + LEASE_MAX_MS))
    const leaseMs = Math.min(LEASE_MAX_MS, Math.max(KEPT_LEASE_MS, untilMs - nowMs() + GRACE_MS))
    try {
      await (own.length > 0 ? session.client({ client: client.connection, leaseMs, below: true }) : client.detach())
    } catch {
      // The session is closed or accepts no clients, so the lease will expire.
    }
  }

  async #hold(call: CallView): Promise<void> {
    const { status } = this.#init.calls?.get(call.callId) ?? call
    if (call.runs !== 'client' || call.task || call.status === 'settled' || status === 'settled') return
    const isOwn = call.holder !== undefined && call.holder === this.#client?.connection
    if (!isOwn && !this.#client && (call.waitsForClient || call.status !== 'proposed')) await this.#attach()
    // The answer to a repeated claim may follow the event of the call.
    if (isOwn && call.status === 'running') this.#claimed.add(call.callId)
    if (!isOwn || call.status !== 'waiting' || this.#claimed.has(call.callId)) return
    await this.#insist(async () => {
      await this.#client?.claim(call.callId)
      this.#claimed.add(call.callId)
    })
  }

  async #attach(): Promise<void> {
    if (this.#isAttaching) return
    this.#isAttaching = true
    const { session, newId } = this.#init
    const name = createPageName(newId())
    const attach = async (): Promise<void> => {
      this.#client = await session.client({ client: name, leaseMs: KEPT_LEASE_MS, below: true })
      if (this.#left.signal.aborted) await this.leave()
      else this.#stopRenewals = keepLease({ ...this.#init, client: this.#client })
    }
    await this.#insist(attach, () => {
      this.#isAttaching = false
    })
  }

  /**
   * Resolves with the first try, so that the events that follow are not held up by the others. Never rejects. `onEnd` is
   * called after the last one.
   */
  #insist(act: () => Promise<void>, onEnd = (): void => {}): Promise<void> {
    const { session, timers, log } = this.#init
    const { signal } = this.#left
    return new Promise((resolve) => {
      tryAgain(act, { timers, signal, onPutOff: resolve })
        .catch((cause: unknown) => {
          // It was withdrawn or went to another client meanwhile; its next event says so.
          if (signal.aborted || (isBatonError(cause) && ELSEWHERE.has(cause.code))) return
          log.warn('a page could not be given a call', { session: session.id, cause: describeThrown(cause) })
        })
        .finally(() => {
          onEnd()
          resolve()
        })
    })
  }
}

const ELSEWHERE: ReadonlySet<string> = new Set(['call_over', 'call_not_offered'])

/** Name of a client behind one response or request of a page. */
export function createPageName(id: string): string {
  return `${CLIENT}${id}`
}

/** Whether a client is a page of a chat. */
export function isPage(holder: string | undefined): boolean {
  return holder?.startsWith(CLIENT) === true
}
