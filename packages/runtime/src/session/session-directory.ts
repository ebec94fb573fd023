// A host's sessions as lists and the inbox show them: from the entries that a store keeps with each log. Watchers receive
// the changes and removals that the host notes here.
import type {
  ApprovalPage,
  ApprovalQuery,
  Clock,
  LogStore,
  Logger,
  OutdatedEntry,
  Principal,
  SessionChange,
  SessionDirectory,
  SessionInfo,
  Timers,
  WaitingApproval,
} from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import type { FactOf, History, State } from '@baton/core/machine'
import { describeThrown } from '../describe-thrown.ts'
import type { EntryBody } from './session-entry.ts'
import { APPROVALS_MAX, createEntry, cutArguments, describeSession, listWaiting, readEntry } from './session-entry.ts'
import type { FindEntries } from './session-list.ts'
import { checkQuery, isMeant, queryApprovals, querySessions } from './session-list.ts'
import { PageWatcher } from './page-watcher.ts'

export interface FoldedSession {
  readonly state: State
  readonly history: History
  /** Wall-clock time of the newest record. */
  readonly lastMs: number
}

export interface SessionDirectoryOptions {
  readonly store: Pick<LogStore, 'list' | 'read' | 'entries'>
  /** Returns the state of a session if it is open here. */
  readonly findOpen: (session: string) => State | undefined
  /** Folds the log of a session; undefined if it has no records. */
  readonly fold: (session: string) => Promise<FoldedSession | undefined>
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
}

interface LeftOut extends OutdatedEntry {
  readonly reason: string
}

/** Errors that last until the log changes. */
const LASTING: ReadonlySet<string> = new Set(['log_damaged', 'log_version_unknown'])
/** Sessions omitted from lists to remember. */
const LEFT_OUT_MAX = 10_000
/** Sessions with unread changes per watcher; beyond that the oldest are dropped. */
const UNREAD_MAX = 10_000
/** Milliseconds between looks for changes of other processes, while an inbox is watched. */
const LOOK_MS = 1000

interface Look {
  /** The session has changed since this look began. */
  isChanged: boolean
  isRemoved: boolean
}

export class Directory {
  /** Whether any watcher listens. */
  isWatched = false
  readonly #init: SessionDirectoryOptions
  readonly #watchers = new Set<Watcher>()
  readonly #inboxes = new Set<PageWatcher<ApprovalPage>>()
  /** Sessions omitted from lists, and why. */
  readonly #leftOut = new Map<string, LeftOut>()
  #refreshing: Promise<void> | undefined
  /** The next one, which sees all changes up to its beginning. */
  #refreshesAgain: Promise<void> | undefined

  /** Sessions whose change is being read. */
  readonly #looks = new Map<string, Look>()

  constructor(init: SessionDirectoryOptions) {
    this.#init = init
  }

  sessions: SessionDirectory['sessions'] = async (query = {}) => {
    checkQuery(query, 'sessions')
    await this.#refresh()
    return await querySessions(this.#find, query)
  }

  approvals: SessionDirectory['approvals'] = async (query = {}) => {
    checkQuery(query, 'approvals')
    return await this.#readApprovals(query)
  }

  watchApprovals: SessionDirectory['watchApprovals'] = (query = {}) => {
    checkQuery(query, 'watchApprovals')
    const { timers, log } = this.#init
    const watcher = new PageWatcher<ApprovalPage>({
      timers,
      everyMs: LOOK_MS,
      read: () => this.#readApprovals(query),
      onFailure: (cause) => log.warn('the inbox could not be read', { cause: describeThrown(cause) }),
      onEnd: () => {
        this.#inboxes.delete(watcher)
        this.#noteWatchers()
      },
    })
    this.#inboxes.add(watcher)
    this.#noteWatchers()
    return watcher
  }

  #noteWatchers(): void {
    this.isWatched = this.#watchers.size + this.#inboxes.size > 0
  }

  /**
   * Finds the open request that this person may decide, and its session's owner.
   * @throws BatonError `approval_refused`, `store_failed`
   */
  async findRequest(session: string, approvalId: string, by: Principal): Promise<Principal> {
    const { approvals } = await this.#readApprovals({ session })
    const asked = approvals.find((one) => one.approvalId === approvalId)
    // The owner may take it back, and a person who approved it may still deny it.
    const isTheirs = asked && (asked.principal.id === by.id || isMeant({ ...asked, given: [] }, { decider: by }))
    if (isTheirs) return asked.principal
    throw new BatonError({
      code: 'approval_refused',
      message: `${approvalId}: session ${session} has no such request that "${by.id}" may decide`,
      hint: 'It was decided, withdrawn or has expired, or others decide it. List the open ones again.',
    })
  }

  has: SessionDirectory['has'] = async (session) => {
    if (this.#init.findOpen(session)) return true
    for await (const record of this.#init.store.read(session, 0)) return record.pos === 0
    return false
  }

  watch: SessionDirectory['watch'] = (query = {}) => {
    checkQuery(query, 'watch')
    const { principal } = query
    const watcher = new Watcher(principal?.id, () => {
      this.#watchers.delete(watcher)
      this.#noteWatchers()
    })
    this.#watchers.add(watcher)
    this.#noteWatchers()
    return watcher
  }

  /** The methods of the host. */
  readonly methods = {
    sessions: this.sessions,
    approvals: this.approvals,
    watchApprovals: this.watchApprovals,
    has: this.has,
    watch: this.watch,
  }

  /** Returns undefined if there is no such session. */
  async find(session: string): Promise<SessionInfo | undefined> {
    const open = this.#init.findOpen(session)
    if (open) return describeSession(open, open.nowMs)
    const folded = await this.#fold({ session, records: -1, lastMs: 0 })
    return folded && describeSession(folded.state, folded.lastMs)
  }

  async #readApprovals(query: ApprovalQuery): Promise<ApprovalPage> {
    await this.#refresh()
    const nowMs = this.#init.clock.nowMs()
    const { session } = query
    if (session === undefined) return await queryApprovals(this.#find, query, nowMs)
    const approvals = await this.listRequests(session)
    return { approvals: approvals.filter((one) => one.expiresAtMs > nowMs && isMeant(one, query)) }
  }

  /** The open requests of one session as its entry has them, expired ones included. @throws BatonError `store_failed` */
  async listRequests(session: string): Promise<readonly WaitingApproval[]> {
    const text = await this.#init.store.entries.get(session)
    const { approvals = [] } = (text === undefined ? undefined : readEntry(text)) ?? {}
    // A full entry may lack some.
    const folded = approvals.length < APPROVALS_MAX ? undefined : await this.#fold({ session, records: -1, lastMs: 0 })
    return folded ? cutArguments(listWaiting(folded.state, folded.history)) : approvals
  }

  readonly #find: FindEntries = async (query) => {
    const found = await this.#init.store.entries.find(query)
    return await Promise.all(found.map(async (one) => ({ ...one, body: await this.#readBody(one.session, one.body) })))
  }

  /** Derives an altered entry from its log again. */
  async #readBody(session: string, text: string | undefined): Promise<EntryBody | undefined> {
    const body = text === undefined ? undefined : readEntry(text)
    if (body) return body
    const folded = await this.#renew({ session, records: -1, lastMs: 0 })
    if (!folded) return undefined
    const { state, history, lastMs } = folded
    return { info: describeSession(state, lastMs), approvals: listWaiting(state, history) }
  }

  /** Derives outdated entries from their logs. */
  #refresh(): Promise<void> {
    if (!this.#refreshing) {
      this.#refreshing = this.#refreshAll().finally(() => (this.#refreshing = undefined))
      return this.#refreshing
    }
    this.#refreshesAgain ??= this.#refreshing
      .catch(() => {})
      .then(() => {
        this.#refreshesAgain = undefined
        return this.#refresh()
      })
    return this.#refreshesAgain
  }

  async #refreshAll(): Promise<void> {
    for await (const one of this.#init.store.entries.outdated()) {
      const left = this.#leftOut.get(one.session)
      const isSame = left?.records === one.records && left.lastMs === one.lastMs
      if (!isSame || !LASTING.has(left.reason)) await this.#renew(one)
    }
  }

  async #renew(one: OutdatedEntry): Promise<FoldedSession | undefined> {
    const folded = await this.#fold(one)
    if (!folded) return undefined
    const { state, history, lastMs } = folded
    await this.#init.store.entries.put(one.session, state.pos, createEntry(state, history, lastMs))
    return folded
  }

  /**
   * Reports that a session's entry in a list has changed. One look at a time: changes made meanwhile are seen by one more
   * look, so that the newest is reported last. Never rejects.
   */
  async noteChange(session: string): Promise<void> {
    for (const inbox of this.#inboxes) inbox.look()
    if (this.#watchers.size === 0) return
    const running = this.#looks.get(session)
    if (running) {
      running.isChanged = true
      return
    }
    const look: Look = { isChanged: false, isRemoved: false }
    this.#looks.set(session, look)
    do {
      look.isChanged = look.isRemoved = false
      await this.#reportChange(session, look)
    } while (look.isChanged)
    this.#looks.delete(session)
  }

  /** Never rejects. */
  async #reportChange(session: string, look: Look): Promise<void> {
    try {
      const info = await this.find(session)
      if (info && !look.isRemoved) this.#tell(info.principal.id, { type: 'changed', session: info })
    } catch (cause) {
      this.#init.log.warn('a change could not be reported', { session, cause: describeThrown(cause) })
    }
  }

  noteRemoval(id: string, principalId: string): void {
    const look = this.#looks.get(id)
    if (look) look.isRemoved = true
    this.#leftOut.delete(id)
    for (const inbox of this.#inboxes) inbox.look()
    this.#tell(principalId, { type: 'removed', id, principal: { id: principalId } })
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.end()
    for (const inbox of this.#inboxes) inbox.end()
  }

  #tell(principalId: string, change: SessionChange): void {
    for (const watcher of this.#watchers) watcher.push(principalId, change)
  }

  /** Folds from a snapshot if there is one. A log that cannot be folded is omitted from lists. */
  async #fold(listed: OutdatedEntry): Promise<FoldedSession | undefined> {
    const { session } = listed
    try {
      const folded = await this.#init.fold(session)
      this.#leftOut.delete(session)
      return folded
    } catch (cause) {
      const reason = isBatonError(cause) ? cause.code : 'internal'
      const isKnown = this.#leftOut.get(session)?.reason === reason
      setBounded(this.#leftOut, session, { ...listed, reason })
      if (isKnown) return undefined
      this.#init.log.warn('a session is omitted from lists: its log cannot be read', {
        session,
        cause: describeThrown(cause),
      })
      return undefined
    }
  }
}

/**
 * The session's owner according to its first record; undefined if there is none.
 * @throws BatonError `log_damaged`, `store_failed`
 */
export async function readOpening(
  store: Pick<LogStore, 'read'>,
  session: string,
): Promise<FactOf<'session-opened'> | undefined> {
  for await (const { facts } of store.read(session, 0)) {
    const [opened] = facts
    if (opened?.type === 'session-opened') return opened
    throw new BatonError({ code: 'log_damaged', message: `session ${session}: its first record does not open it` })
  }
  return undefined
}

/**
 * The session's owner and present agent: according to its entry in lists, or its first record. Undefined if it has none.
 * @throws BatonError `log_damaged`, `store_failed`
 */
export async function readIdentity(
  store: Pick<LogStore, 'read' | 'entries'>,
  session: string,
): Promise<{ readonly agent: string; readonly principal: string } | undefined> {
  const text = await store.entries.get(session)
  const { info } = (text === undefined ? undefined : readEntry(text)) ?? {}
  return info ? { agent: info.agent, principal: info.principal.id } : await readOpening(store, session)
}

/** Sets an entry; a full map drops its oldest. */
function setBounded<Value>(map: Map<string, Value>, key: string, value: Value): void {
  const [oldest] = map.keys()
  if (map.size >= LEFT_OUT_MAX && oldest !== undefined && !map.has(key)) map.delete(oldest)
  map.set(key, value)
}

class Watcher implements AsyncIterable<SessionChange>, AsyncIterator<SessionChange, undefined> {
  readonly #principalId: string | undefined
  readonly #onEnd: () => void
  /** The newest change of each session. */
  readonly #unread = new Map<string, SessionChange>()
  #wake: PromiseWithResolvers<void> | undefined
  #ended = false

  constructor(principalId: string | undefined, onEnd: () => void) {
    this.#principalId = principalId
    this.#onEnd = onEnd
  }

  [Symbol.asyncIterator](): AsyncIterator<SessionChange, undefined> {
    return this
  }

  push(principalId: string, change: SessionChange): void {
    if (this.#principalId !== undefined && principalId !== this.#principalId) return
    const id = change.type === 'changed' ? change.session.id : change.id
    this.#unread.delete(id)
    const [oldest] = this.#unread.keys()
    if (this.#unread.size >= UNREAD_MAX && oldest !== undefined) this.#unread.delete(oldest)
    this.#unread.set(id, change)
    this.#signal()
  }

  end(): void {
    this.#ended = true
    this.#onEnd()
    this.#signal()
  }

  async next(): Promise<IteratorResult<SessionChange, undefined>> {
    for (;;) {
      for (const [id, change] of this.#unread) {
        this.#unread.delete(id)
        return { done: false, value: change }
      }
      if (this.#ended) return { done: true, value: undefined }
      this.#wake ??= Promise.withResolvers()
      await this.#wake.promise
    }
  }

  return(): Promise<IteratorResult<SessionChange, undefined>> {
    this.#unread.clear()
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  #signal(): void {
    this.#wake?.resolve()
    this.#wake = undefined
  }
}
