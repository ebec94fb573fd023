// A host's sessions as lists show them: open ones are read from memory, others are folded from their logs. Watchers
// receive the changes and removals that the host notes here.
import type {
  JsonValue,
  Logger,
  LogStore,
  SessionChange,
  SessionDirectory,
  SessionInfo,
  Principal,
  SessionQuery,
  StoredSession,
} from '@baton/core/internal'
import { BatonError, checkFields, describeValue, isBatonError } from '@baton/core/internal'
import type { FactOf, SessionRecord, State } from '@baton/core/machine'
import { describeThrown } from '../describe-thrown.ts'

export interface SessionDirectoryOptions {
  readonly store: Pick<LogStore, 'list' | 'read'>
  /** Returns the state of a session if it is open here. */
  readonly findOpen: (session: string) => State | undefined
  /** Folds the log of a session that is not open; `first` is its first record. */
  readonly fold: (session: string, first: SessionRecord) => Promise<State>
  readonly log: Logger
}

interface LeftOut {
  /** As listed: records written since then may be readable. */
  readonly records: number
  readonly lastMs: number
  readonly reason: string
}

/** Errors that last until the log changes. */
const LASTING: ReadonlySet<string> = new Set(['log_damaged', 'log_version_unknown'])

interface ListedSession {
  readonly records: number
  /** Distinguishes the log from an earlier one with the same name. */
  readonly birth: string
  readonly info: SessionInfo
}

const PAGE = 50
const PAGE_MAX = 200
/** Listed sessions to remember, readable or not. */
const KNOWN_MAX = 10_000
/** Sessions with unread changes per watcher; beyond that the oldest are dropped. */
const UNREAD_MAX = 10_000

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
  /** Sessions as last listed. */
  readonly #known = new Map<string, ListedSession>()
  /** Sessions omitted from lists, and why. */
  readonly #leftOut = new Map<string, LeftOut>()

  /** Sessions whose change is being read. */
  readonly #looks = new Map<string, Look>()

  constructor(init: SessionDirectoryOptions) {
    this.#init = init
  }

  sessions: SessionDirectory['sessions'] = async (query = {}) => {
    checkQuery(query, 'sessions')
    const { cursor, limit = PAGE } = query
    if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX)
      throw new BatonError({ code: 'invalid_option', message: `limit must be 1 to ${PAGE_MAX}, not ${limit}` })
    const sessions: SessionInfo[] = []
    for await (const stored of this.#init.store.list(cursor === undefined ? {} : { after: cursor })) {
      const info = await this.#describe(stored)
      if (!info || !isWanted(info, query)) continue
      if (sessions.length === limit) return { sessions, cursor: sessions.at(-1)?.id ?? '' }
      sessions.push(info)
    }
    return { sessions }
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
      this.isWatched = this.#watchers.size > 0
    })
    this.#watchers.add(watcher)
    this.isWatched = true
    return watcher
  }

  /** Returns undefined if there is no such session. */
  async find(session: string): Promise<SessionInfo | undefined> {
    const folded = await this.#fold(session, this.#init.findOpen(session))
    return folded && describeState(folded.state, folded.createdMs)
  }

  /** Folds a session again only if it has new records since it was last listed. */
  async #describe({ session, records, lastMs }: StoredSession): Promise<SessionInfo | undefined> {
    const open = this.#init.findOpen(session)
    const known = this.#known.get(session)
    if (known && open?.birth === known.birth) return { ...describeState(open, known.info.createdMs), lastMs }
    if (known && !open && known.records === records && known.info.lastMs === lastMs) return known.info
    const left = this.#leftOut.get(session)
    if (!open && left?.records === records && left.lastMs === lastMs && LASTING.has(left.reason)) return undefined
    const folded = await this.#fold(session, open, { records, lastMs })
    if (!folded) return undefined
    const info = { ...describeState(folded.state, folded.createdMs), lastMs }
    setBounded(this.#known, session, { records, birth: folded.state.birth, info })
    return info
  }

  /**
   * Reports that a session's entry in a list has changed. One look at a time: changes made meanwhile are seen by one more
   * look, so that the newest is reported last. Never rejects.
   */
  async noteChange(session: string): Promise<void> {
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
    this.#known.delete(id)
    this.#leftOut.delete(id)
    this.#tell(principalId, { type: 'removed', id, principal: { id: principalId } })
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.end()
  }

  #tell(principalId: string, change: SessionChange): void {
    for (const watcher of this.#watchers) watcher.push(principalId, change)
  }

  /** Folds from a snapshot if there is one. A log that cannot be folded is omitted from lists. */
  async #fold(
    session: string,
    open: State | undefined,
    listed: Pick<LeftOut, 'records' | 'lastMs'> = { records: -1, lastMs: 0 },
  ): Promise<{ readonly state: State; readonly createdMs: number } | undefined> {
    const { store } = this.#init
    try {
      const first = await store.read(session, 0)[Symbol.asyncIterator]().next()
      if (first.done === true) return undefined
      const { nowMs: createdMs } = first.value
      if (open) return { state: open, createdMs }
      const state = await this.#init.fold(session, first.value)
      this.#leftOut.delete(session)
      return { state, createdMs }
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

/** Sets an entry; a full map drops its oldest. */
function setBounded<Value>(map: Map<string, Value>, key: string, value: Value): void {
  const [oldest] = map.keys()
  if (map.size >= KNOWN_MAX && oldest !== undefined && !map.has(key)) map.delete(oldest)
  map.set(key, value)
}

function describeState(state: State, createdMs: number): SessionInfo {
  const { session: id, agent, title, meta, nowMs } = state
  const principal = { id: state.principal }
  const activity = readActivity(state)
  return { id, agent, principal, ...(title !== null && { title }), meta, activity, createdMs, lastMs: nowMs }
}

function readActivity({ phase, turn }: State): SessionInfo['activity'] {
  if (phase === 'paused' || phase === 'stopped') return phase
  return turn === null ? 'idle' : 'running'
}

/** Whether a list shows it differently; one more record makes no difference. */
export function isListedOtherwise(before: State, after: State): boolean {
  return (
    before.title !== after.title ||
    before.meta !== after.meta ||
    before.turn?.turn !== after.turn?.turn ||
    readActivity(before) !== readActivity(after)
  )
}

/** The error for a principal that is not an object. */
export function createPrincipalError(given: unknown): BatonError {
  return new BatonError({
    code: 'invalid_option',
    message: `principal must be an object with an id, not ${describeValue(given)}`,
    hint: 'Write principal: { id: userId }.',
  })
}

/** @throws BatonError `invalid_option`: an unknown or malformed filter would show other people's sessions */
function checkQuery(query: SessionQuery, method: 'sessions' | 'watch'): void {
  checkFields(query, { what: `the query of ${method}`, code: 'invalid_option', ...QUERY_FIELDS[method] })
  // A forgotten principal must not mean all principals.
  if ('principal' in query && typeof (query.principal as Principal | null | undefined)?.id !== 'string')
    throw createPrincipalError(query.principal)
  for (const name of ['agent', 'cursor'] as const)
    if (query[name] !== undefined && typeof query[name] !== 'string')
      throw new BatonError({
        code: 'invalid_option',
        message: `${name} must be text, not ${describeValue(query[name])}`,
        hint: `Pass the ${name} as text.`,
      })
}

const OF_USER = 'write principal: { id: userId }'
const QUERY_ELSEWHERE = { user: OF_USER, userId: OF_USER, resourceId: OF_USER, metadata: 'meta' } as const
const QUERY_FIELDS = {
  sessions: { fields: new Set(['principal', 'agent', 'meta', 'cursor', 'limit']), elsewhere: QUERY_ELSEWHERE },
  watch: { fields: new Set(['principal']), elsewhere: QUERY_ELSEWHERE },
} as const

function isWanted(info: SessionInfo, { principal, agent, meta }: SessionQuery): boolean {
  if (principal !== undefined && info.principal.id !== principal.id) return false
  if (agent !== undefined && info.agent !== agent) return false
  return Object.entries(meta ?? {}).every(([key, value]) => isSame(info.meta[key], value))
}

function isSame(one: JsonValue | undefined, other: JsonValue): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other)
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
