// Sends the notices of all sessions to one destination: several sessions at once, each in the order of its log. The log is
// the outbox; a row next to it has the position up to which it was sent. A host claims the row before it sends, so that of
// several hosts one does; if it dies, the claim ends and another host continues. A notice is sent once more if its host dies
// before it has stored that.
import type {
  Clock,
  DeadNotice,
  JsonValue,
  Logger,
  Notice,
  NoticeContext,
  NoticeDestination,
  NoticeFailure,
  Store,
  Timers,
  WaitingApproval,
} from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { within } from '../deadline.ts'
import { describeThrown } from '../describe-thrown.ts'
import { readIdentity, readOpening } from '../session/session-directory.ts'
import type { Looked } from './due-looks.ts'
import type { NoticeCursor } from './notice-rows.ts'
import {
  nameCursor,
  nameDead,
  nameDueList,
  nameNote,
  NOTE_LIST,
  readCursor,
  writeCursor,
  writeDead,
} from './notice-rows.ts'
import type { RecordNotice } from './read-notices.ts'
import { readNotices } from './read-notices.ts'

export interface NoticeLaneOptions {
  readonly destination: NoticeDestination
  readonly store: NoticeStore
  /** The requests of a session that wait for people, according to its whole log. @throws BatonError `store_failed` */
  readonly listRequests: (session: string) => Promise<readonly WaitingApproval[]>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  readonly digest: (text: string) => string
  /** Name of this host in claims. */
  readonly owner: string
  /** Called with the time at which a session is due again. */
  readonly onDue: (dueMs: number) => void
}

/** The part of a store that notices need. */
export type NoticeStore = Pick<Store, 'read' | 'entries' | 'outbox'>

/** Sessions whose notices are sent at once; others wait. */
const AT_ONCE = 8
/** Sessions that wait in memory; the store has any others. */
const WAITING_MAX = 1000
/** Due sessions per page. */
const ROWS = 64
const TIMEOUT_MS = 15_000
const RETRIES_MS = [5000, 300_000, 1_800_000, 7_200_000, 18_000_000, 36_000_000]
/** Largest delay that a destination may ask for. */
const RETRY_AFTER_MAX_MS = 86_400_000
/** Milliseconds that a claim outlasts an attempt. */
const CLAIM_MS = 5000
/** Variation of delays, as a fraction. */
const JITTER = 0.2
/** Tries to change a row that others change meanwhile. */
const SWAP_TRIES = 20
const ERROR_CHARS = 500

/** A row as this host last saw it. */
interface Held {
  readonly cursor: NoticeCursor
  readonly body: string
}

export class NoticeLane {
  readonly #init: NoticeLaneOptions
  readonly #row: string
  readonly #timeoutMs: number
  readonly #waiting = new Set<string>()
  /** Sessions at work; `isAgain`: another look follows. */
  readonly #running = new Map<string, { isAgain: boolean; readonly done: Promise<void> }>()
  /** Attempts under way. */
  readonly #attempts = new Set<AbortController>()
  #isStopped = false
  #isGone = false
  /** The store may have more due sessions than fitted in memory. */
  #hasMore = false

  constructor(init: NoticeLaneOptions) {
    this.#init = init
    this.#row = nameCursor(init.destination.name)
    this.#timeoutMs = init.destination.timeoutMs ?? TIMEOUT_MS
  }

  /**
   * Called when a session has records: its notices are sent from `fromPos` on, or from the stored position on.
   * @throws BatonError `store_failed`, `log_damaged`
   */
  async begin(session: string, fromPos: number): Promise<void> {
    const { store } = this.#init
    if ((await store.outbox.get(session, this.#row)) !== undefined) return
    const opening = await readOpening(store, session)
    if (!opening) return // it was removed
    const cursor = { birth: opening.birth, pos: fromPos, told: 0, n: 0 }
    await store.outbox.swap(session, this.#row, undefined, writeCursor(this.#init.destination.name, cursor, false))
  }

  wants({ type }: Pick<RecordNotice, 'type'>): boolean {
    return this.#init.destination.types?.includes(type) ?? true
  }

  /** Marks a session whose log may have more to tell than a dead host noted. @throws BatonError `store_failed`, `log_damaged` */
  async check(session: string): Promise<void> {
    const cursor = readCursor(await this.#init.store.outbox.get(session, this.#row))
    if (cursor && !cursor.waiting && (await this.#findNext(session, cursor)).notice) await this.mark(session)
  }

  /**
   * Notes in the store that the session has something to tell, and tells it. Once this resolves, another host tells it if
   * this one dies. @throws BatonError `store_failed`
   */
  async mark(session: string): Promise<void> {
    const { store, owner, clock, onDue } = this.#init
    for (let tries = SWAP_TRIES; tries > 0; tries--) {
      const body = await store.outbox.get(session, this.#row)
      const cursor = readCursor(body)
      if (!cursor || body === undefined) return
      const { claim, waiting } = cursor
      const isClaimed = claim !== undefined && claim.untilMs > clock.nowMs()
      if (waiting && !isClaimed) return onDue(waiting.dueMs)
      // A sender that has just read to the end of the log sees that the row has changed.
      const marked = isClaimed || this.#isGone ? cursor : { ...cursor, claim: this.#makeClaim() }
      if (!(await this.#swap(session, { cursor: marked, body }))) continue
      if (!isClaimed || claim.by === owner) this.#add(session)
      return
    }
    throw new BatonError({ code: 'store_failed', message: `session ${session}: its row in the outbox keeps changing` })
  }

  /** Tells what is due. @throws BatonError `store_failed` */
  async look(): Promise<Looked> {
    if (this.#isGone) return { nextMs: Infinity, isDone: true }
    const list = nameDueList(this.#init.destination.name)
    const page = await this.#init.store.outbox.find({ list, limit: ROWS })
    const nowMs = this.#init.clock.nowMs()
    const due = page.filter(({ atMs }) => atMs <= nowMs)
    for (const { session } of due) if (!this.#running.has(session)) this.#add(session)
    this.#hasMore = due.length === ROWS
    return { nextMs: page[due.length]?.atMs ?? Infinity, isDone: !this.#hasMore }
  }

  /** Attempts once, whatever the outbox says. Never rejects. */
  async send(notice: Notice): Promise<NoticeFailure | undefined> {
    const { destination, timers } = this.#init
    const aborting = new AbortController()
    this.#attempts.add(aborting)
    const error = (): BatonError =>
      new BatonError({ code: 'api_unavailable', message: `it did not answer in ${this.#timeoutMs} ms` })
    try {
      const stopped = new Promise<NoticeFailure>((resolve) => {
        aborting.signal.addEventListener('abort', () => resolve({ message: 'the host was stopped' }))
      })
      const sending = Promise.resolve().then(() => destination.send(notice, this.#makeContext(notice, aborting.signal)))
      const failure = await within(timers, { timeoutMs: this.#timeoutMs, error }, Promise.race([sending, stopped]))
      return failure ? { ...failure, message: String(failure.message).slice(0, ERROR_CHARS) } : undefined
    } catch (cause) {
      aborting.abort(cause)
      return { message: describeThrown(cause).slice(0, ERROR_CHARS) }
    } finally {
      this.#attempts.delete(aborting)
    }
  }

  #makeContext({ type, data }: Notice, signal: AbortSignal): NoticeContext {
    const { store, destination } = this.#init
    const { session, pos } = data
    const nameOf = (name: string): string => nameNote(destination.name, name)
    return {
      signal,
      request: async () => {
        if (type !== 'approval.requested') return undefined
        return await this.#findRequest(session, data['approvalId'])
      },
      answer: async () => {
        if (type !== 'turn.finished') return undefined
        for await (const { facts } of store.read(session, pos)) {
          const ended = facts.find((fact) => fact.type === 'turn-finished' && fact.turn === data['turn'])
          return ended?.type === 'turn-finished' ? ended.text : undefined
        }
        return undefined
      },
      notes: {
        get: async (name) => await store.outbox.get(session, nameOf(name)),
        put: async (name, text) => {
          const was = await store.outbox.get(session, nameOf(name))
          const isKept = await store.outbox.swap(session, nameOf(name), was, { body: text, list: NOTE_LIST, atMs: 0 })
          // Another host, whose claim has followed this one's, wrote it.
          if (!isKept) throw new BatonError({ code: 'store_failed', message: `the note ${name} has changed meanwhile` })
        },
      },
    }
  }

  /** Lets running attempts end for some time, then aborts them. Never rejects. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopped = true
    this.#waiting.clear()
    const ended = Promise.all([...this.#running.values()].map(({ done }) => done))
    const stopTimer = this.#init.timers.start(graceMs, () => {
      for (const attempt of this.#attempts) attempt.abort()
    })
    await ended
    stopTimer()
  }

  #add(session: string): void {
    const running = this.#running.get(session)
    if (running) running.isAgain = true
    else if (this.#waiting.size < WAITING_MAX) this.#waiting.add(session)
    else this.#hasMore = true
    this.#pump()
  }

  #pump(): void {
    for (const session of this.#waiting) {
      if (this.#isStopped || this.#isGone || this.#running.size >= AT_ONCE) return
      this.#waiting.delete(session)
      const done = this.#work(session).finally(() => {
        const isAgain = this.#running.get(session)?.isAgain === true
        this.#running.delete(session)
        if (isAgain && !this.#isStopped) this.#waiting.add(session)
        this.#pump()
        if (this.#hasMore && this.#waiting.size === 0) this.#init.onDue(this.#init.clock.nowMs())
      })
      this.#running.set(session, { isAgain: false, done })
    }
  }

  /** Never rejects: what a store refused is due again when the claim ends. */
  async #work(session: string): Promise<void> {
    try {
      let held = await this.#claim(session)
      while (held && !this.#isStopped && !this.#isGone) held = await this.#tell(session, held)
      if (held) await this.#change(session, held, withoutClaim)
    } catch (cause) {
      const { log, destination, onDue, clock } = this.#init
      log.warn('notices of a session could not be told', {
        session,
        destination: destination.name,
        cause: describeThrown(cause),
      })
      onDue(clock.nowMs() + this.#timeoutMs + CLAIM_MS)
    }
  }

  #makeClaim(): NonNullable<NoticeCursor['claim']> {
    return { by: this.#init.owner, untilMs: this.#init.clock.nowMs() + this.#timeoutMs + CLAIM_MS }
  }

  /** Undefined if another host has it, or nothing is due. */
  async #claim(session: string): Promise<Held | undefined> {
    const body = await this.#init.store.outbox.get(session, this.#row)
    const cursor = readCursor(body)
    if (!cursor || body === undefined) return undefined
    const { claim, waiting } = cursor
    const nowMs = this.#init.clock.nowMs()
    if (claim && claim.by !== this.#init.owner && claim.untilMs > nowMs) return undefined
    if (waiting && waiting.dueMs > nowMs) return undefined
    return await this.#swap(session, { cursor: { ...cursor, claim: this.#makeClaim() }, body })
  }

  /** Tells the next notice. Undefined: there is none, or not now. */
  async #tell(session: string, held: Held): Promise<Held | undefined> {
    const { cursor } = held
    const found = await this.#findNext(session, cursor)
    const { notice, pos, told } = found
    if (!notice) {
      const { birth, n } = cursor
      const isTold = await this.#swap(session, { cursor: { birth, pos, told, n }, body: held.body }, false)
      return isTold ? undefined : await this.#claim(session)
    }
    const failure = await this.send(notice)
    if (!failure) return await this.#pass(session, held, found)
    const attempts = (cursor.waiting?.attempts ?? 0) + 1
    return await this.#postpone(session, { held, found: { notice, pos, told }, attempts, failure })
  }

  /** Continues after this notice. */
  async #pass(
    session: string,
    held: Held,
    { pos, told }: Pick<NoticeCursor, 'pos' | 'told'>,
  ): Promise<Held | undefined> {
    return await this.#change(session, held, ({ birth, n }) => ({
      birth,
      n,
      pos,
      told,
      claim: this.#makeClaim(),
    }))
  }

  async #postpone(session: string, { held, found, attempts, failure }: Failed): Promise<Held | undefined> {
    const { destination, log, clock, onDue, store } = this.#init
    const { notice } = found
    const about = {
      session,
      destination: destination.name,
      notice: notice.id,
      type: notice.type,
      cause: failure.message,
    }
    const nowMs = clock.nowMs()
    const wait = (counted: number, dueMs: number) =>
      this.#change(session, held, (cursor) => ({
        ...withoutClaim(cursor),
        waiting: { notice, attempts: counted, dueMs },
      }))
    if (this.#isStopped || failure.isGone === true) {
      await wait(attempts - 1, nowMs)
      if (failure.isGone === true && !this.#isGone)
        log.warn('a destination of notices is gone, and gets no more from this host', about)
      this.#isGone ||= failure.isGone === true
      return undefined
    }
    const retryMs = (destination.retriesMs ?? RETRIES_MS)[attempts - 1]
    if (retryMs === undefined) {
      log.warn('a notice is given up', { ...about, attempts })
      const name = nameDead(destination.name, notice.id)
      const dead: DeadNotice = {
        destination: destination.name,
        notice,
        attempts,
        error: failure.message,
        diedMs: nowMs,
      }
      await store.outbox.swap(session, name, await store.outbox.get(session, name), writeDead(dead))
      return await this.#pass(session, held, found)
    }
    const varied = retryMs * (1 - JITTER + 2 * JITTER * this.#readChance(`${notice.id} ${attempts}`))
    const askedMs = Math.min(Math.max(0, failure.retryAfterMs ?? 0), RETRY_AFTER_MAX_MS)
    const dueMs = nowMs + Math.ceil(Math.max(varied, askedMs))
    log.warn('a notice was not taken, and is sent again', { ...about, attempts, inMs: dueMs - nowMs })
    await wait(attempts, dueMs)
    onDue(dueMs)
    return undefined
  }

  /** A number from 0 to 1 that depends on the text alone. */
  #readChance(text: string): number {
    const letters = Array.from(this.#init.digest(text).slice(0, 4))
    return (letters.reduce((sum, letter) => sum * 128 + (letter.codePointAt(0) ?? 0), 0) % 1000) / 1000
  }

  /** The next notice that the destination wants, or the end of the log. */
  async #findNext(session: string, cursor: NoticeCursor): Promise<FoundNext> {
    let next: FoundNext = { pos: cursor.pos, told: cursor.told }
    for await (const record of this.#init.store.read(session, cursor.pos)) {
      const { pos } = record
      for (const [index, one] of readNotices(record).entries()) {
        if ((pos === cursor.pos && index < cursor.told) || !this.wants(one)) continue
        const told = { pos, told: index + 1 }
        const { waiting } = cursor
        return {
          ...told,
          notice: waiting?.notice ?? (await this.#makeNotice(session, one, { ...told, birth: cursor.birth })),
        }
      }
      next = { pos: pos + 1, told: 0 }
    }
    return next
  }

  async #makeNotice(session: string, { type, atMs, data }: RecordNotice, place: Place): Promise<Notice> {
    const { store, digest } = this.#init
    const { agent = '', principal: id = '' } = (await readIdentity(store, session)) ?? {}
    const tool =
      type === 'approval.requested' ? (await this.#findRequest(session, data['approvalId']))?.name : undefined
    return {
      id: `notice_${digest(JSON.stringify([place.birth, session, place.pos, place.told, type]))}`,
      type,
      timestamp: new Date(atMs).toISOString(),
      data: { session, agent, principal: { id }, pos: place.pos, ...data, ...(tool !== undefined && { tool }) },
    }
  }

  async #findRequest(session: string, approvalId: JsonValue | undefined): Promise<WaitingApproval | undefined> {
    return (await this.#init.listRequests(session)).find((one) => one.approvalId === approvalId)
  }

  async #swap(session: string, { cursor, body }: Held, hasMore = true): Promise<Held | undefined> {
    const next = { ...cursor, n: cursor.n + 1 }
    const row = writeCursor(this.#init.destination.name, next, hasMore)
    const isDone = await this.#init.store.outbox.swap(session, this.#row, body, row)
    return isDone ? { cursor: next, body: row.body } : undefined
  }

  /** Changes a row that this host has claimed, however often others mark it meanwhile. Undefined if the claim was lost. */
  async #change(
    session: string,
    held: Held,
    change: (cursor: NoticeCursor) => NoticeCursor,
  ): Promise<Held | undefined> {
    let { cursor, body } = held
    for (let tries = SWAP_TRIES; tries > 0; tries--) {
      const changed = await this.#swap(session, { cursor: change(cursor), body })
      if (changed) return changed
      const now = await this.#init.store.outbox.get(session, this.#row)
      const fresh = readCursor(now)
      const isOurs = fresh?.claim?.by === this.#init.owner && fresh.pos === cursor.pos && fresh.told === cursor.told
      if (!isOurs || now === undefined) return undefined
      cursor = fresh
      body = now
    }
    return undefined
  }
}

function withoutClaim(cursor: NoticeCursor): NoticeCursor {
  const { claim: _, ...rest } = cursor
  return rest
}

interface FoundNext extends Pick<NoticeCursor, 'pos' | 'told'> {
  readonly notice?: Notice
}

interface Failed {
  readonly held: Held
  readonly found: Required<FoundNext>
  readonly attempts: number
  readonly failure: NoticeFailure
}

type Place = Pick<NoticeCursor, 'birth' | 'pos' | 'told'>
