// An agent that listens to a conversation between people: what it hears goes into a session, and what it says and does comes
// out as events.
import type {
  Accepted,
  Agent,
  AgentCall,
  EventCursor,
  Host,
  JsonValue,
  Principal,
  Session,
  SessionEvent,
  Tool,
  TranscriptEntry,
} from '@baton/core'
import { BatonError, checkFields, checkKinds, defineAgent, describeValue, isBatonError } from '@baton/core'
import { checkAgent } from '../catalog/catalog-refusals.ts'
import { describeThrown } from '../describe-thrown.ts'
import type { StepText } from './step-texts.ts'
import { StepTexts } from './step-texts.ts'

export interface ListenerEvents<A extends Agent = Agent> {
  /** Words of the agent: the text of a step, if it has any, once the step has ended. */
  readonly 'agent:response': StepText
  /** A call that has settled, with its `name`, `input` and `result`. */
  readonly 'agent:tool_call': AgentCall<A>
  /**
   * A turn failed, the session was closed here (`session_closed`; `start` goes on), or a handler threw or rejected
   * (`handler_failed`). After a failed turn the agent keeps what it heard, and the next input makes it try again. Without a
   * handler of this name, what other handlers throw is an uncaught exception.
   */
  readonly error: BatonError
}

export interface ListenerOptions {
  /** The session's id: the same one goes on where it was, with what it had heard. A new session by default. */
  readonly session?: string
  readonly principal?: Principal
  /** Whether somebody decides on approvals and answers questions, by `listener.session`. If not (the default), they are denied at once. */
  readonly asks?: boolean
  /**
   * First tells what came after this place: the `cursor` of an earlier listener. By default it tells what comes from now on. So it
   * does after an `error` event if the session has no such place, because it was removed and made anew.
   */
  readonly cursor?: EventCursor
}

export interface ListenerEvent {
  /** The event's name, in one line. */
  readonly type: string
  /** Detail of the event, which the model reads as indented JSON. */
  readonly detail?: JsonValue
  /** In words, for the model. */
  readonly message?: string
  /** In brackets before the type: `Negotiation Event`. `Event` by default. */
  readonly label?: string
  /**
   * `soon` (the default): the next model call reads it, also within a running turn. `interrupt`: the running turn ends, and the
   * agent answers anew.
   */
  readonly urgency?: 'soon' | 'interrupt'
  /** An id that the session knows already does nothing. */
  readonly inputId?: string
}

export interface Listener<A extends Agent = Agent> {
  /**
   * Opens the session, or goes on after `pause` and `stop`, with other instructions and tools where they are given. Entries that
   * waited when it stopped are read at once.
   * @throws BatonError as `host.session` and `defineAgent`
   */
  start(instructions?: string, tools?: readonly Tool[]): Promise<void>
  /**
   * Passes on a speaker's words. The agent reads entries together: after a silence, or when there are enough (`batch` of the agent).
   * Leave out what the agent itself said.
   * @throws BatonError `session_stopped`, `illegal_input` (not started), `invalid_transcript`, `queue_full`, `store_failed`
   */
  push(entry: TranscriptEntry): Promise<Accepted>
  /** Passes on an event. The agent reads it at once, after the entries that wait. @throws BatonError as `push`, `invalid_event` */
  event(event: ListenerEvent): Promise<Accepted>
  /**
   * Calls no model until `start`; what comes meanwhile is kept.
   * @throws BatonError `session_stopped`, `illegal_input` (not started), `store_failed`
   */
  pause(): Promise<void>
  /**
   * Ends the running turn: its calls settle, and nothing is called until `start`. What comes meanwhile is refused.
   * @throws BatonError `illegal_input` (not started), `store_failed`
   */
  stop(): Promise<void>
  /** Stops telling events, and closes the handle. The session lives on in its store. */
  close(): Promise<void>
  /**
   * Calls `handler` with each event of this name, in order and without waiting for its promise; the returned function removes it.
   * @throws BatonError `invalid_option` for a name that does not exist, and for a handler that is not a function
   */
  on<Name extends keyof ListenerEvents>(name: Name, handler: (event: ListenerEvents<A>[Name]) => unknown): () => void
  /**
   * The cursor at which the next listener continues: behind the last event that was told, in its handlers too, and before the text of a step
   * that is still being written.
   */
  readonly cursor: EventCursor | undefined
  /** For all else: approvals, `messages`, `events`. @throws BatonError `illegal_input` before `start` */
  readonly session: Session<A>
}

/**
 * An agent that listens. It may say nothing; then no event is told and nothing is stored. Nothing runs before `start`.
 * @throws BatonError `invalid_option`, `invalid_agent`
 */
export function createListener<A extends Agent>(
  host: Pick<Host, 'session'>,
  agent: A,
  options: ListenerOptions = {},
): Listener<A> {
  if (typeof (host as Partial<typeof host> | undefined)?.session !== 'function')
    throw createOptionError(`createListener(host, agent) needs a host, not ${describeValue(host)}`)
  checkAgent(agent)
  checkFields(options, { what: 'createListener', code: 'invalid_option', fields: OPTIONS })
  checkKinds(options, { what: 'createListener', code: 'invalid_option', kinds: { asks: 'true or false' } })
  return new SessionListener(host, agent, options)
}

const OPTIONS = new Set(['session', 'principal', 'asks', 'cursor'])
const EVENT_FIELDS: ReadonlySet<string> = new Set<keyof ListenerEvent>([
  'type',
  'detail',
  'message',
  'label',
  'urgency',
  'inputId',
])
/** As a session's `notify` has them. */
const EVENT_ELSEWHERE = { name: 'type', delivery: 'urgency' }

type Handler<A extends Agent, Name extends keyof ListenerEvents> = (event: ListenerEvents<A>[Name]) => unknown

type Handlers<A extends Agent> = { readonly [Name in keyof ListenerEvents]: Set<Handler<A, Name>> }

class SessionListener<A extends Agent> implements Listener<A> {
  readonly #host: Pick<Host, 'session'>
  readonly #options: ListenerOptions
  readonly #handlers: Handlers<A> = { 'agent:response': new Set(), 'agent:tool_call': new Set(), error: new Set() }
  readonly #texts = new StepTexts()
  #agent: A
  #session: Session<A> | undefined
  /** Behind the last event that was read. */
  #read: EventCursor | undefined
  /** The same, but before the text of a step that is still being written. */
  #cursor: EventCursor | undefined
  /** One start, pause, stop or close at a time. */
  #acting: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(host: Pick<Host, 'session'>, agent: A, options: ListenerOptions) {
    this.#host = host
    this.#agent = agent
    this.#options = options
    this.#read = options.cursor
    this.#cursor = options.cursor
  }

  get cursor(): EventCursor | undefined {
    return this.#cursor
  }

  get session(): Session<A> {
    if (this.#session) return this.#session
    throw this.#createUnopened()
  }

  start(instructions?: string, tools?: readonly Tool[]): Promise<void> {
    return this.#act(() => this.#start(instructions, tools))
  }

  async push(entry: TranscriptEntry): Promise<Accepted> {
    const isEntry = typeof entry === 'object' && entry !== null
    return await this.session.hear(isEntry ? { ...this.#asks(), ...entry } : entry)
  }

  async event(given: ListenerEvent): Promise<Accepted> {
    checkEvent(given)
    const { type, urgency = 'soon', ...event } = given
    const delivery = urgency === 'interrupt' ? 'interrupt' : 'steer'
    return await this.session.notify({ ...this.#asks(), ...event, name: type, delivery })
  }

  pause(): Promise<void> {
    return this.#act(async () => {
      if (this.session.phase !== 'paused') await this.session.control('pause')
    })
  }

  stop(): Promise<void> {
    return this.#act(async () => {
      if (this.session.phase !== 'stopped') await this.session.control('stop')
    })
  }

  close(): Promise<void> {
    return this.#act(async () => {
      this.#isClosed = true
      const session = this.#session
      this.#session = undefined
      await session?.close()
    })
  }

  on<Name extends keyof ListenerEvents>(name: Name, handler: Handler<A, Name>): () => void {
    if (!Object.hasOwn(this.#handlers, name))
      throw createOptionError(
        `a listener has the events ${Object.keys(this.#handlers).join(', ')}, but not ${describeValue(name)}`,
      )
    if (typeof handler !== 'function')
      throw createOptionError(`a handler of ${name} must be a function, not ${describeValue(handler)}`)
    const handlers = this.#handlers[name]
    handlers.add(handler)
    return () => void handlers.delete(handler)
  }

  #act(act: () => Promise<void>): Promise<void> {
    const acted = this.#acting.then(act)
    this.#acting = acted.catch(() => {})
    return acted
  }

  async #start(instructions: string | undefined, tools: readonly Tool[] | undefined): Promise<void> {
    if (this.#isClosed) throw this.#createUnopened()
    const agent = this.#define(instructions, tools)
    const before = this.#session
    const { session: id = before?.id, principal } = this.#options
    const session = await this.#host.session(id, { agent, ...(principal && { principal }) })
    this.#agent = agent
    this.#session = session
    void this.#follow(session)
    await before?.close()
    if (session.phase === 'stopped') await session.control('start')
    else if (session.phase === 'paused') await session.control('continue')
  }

  #define(instructions: string | undefined, tools: readonly Tool[] | undefined): A {
    const agent = this.#agent
    if (instructions === undefined && tools === undefined && agent.emptyAnswer === 'silence') return agent
    return defineAgent({
      ...agent,
      model: agent.models,
      emptyAnswer: 'silence',
      ...(instructions !== undefined && { instructions }),
      ...(tools && { tools }),
    }) as Agent as A // of other tools, the names and types of its calls are theirs
  }

  #createUnopened(): BatonError {
    return new BatonError({
      code: 'illegal_input',
      message: this.#isClosed ? 'the listener is closed' : 'the listener has not been started',
      hint: this.#isClosed ? 'Create another one.' : 'Call start() first.',
    })
  }

  #asks(): { readonly asks?: false } {
    return this.#options.asks === true ? {} : { asks: false }
  }

  /** Never rejects. */
  async #follow(session: Session<A>): Promise<void> {
    try {
      for await (const event of session.events({ from: this.#read ?? 'now' })) {
        if (session !== this.#session) return
        this.#take(event)
      }
      if (session === this.#session)
        this.#tell(
          'error',
          new BatonError({
            code: 'session_closed',
            message: `session ${session.id} was closed here: its store failed, another process has it, or the host was stopped`,
            hint: 'Nothing is told any more. Call start() to go on, with what came meanwhile.',
          }),
        )
    } catch (cause) {
      if (session !== this.#session) return
      this.#tell('error', toError(cause))
      if (this.#read === undefined || !isBatonError(cause) || cause.code !== 'invalid_event') return
      this.#read = undefined
      this.#cursor = undefined
      await this.#follow(session)
    }
  }

  #take(event: SessionEvent<AgentCall<A>>): void {
    const said = this.#texts.take(event)
    // Before handlers are called: what they keep beside the event is the place behind it.
    this.#read = event.cursor
    if (!this.#texts.isWriting) this.#cursor = event.cursor
    if (said) this.#tell('agent:response', said)
    if (event.type === 'call' && event.call.status === 'settled') this.#tell('agent:tool_call', event.call)
    else if (event.type === 'turn-finished' && event.error) this.#tell('error', new BatonError(event.error))
  }

  #tell<Name extends keyof ListenerEvents>(name: Name, event: ListenerEvents<A>[Name]): void {
    for (const handler of this.#handlers[name]) void this.#call(name, () => handler(event))
  }

  /** Never rejects. */
  async #call(name: keyof ListenerEvents, handle: () => unknown): Promise<void> {
    try {
      await handle()
    } catch (cause) {
      this.#tellThrown(name, cause)
    }
  }

  /** Reports an error. An exception of the handler itself is left to the program, as any uncaught one. */
  #tellThrown(name: keyof ListenerEvents, cause: unknown): void {
    if (name === 'error' || this.#handlers.error.size === 0) {
      queueMicrotask(() => {
        throw cause
      })
      return
    }
    const message = `a handler of ${name} threw: ${describeThrown(cause)}`
    this.#tell('error', new BatonError({ code: 'handler_failed', message, cause }))
  }
}

/** @throws BatonError `invalid_event` */
function checkEvent(event: ListenerEvent): void {
  const what = 'an event of a listener'
  checkFields(event, { what, code: 'invalid_event', fields: EVENT_FIELDS, elsewhere: EVENT_ELSEWHERE })
  if (event.type === undefined) throw new BatonError({ code: 'invalid_event', message: `${what} has no type` })
  checkKinds(event, { what, code: 'invalid_event', kinds: { type: 'text', urgency: ['soon', 'interrupt'] } })
}

function createOptionError(message: string): BatonError {
  return new BatonError({ code: 'invalid_option', message })
}

function toError(cause: unknown): BatonError {
  return isBatonError(cause) ? cause : new BatonError({ code: 'internal', message: describeThrown(cause), cause })
}
