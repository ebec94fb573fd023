// Manages one MCP client's calls: the sessions that run them one at a time, calls by idempotency key, and conversations
// with the agent.
import type { Agent, Host, JsonObject, Principal, Session } from '@baton/core'
import { BatonError } from '@baton/core'
import { frontOf } from '@baton/core/internal'
import { writeCall } from './direct-agent.ts'
import type { Finish } from './live-call.ts'
import { LiveCall } from './live-call.ts'
import type { ServerParts } from './options.ts'

export interface ClientCallsOptions {
  readonly host: Host
  readonly parts: ServerParts
  readonly principal: Principal
  /** The agent whose sessions run single calls. */
  readonly direct: Agent
  /** Calls started by the principal's clients, by key. */
  readonly begun: Map<string, Promise<CallPlace>>
  /** Called when a call has ended, and when the client has disconnected. */
  readonly onRelease?: (calls: ClientCalls) => void
}

export interface CallStart {
  /** Whether the client can ask its user. */
  readonly asks: boolean
  /** The client's key: a repeated call with the same key does not run again. */
  readonly key?: string
  readonly finish: Finish
}

/** Identifies a running call. With it, any process can lead a returning client back to the call. */
export interface CallPlace {
  readonly session: string
  readonly inputId: string
  readonly type: 'tool' | 'agent'
}

interface Lane {
  readonly session: Session
  calls: number
}

/** Calls before a new session replaces this one. */
const LANE_CALLS = 256
/** Maximum remembered keys. */
const KEYS = 1_000
const CONVERSATION = /^mcp_[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export class ClientCalls {
  readonly #init: ClientCallsOptions
  readonly #live = new Map<string, LiveCall>()
  #idle: Lane[] = []
  #running = 0
  #isClosed = false

  constructor(init: ClientCallsOptions) {
    this.#init = init
  }

  get principal(): Principal {
    return this.#init.principal
  }

  get isBusy(): boolean {
    return this.#running > 0
  }

  /** Whether its client is connected, or a call of it runs. */
  get isInUse(): boolean {
    return this.isBusy || !this.#isClosed
  }

  /** @throws BatonError `rate_limited` (too many concurrent calls), and as `host.session` does */
  async call(name: string, input: JsonObject, start: CallStart): Promise<LiveCall> {
    return await this.#begin('tool', `${name}\n${start.key ?? ''}`, start, async (inputId) => {
      const lane = await this.#takeLane()
      const turn = (signal: AbortSignal): ReturnType<Session['send']> =>
        lane.session.send(writeCall(name, input), { inputId, asks: start.asks, signal })
      const onEnd = (): void => this.#releaseLane(lane)
      return this.#follow({ session: lane.session, turn, finish: start.finish, onEnd, tellsSteps: false })
    })
  }

  /** @throws BatonError `invalid_option` for an invalid conversation; otherwise as `call` does */
  async ask(message: string, conversation: string | undefined, start: CallStart): Promise<LiveCall> {
    if (conversation !== undefined && !CONVERSATION.test(conversation))
      throw new BatonError({
        code: 'invalid_option',
        message: `there is no conversation "${conversation.slice(0, 100)}"`,
        hint: 'Leave it out to start a new one, or pass the one from an earlier answer.',
      })
    const { host, parts, principal } = this.#init
    return await this.#begin('agent', `\n${start.key ?? ''}`, start, async (inputId) => {
      const id = conversation ?? `mcp_${crypto.randomUUID()}`
      const session = await host.session(id, { agent: parts.agent, principal })
      const turn = (signal: AbortSignal): ReturnType<Session['send']> =>
        session.send(message, { inputId, asks: start.asks, signal })
      const onEnd = (): void => this.#closeSession(session)
      return this.#follow({ session, turn, finish: start.finish, onEnd, tellsSteps: true })
    })
  }

  /** Finds a call that started earlier, here or in another process. @throws BatonError as `host.session` does */
  async find({ session: id, inputId, type }: CallPlace, finish: Finish): Promise<LiveCall> {
    const live = this.#live.get(inputId)
    if (live) return live
    const { host, direct, parts, principal } = this.#init
    const session = await host.session(id, { agent: type === 'tool' ? direct : parts.agent, principal })
    // Another request may have found it meanwhile.
    const shared = this.#live.get(inputId)
    if (shared) {
      this.#closeSession(session)
      return shared
    }
    this.#running += 1
    const onEnd = (): void => this.#closeSession(session)
    const cancel = (): void =>
      void frontOf(session)
        .takeBack(inputId)
        .catch(() => {}) // its session has ended
    const found = new LiveCall({
      session,
      turn: session.turn(inputId),
      tellsSteps: type === 'agent',
      cancel,
      finish,
      onEnd: () => this.#end(inputId, onEnd),
    })
    this.#live.set(inputId, found)
    return found
  }

  /** The client has disconnected. Its running calls run to their end. */
  close(): void {
    this.#isClosed = true
    this.closeIdle()
    this.#init.onRelease?.(this)
  }

  closeIdle(): void {
    for (const { session } of this.#idle) this.#closeSession(session)
    this.#idle = []
  }

  /** Cancels all calls. */
  cancelAll(): void {
    for (const live of this.#live.values()) live.cancel()
  }

  async #begin(
    type: CallPlace['type'],
    keyed: string,
    { key, finish }: CallStart,
    begin: (inputId: string) => Promise<LiveCall>,
  ): Promise<LiveCall> {
    const begun = key === undefined ? undefined : this.#init.begun.get(keyed)
    if (begun) return await this.find(await begun, finish)
    const { calls } = this.#init.parts.limits
    if (this.#running >= calls)
      throw new BatonError({
        code: 'rate_limited',
        message: `this client has ${calls} calls that run or wait for a person, which is the limit`,
        hint: 'Wait for one to end, or increase limits.calls.',
      })
    this.#running += 1
    const starting = begin(crypto.randomUUID())
    if (key !== undefined) this.#remember(keyed, type, starting)
    try {
      return await starting
    } catch (cause) {
      this.#countDown()
      throw cause
    }
  }

  #countDown(): void {
    this.#running -= 1
    this.#init.onRelease?.(this)
  }

  #remember(keyed: string, type: CallPlace['type'], starting: Promise<LiveCall>): void {
    const place = starting.then(({ session, inputId }) => ({ session: session.id, inputId, type }))
    const { begun } = this.#init
    begun.set(keyed, place)
    place.catch(() => begun.delete(keyed)) // it did not start
    const [oldest] = begun.keys()
    if (begun.size > KEYS && oldest !== undefined) begun.delete(oldest)
  }

  #follow({ session, turn, finish, onEnd, tellsSteps }: Following): LiveCall {
    const ending = new AbortController()
    const asked = turn(ending.signal)
    const live = new LiveCall({
      session,
      turn: asked,
      tellsSteps,
      cancel: () => ending.abort(),
      finish,
      onEnd: () => this.#end(asked.id, onEnd),
    })
    this.#live.set(asked.id, live)
    return live
  }

  #end(inputId: string, onEnd: () => void): void {
    this.#live.delete(inputId)
    onEnd()
    this.#countDown()
  }

  async #takeLane(): Promise<Lane> {
    const lane = this.#idle.pop()
    if (lane) return lane
    const { host, direct, principal } = this.#init
    return { session: await host.session(undefined, { agent: direct, principal }), calls: 0 }
  }

  #releaseLane(lane: Lane): void {
    lane.calls += 1
    if (this.#isClosed || lane.calls >= LANE_CALLS) this.#closeSession(lane.session)
    else this.#idle.push(lane)
  }

  #closeSession(session: Session): void {
    const { log } = this.#init.parts
    session
      .close()
      .catch((cause: unknown) =>
        log.warn('a session of an MCP client could not be closed', { session: session.id, cause: String(cause) }),
      )
  }
}

interface Following {
  readonly session: Session
  readonly turn: (signal: AbortSignal) => ReturnType<Session['send']>
  readonly finish: Finish
  readonly onEnd: () => void
  readonly tellsSteps: boolean
}
