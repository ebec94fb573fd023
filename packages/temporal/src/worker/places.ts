// A worker's cache of sessions: their agents, and their folded logs. All of it can be dropped at any time.
import type { Agent, Host, Logger } from '@baton/core'
import { BatonError } from '@baton/core'
import type { AgentChoice, Catalog, CatalogOptions, SessionIdentity, SessionParts, SessionWorld } from '@baton/runtime'
import { createCatalog, findChildAgent, OpenWorld, SYSTEM_TIME } from '@baton/runtime'
import type { ChildIdentity, GoalTerms, Identity } from '../contract.ts'
import type { LiveBus } from '../live/live-bus.ts'
import { digest, digestMedia } from '../digest.ts'
import type { SessionLog } from '../session-view.ts'
import { SessionView } from '../session-view.ts'
import type { Submitter } from '../submitter.ts'
import { findMissing } from '@baton/core/machine'

export type WorkerCatalog = AgentChoice &
  Pick<CatalogOptions, 'modelOf' | 'defaultModel' | 'priceOf' | 'services' | 'secrets' | 'interruptMs'>

export interface PlacesOptions {
  readonly catalog: WorkerCatalog
  readonly store: SessionLog
  readonly bus: LiveBus
  readonly log: Logger
  readonly submitter: Submitter
  /** Opens sessions for running tools. */
  readonly openSession?: Host['session']
}

/** A session while work on it is done here. */
export interface Place {
  readonly view: SessionView
  readonly world: SessionWorld
  leave(): void
  /** Drops it: the session was removed. The next work opens whatever exists under its name now. */
  forget(): void
}

interface Known {
  readonly world: OpenWorld
  readonly opened: Promise<void>
  /** Created for the first work; decisions alone need no log. */
  view: Promise<SessionView> | undefined
  users: number
  usedMs: number
}

/** Milliseconds to remember an unused session, and the maximum number to remember. */
const REMEMBERED_MS = 60_000
const REMEMBERED_MAX = 1000
/** Milliseconds an interrupted model has to report its text so far: an abort travels over the network. */
const INTERRUPT_MS = 5000

export class Places {
  readonly #init: PlacesOptions
  readonly #catalog: Catalog
  readonly #known = new Map<string, Known>()
  /** Goals of sessions whose agent is being opened. */
  readonly #terms = new Map<string, GoalTerms>()
  #isClosed = false

  constructor(init: PlacesOptions) {
    this.#init = init
    const { store, log, catalog, openSession } = init
    this.#catalog = createCatalog({
      interruptMs: INTERRUPT_MS,
      ...catalog,
      agentOf: (session) => this.#choose(session),
      runsChildren: true,
      environment: SYSTEM_TIME,
      blobs: store.blobs,
      log,
      digest,
      digestMedia,
      ...(openSession && { openSession }),
    })
  }

  /**
   * Returns the agent with its tools, and the log up to its current end. @throws BatonError `invalid_agent`,
   * `store_failed`
   */
  async enter(identity: Identity): Promise<Place> {
    const known = this.#find(identity)
    // Counted before the wait: otherwise it could be dropped meanwhile.
    known.users += 1
    const leave = (): void => {
      known.users -= 1
      known.usedMs = Date.now()
      this.#forget()
    }
    try {
      await known.opened
      known.view ??= this.#openView(identity, known)
      const forget = (): void => this.#drop(identity, known)
      return { view: await known.view, world: known.world.current, leave, forget }
    } catch (cause) {
      known.view = undefined
      leave()
      throw cause
    }
  }

  /** Returns the agent with its tools. @throws BatonError `invalid_agent` */
  async findWorld(identity: Identity): Promise<SessionWorld> {
    const known = this.#find(identity)
    await known.opened
    this.#forget()
    return known.world.current
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const all = [...this.#known.values()]
    this.#known.clear()
    for (const { view } of all) closeView(view)
    await Promise.all(all.map(({ world }) => world.dispose()))
  }

  /** Returns the session as it is known, or opens it. */
  #find(identity: Identity): Known {
    const key = keyOf(identity)
    const before = this.#known.get(key)
    if (before) {
      before.usedMs = Date.now()
      // The map is ordered by last use, and `#forget` drops the least recently used first.
      this.#known.delete(key)
      this.#known.set(key, before)
      return before
    }
    const known = this.#begin(identity)
    this.#known.set(key, known)
    // The next request opens it again.
    known.opened.catch(() => this.#known.get(key) === known && this.#known.delete(key))
    return known
  }

  #begin({ session, agent, principal, meta, goal, child }: Identity): Known {
    const submit = this.#init.submitter.submitTo(session)
    const world = new OpenWorld({
      catalog: this.#catalog,
      onChange: () => void submit([{ type: 'agent-changed' }]).catch(() => {}),
      isClosed: () => this.#isClosed,
    })
    const open = async (): Promise<void> => {
      if (goal) this.#terms.set(session, goal)
      try {
        const given = child && (await this.#findChildAgent(child))
        await world.open({ id: session, agent, principal: { id: principal }, meta }, given)
      } finally {
        this.#terms.delete(session)
      }
    }
    return { world, opened: open(), view: undefined, users: 0, usedMs: Date.now() }
  }

  /** @throws BatonError `tool_gone`, `invalid_tool`, and what opening the caller's agent throws */
  async #findChildAgent({ caller, place }: ChildIdentity): Promise<Agent> {
    const name = place.tools.at(-1) ?? ''
    return findChildAgent(await this.findWorld(caller), { callId: place.callId, name })
  }

  async #openView(identity: Identity, known: Known): Promise<SessionView> {
    const { store, bus, log, submitter } = this.#init
    const { session } = identity
    const { world } = known
    const onRemoved = (): void => this.#drop(identity, known)
    const view = new SessionView({ session, store, bus, log, world, update: submitter.submitTo(session), onRemoved })
    try {
      await view.open()
      return view
    } catch (cause) {
      view.close()
      throw cause
    }
  }

  /** Another session of this name may be known by now, and stays. */
  #drop(identity: Identity, known: Known): void {
    const key = keyOf(identity)
    if (this.#known.get(key) === known) this.#known.delete(key)
    closeView(known.view)
    void known.world.dispose()
  }

  /** Drops unused places: those idle for long, and the oldest if there are too many. */
  #forget(): void {
    const beforeMs = Date.now() - REMEMBERED_MS
    for (const [key, known] of this.#known) {
      const isOver = known.usedMs < beforeMs || this.#known.size > REMEMBERED_MAX
      if (known.users > 0 || !isOver) continue
      this.#known.delete(key)
      closeView(known.view)
      void known.world.dispose()
    }
  }

  /** @throws BatonError `invalid_agent` if this worker has no agent of that name */
  async #choose(session: SessionIdentity): Promise<Agent | SessionParts> {
    const { agentOf, agents = [], agent: only } = this.#init.catalog
    const named = [...agents, ...(only ? [only] : [])].find(({ name }) => name === session.agent)
    const chosen = (await agentOf?.(session)) ?? named ?? (session.agent === '' ? (only ?? agents[0]) : undefined)
    if (!chosen) throw createUnknownAgentError(session.agent, agents, only)
    const terms = this.#terms.get(session.id)
    if (!terms) return chosen
    return 'agent' in chosen ? { ...chosen, agent: narrowAgent(chosen.agent, terms) } : narrowAgent(chosen, terms)
  }
}

/** Contains everything that an agent is chosen by: a new session of this name may have another owner. */
function keyOf(identity: Identity): string {
  return JSON.stringify(identity)
}

function closeView(view: Promise<SessionView> | undefined): void {
  view?.then((opened) => opened.close()).catch(() => {})
}

function createUnknownAgentError(name: string, agents: readonly Agent[], only: Agent | undefined): BatonError {
  const names = [...agents, ...(only ? [only] : [])].map((agent) => agent.name).join(', ')
  return new BatonError({
    code: 'invalid_agent',
    message: name === '' ? 'the worker has no agent' : `the worker has no agent "${name}"`,
    hint: names === '' ? 'Pass `agent` or `agents` to the worker.' : `It has ${names}.`,
  })
}

/**
 * The agent of a goal: the named agent, with the goal's tools, verdict and limits.
 * @throws BatonError `invalid_agent` with what the agent lacks
 */
export function narrowAgent(agent: Agent, { tools, outputSchema, limits }: GoalTerms): Agent {
  const unknown = (tools ?? []).filter((name) => !agent.tools.some((tool) => tool.name === name))
  if (unknown.length > 0) {
    const names = agent.tools.map(({ name }) => name).join(', ')
    throw refuse(agent, `has no tool ${unknown.map((name) => `"${name}"`).join(', ')}; it has ${names}`)
  }
  const [needed] = findMissing(agent).filter((name) => tools && !tools.includes(name))
  if (needed !== undefined)
    throw refuse(agent, `must call its tool "${needed}" before it answers, so the goal's tools must include it`)
  if (outputSchema && outputSchema['type'] !== 'object')
    throw refuse(agent, 'cannot return that verdict: the root of outputSchema must have the type "object"')
  for (const [name, value] of Object.entries(limits ?? {}))
    if (!Object.hasOwn(agent.limits, name) || !(Number.isFinite(value) && value > 0))
      throw refuse(
        agent,
        `cannot have the limit "${name}" of ${value}; its limits are ${Object.keys(agent.limits).join(', ')}, with values above 0`,
      )
  return {
    ...agent,
    ...(tools && { tools: agent.tools.filter(({ name }) => tools.includes(name)), sources: [] }),
    ...(outputSchema && { output: outputSchema as NonNullable<Agent['output']>, outputSchema }), // a JSON Schema is one
    limits: { ...agent.limits, ...limits },
  }
}

function refuse(agent: Agent, why: string): BatonError {
  return new BatonError({ code: 'invalid_agent', message: `the goal cannot be judged: agent "${agent.name}" ${why}` })
}
