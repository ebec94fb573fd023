// A principal's sessions, for side bars: a list that is kept up to date over its own reconnecting connection.
import type { Decision, JsonObject, SessionChange, SessionInfo } from '@baton/core/internal'
import type { AnswerOf, Requests } from '@baton/protocol'
import type { ClientError } from '../client-error.ts'
import { createClosedError } from '../client-error.ts'
import type { ConnectionState, ReconnectOptions } from '../connection.ts'
import { createListeners } from '../listeners.ts'
import type { Notice, Wire, WireUser } from '../wire.ts'
import { openWire } from '../wire.ts'
import type { World } from '../world.ts'
import { platformWorld } from '../world.ts'
import { SessionRequests } from './requests.ts'

/** Options of `openDirectory` and `useDirectory`. */
export interface DirectoryOptions {
  /** `ws://127.0.0.1:8080/ws`; a token goes into `?token=`. */
  readonly url: string
  /** Only sessions whose metadata has these fields with these values. */
  readonly meta?: JsonObject
  /** Maximum number of sessions to list; 1,000 by default. */
  readonly most?: number
  readonly reconnect?: ReconnectOptions
  readonly world?: World
}

/** A filter for `approvals`, and its page. */
export type ApprovalsQuery = Requests['approval.list']['given']

/** The state of the list; replaced when something changes. */
export interface DirectorySnapshot {
  readonly status: ConnectionState
  /** Whether the list has been read. */
  readonly isLoaded: boolean
  /** Most recently active session first. */
  readonly sessions: readonly SessionInfo[]
  /** Whether there are more sessions than listed. */
  readonly more: boolean
  readonly error: ClientError | undefined
}

/**
 * A list of sessions. Its methods work detached. Promises reject with a `ClientError`; a request waits up to 30 seconds
 * for a connection.
 */
export interface Directory {
  getSnapshot(): DirectorySnapshot
  /** Calls the listener after each change of the snapshot; the returned function removes it. */
  subscribe(listener: () => void): () => void
  /** Creates a session and returns its id, for `openSession`. If the connection breaks, the request is not repeated. */
  create(init?: { readonly title?: string; readonly meta?: JsonObject }): Promise<string>
  /** Null removes the title. */
  rename(session: string, title: string | null): Promise<void>
  delete(session: string): Promise<void>
  /** Reads a page of the requests that this principal may decide; with `asked`, of those of the principal’s sessions. */
  approvals(query?: ApprovalsQuery): Promise<AnswerOf<'approval.list'>>
  /** Decides a request of `approvals`. If the connection breaks, it is not repeated: read the page again. */
  decide(session: string, decision: Decision): Promise<void>
  close(): void
}

/** Opens a list and connects at once. @throws ClientError `invalid_option` for a `url` that is not an address */
export function openDirectory(options: DirectoryOptions): Directory {
  const list = new SessionList(options)
  const { requests } = list
  const create = async (init: object): Promise<string> => {
    const leave = () => requests.ask('session.close', {}).catch(() => {}) // it was created, whatever happens to the connection
    try {
      const { session } = await requests.ask('session.open', { ...init, from: 'now' }, { once: true })
      await leave()
      return session
    } catch (cause) {
      // Its answer is late: a connection follows one session at a time.
      if (list.isLive && (cause as ClientError).code === 'connection_failed') void leave()
      throw cause
    }
  }
  // A connection follows one session at a time.
  let creating: Promise<unknown> = Promise.resolve()
  return {
    getSnapshot: () => list.snapshot,
    subscribe: (listener) => list.listeners.on('change', listener),
    create: (init = {}) => {
      const created = creating.then(() => create(init))
      creating = created.catch(() => {}) // reported to its caller
      return created
    },
    rename: async (session, title) => void (await requests.ask('session.describe', { session, title })),
    delete: async (session) => {
      const isDone = (): boolean => list.snapshot.sessions.every(({ id }) => id !== session)
      await requests.ask('session.delete', { session }, { isDone })
    },
    approvals: async (query = {}) => await requests.ask('approval.list', query),
    decide: async (session, decision) =>
      void (await requests.ask('approval.decide', { ...decision, session }, { once: true })),
    close: () => list.end(createClosedError()),
  }
}

export const EMPTY_DIRECTORY: DirectorySnapshot = {
  status: 'connecting',
  isLoaded: false,
  sessions: [],
  more: false,
  error: undefined,
}

/** Sessions of a page, the maximum that the server returns. */
const PAGE = 200
const MOST = 1000

class SessionList implements WireUser {
  readonly world: World
  readonly listeners
  readonly requests: SessionRequests
  readonly ask: Wire['ask']
  snapshot = EMPTY_DIRECTORY
  isLive = false
  readonly #options: DirectoryOptions
  readonly #wire: Wire
  readonly #sessions = new Map<string, SessionInfo>()
  /** Sessions that left the list while it is read: they may still be on an arriving page. */
  readonly #removed = new Set<string>()

  constructor(options: DirectoryOptions) {
    const { world = platformWorld() } = options
    this.#options = options
    this.world = world
    this.listeners = createListeners<{ readonly change: undefined }>(
      (cause) =>
        void world.start(0, () => {
          throw cause
        }),
    )
    this.ask = (type, given, settle) => this.#wire.ask(type, given, settle)
    this.requests = new SessionRequests(this)
    this.#wire = openWire(options, this)
  }

  get isClosed(): boolean {
    return this.snapshot.status === 'closed'
  }

  complain(error: ClientError): void {
    this.#publish({ error })
  }

  end(error: ClientError): void {
    if (this.isClosed) return
    this.isLive = false
    this.#publish({ status: 'closed', ...(error.code !== 'session_closed' && { error }) })
    this.#wire.close(error)
    this.requests.close(error)
  }

  takeConnecting(): void {
    this.#publish({ status: 'connecting' })
  }

  /** Subscribes to changes before reading the list: a change is newer than the page that follows. */
  takeHello(): void {
    this.#sessions.clear()
    this.#removed.clear()
    this.ask('session.watch', {}, (answer) => {
      if (answer.ok) this.#readPage(undefined)
      else this.#fail(answer.error)
    })
  }

  takeNotice(notice: Notice): void {
    if (notice.type !== 'session.changed') return
    this.#takeChange(notice.change)
    if (this.isLive) this.#publish()
  }

  takeLoss(): void {
    this.isLive = false
    this.#publish({ status: 'waiting' })
  }

  #readPage(cursor: string | undefined): void {
    const { meta } = this.#options
    const query = { limit: PAGE, ...(meta && { meta }), ...(cursor !== undefined && { cursor }) }
    this.ask('session.list', query, (answer) => {
      if (answer.ok) this.#takePage(answer.value)
      else this.#fail(answer.error)
    })
  }

  #takePage({ sessions, cursor }: AnswerOf<'session.list'>): void {
    for (const info of sessions) {
      // A change reported before the page arrived is newer.
      const isOld = (this.#sessions.get(info.id)?.lastMs ?? -1) >= info.lastMs || this.#removed.has(info.id)
      if (!isOld) this.#takeChange({ type: 'changed', session: info })
    }
    if (cursor !== undefined && this.#sessions.size < (this.#options.most ?? MOST)) return this.#readPage(cursor)
    this.isLive = true
    this.#removed.clear()
    this.#publish({ status: 'open', isLoaded: true, error: undefined, more: cursor !== undefined })
    this.requests.resume()
  }

  #takeChange(change: SessionChange): void {
    const id = change.type === 'removed' ? change.id : change.session.id
    if (change.type === 'changed' && this.#fits(change.session)) this.#sessions.set(id, change.session)
    else {
      this.#sessions.delete(id)
      if (!this.isLive) this.#removed.add(id)
    }
  }

  #fits(info: SessionInfo): boolean {
    const wanted = Object.entries(this.#options.meta ?? {})
    return wanted.every(([name, value]) => JSON.stringify(info.meta[name]) === JSON.stringify(value))
  }

  /** The list is tried again with the next connection, or refused permanently. */
  #fail(error: ClientError): void {
    if (!error.retryable) return this.end(error)
    if (error.code !== 'connection_failed') this.complain(error)
    this.#wire.drop() // it may be open still: no answer came in time
  }

  #publish(change: Partial<DirectorySnapshot> = {}): void {
    this.snapshot = { ...this.snapshot, ...change }
    // While the list is read again, the known one stays.
    if (this.isLive) this.#sort()
    this.listeners.tell('change', undefined)
  }

  #sort(): void {
    const { most = MOST } = this.#options
    const sorted = [...this.#sessions.values()].sort((one, other) => other.lastMs - one.lastMs)
    const rest = sorted.splice(most)
    for (const { id } of rest) this.#sessions.delete(id)
    this.snapshot = { ...this.snapshot, sessions: sorted, more: this.snapshot.more || rest.length > 0 }
  }
}
