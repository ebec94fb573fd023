// Reads sessions for operators: through the engine if they are open in this process, otherwise from their log, which is
// polled for new records. Writes nothing and takes no lease.
import type {
  Agent,
  Environment,
  Logger,
  LogOptions,
  Principal,
  RebuiltRequest,
  SessionView,
  SessionViews,
  ViewedChild,
} from '@baton/core/internal'
import { BatonError, defineAgent } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import type { Catalog, SessionWorld } from '../catalog/catalog.ts'
import { createCatalog } from '../catalog/catalog.ts'
import { nameChild } from '../catalog/child-agent.ts'
import { hideSecrets } from '../describe-thrown.ts'
import type { SessionEngine } from '../engine.ts'
import { rebuildRequest } from './rebuild-request.ts'
import { refuseInputs } from './read-child.ts'
import type { ViewedStore } from './followed-session.ts'
import { FollowedSession, READ_ONLY } from './followed-session.ts'
import { readOpening } from './session-directory.ts'
import { createSession } from './session.ts'

export interface SessionViewerOptions {
  readonly store: ViewedStore
  readonly environment: Pick<Environment, 'clock' | 'timers' | 'newId'>
  readonly log: Logger
  readonly digest: (text: string) => string
  readonly digestMedia: (base64: string) => string
  /** Agents of the host; absent where none are known. */
  readonly catalog?: Pick<Catalog, 'find' | 'open'>
  /** Returns the session if it is open in this process. */
  readonly findOpen?: (session: string) => SessionEngine | undefined
  readonly secrets?: readonly string[] | undefined
}

/** Maximum sessions kept without readers; the oldest are dropped first. */
const RESTING_MAX = 8

export class SessionViewer implements SessionViews {
  readonly #init: SessionViewerOptions
  readonly #placeholders: Pick<Catalog, 'open'>
  /** By session, least recently used first. Views of the same session share one. */
  readonly #followed = new Map<string, Promise<FollowedSession>>()

  constructor(given: SessionViewerOptions) {
    // A reader keeps no texts: those of a request are in the store since it was sent.
    const { blobs } = given.store
    const store: ViewedStore = {
      read: (session, fromPos) => given.store.read(session, fromPos),
      children: (root, options) => given.store.children(root, options),
      blobs: {
        put: () => Promise.resolve(),
        get: (session, name) => blobs.get(session, name),
        names: (session) => blobs.names(session),
      },
    }
    this.#init = { ...given, store }
    const { environment, log, digest, digestMedia } = given
    const shared = { environment, log, digest, digestMedia, blobs: store.blobs, runsChildren: true }
    this.#placeholders = createCatalog({ ...shared, agent: createPlaceholder(UNKNOWN, UNKNOWN), modelOf: refuseModel })
  }

  hideSecrets(text: string): string {
    return hideSecrets(text, this.#init.secrets)
  }

  async ownerOf(session: string): Promise<Principal | undefined> {
    const opened = await readOpening(this.#init.store, session)
    return opened && { id: opened.principal }
  }

  log(session: string, { fromPos = 0, path = [] }: LogOptions = {}): AsyncIterable<SessionRecord> {
    return this.#init.store.read(this.#name(session, path), fromPos)
  }

  async children(session: string): Promise<readonly ViewedChild[]> {
    return await listChildren(this.#init.store, session)
  }

  async request(session: string, attempt: number, path: readonly string[] = []): Promise<RebuiltRequest> {
    const name = this.#name(session, path)
    const openWorld = path.length === 0 ? this.#init.findOpen?.(session)?.world : undefined
    const placeholder = (agent: string): Promise<SessionWorld> => this.#openPlaceholder(name, agent)
    return await rebuildRequest(attempt, { ...this.#init, session: name, openWorld, placeholder })
  }

  async longResult(session: string, handle: string, path: readonly string[] = []): Promise<string | undefined> {
    return await this.#init.store.blobs.get(this.#name(session, path), `result/${handle}`)
  }

  async open(session: string): Promise<SessionView> {
    const { findOpen, environment } = this.#init
    const open = findOpen?.(session)
    const followed = open ? undefined : await this.#join(session)
    const engine = refuseInputs(open ?? followed?.engine ?? unreachable(), READ_ONLY)
    return createSession({
      engine,
      principal: { id: engine.state().principal },
      newId: () => environment.newId(),
      wallMs: () => environment.clock.nowMs(),
      onClose: () => followed?.leave(),
      fork: () => Promise.reject(new BatonError(READ_ONLY)),
    })
  }

  #name(session: string, path: readonly string[]): string {
    return path.reduce((above, callId) => nameChild(this.#init.digest, above, callId), session)
  }

  /**
   * Adds a reader to a session, up to date with its log.
   * @throws BatonError `unknown_session`, `store_failed`, `log_damaged`
   */
  async #join(session: string): Promise<FollowedSession> {
    const following = this.#followed.get(session) ?? this.#follow(session)
    this.#followed.delete(session)
    this.#followed.set(session, following)
    try {
      const followed = await following
      if (await followed.join()) return await this.#nameModel(followed)
    } catch (cause) {
      this.#drop(session, following)
      throw cause
    }
    // The session was removed; a new one may have its name.
    this.#drop(session, following)
    return await this.#join(session)
  }

  #drop(session: string, following: Promise<FollowedSession>): void {
    if (this.#followed.get(session) === following) this.#followed.delete(session)
  }

  async #keepResting(): Promise<void> {
    const kept = await Promise.all([...this.#followed.values()].map((one) => one.catch(() => undefined)))
    const resting = kept.filter((one) => one?.isResting === true)
    for (const one of resting.slice(0, Math.max(0, resting.length - RESTING_MAX))) one?.close()
  }

  /** @throws BatonError `unknown_session`, `store_failed`, `log_damaged` */
  async #follow(session: string): Promise<FollowedSession> {
    const { store, environment, log, digest } = this.#init
    const opened = await readOpening(store, session)
    if (!opened) throw createUnknownError(session)
    const world = { current: await this.#describe(session, opened.agent) }
    const follow = (callId: string): Promise<FollowedSession | undefined> =>
      this.#join(nameChild(digest, session, callId)).catch(() => undefined)
    const onRest = (): void => void this.#keepResting()
    const onClose = (): void => void this.#followed.delete(session)
    const parts = { store, timers: environment.timers, log, follow, onRest, onClose }
    const followed = new FollowedSession({ session, world, ...parts })
    await followed.read()
    return followed
  }

  /** Names the model of an unknown agent from the log. */
  async #nameModel(followed: FollowedSession): Promise<FollowedSession> {
    const { model, engine, world } = followed
    if (model !== undefined && world.current.agent.models[0] === UNKNOWN)
      world.current = await this.#openPlaceholder(engine.session, world.current.agent.name, model)
    return followed
  }

  /** The session's agent without its sources, which a look must not connect to. */
  async #describe(session: string, name: string): Promise<SessionWorld> {
    const { catalog, store } = this.#init
    try {
      // A view stores nothing, so it gets blobs without writes.
      if (catalog)
        return {
          ...(await catalog.open(identify(session, name), { ...catalog.find(name), sources: [] })),
          blobs: store.blobs,
        }
    } catch {
      // Another process has the agent, or `agentOf` chooses it.
    }
    return await this.#openPlaceholder(session, name)
  }

  async #openPlaceholder(session: string, name: string, model = UNKNOWN): Promise<SessionWorld> {
    return await this.#placeholders.open(identify(session, name), createPlaceholder(name, model))
  }
}

function unreachable(): never {
  throw new BatonError({ code: 'internal', message: 'a session is neither open nor followed' })
}

function createUnknownError(session: string): BatonError {
  return new BatonError({ code: 'unknown_session', message: `there is no session ${session}` })
}

/** The model of an agent that is not known here, before its log names one. */
const UNKNOWN = 'unknown'

function createPlaceholder(name: string, model: string): Agent {
  return defineAgent({ name, instructions: '', model })
}

function refuseModel(id: string): never {
  throw new BatonError({ code: 'unknown_model', message: `a reader calls no models: ${id}` })
}

function identify(id: string, agent: string) {
  return { id, agent, principal: { id: '' }, meta: {} }
}

/** Sessions below a root, in the order in which they began. @throws BatonError `store_failed`, `log_damaged` */
async function listChildren(store: ViewedStore, root: string): Promise<readonly ViewedChild[]> {
  interface Found extends Omit<ViewedChild, 'path'> {
    readonly above: string
    readonly beganMs: number
  }
  const found = new Map<string, Found>()
  for await (const { session } of store.children(root))
    for await (const { facts, wallMs, nowMs } of store.read(session, 0)) {
      const opened = facts.find(({ type }) => type === 'session-opened')
      const child = facts.find(({ type }) => type === 'child-opened')
      if (opened?.type === 'session-opened' && child?.type === 'child-opened') {
        const { callId, tools, session: above } = child
        found.set(session, { session, callId, tools, agent: opened.agent, above, beganMs: wallMs ?? nowMs })
      }
      break
    }
  const pathOf = ({ above, callId }: Found): readonly string[] => {
    const caller = found.get(above)
    return caller ? [...pathOf(caller), callId] : [callId]
  }
  return [...found.values()]
    .toSorted((one, other) => one.beganMs - other.beganMs)
    .map((one) => ({
      session: one.session,
      callId: one.callId,
      path: pathOf(one),
      tools: one.tools,
      agent: one.agent,
    }))
}
