// An agent that listens to a conversation between people: what it hears goes into a session, and its words and actions
// come out as events.
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
} from '@baton/core/internal'
import {
  BatonError,
  checkFields,
  checkKinds,
  defineAgent,
  describeValue,
  isBatonError,
  frontOf,
} from '@baton/core/internal'
import { checkAgent } from '../catalog/catalog-options.ts'
import { describeThrown } from '../describe-thrown.ts'
import type { StepText } from '../session/step-texts.ts'
import { StepTexts } from '../session/step-texts.ts'

export interface ListenerEvents<A extends Agent = Agent> {
  /** The agent's words: the text of a step, if any, once the step has ended. */
  readonly 'agent:response': StepText
  /** A settled call, with its `name`, `input` and `result`. */
  readonly 'agent:tool_call': AgentCall<A>
  /**
   * A turn failed, the session was closed here (`session_closed`; `start` resumes), or a handler threw or rejected
   * (`handler_failed`). After a failed turn the agent keeps what it heard and tries again at the next input. Without a
   * handler for this event, errors of other handlers are uncaught exceptions.
   */
  readonly error: BatonError
}

/** Options of `createListener`. */
export interface ListenerOptions {
  /** The session's id; an existing session continues with what it had heard. A new session by default. */
  readonly session?: string
  readonly principal?: Principal
  /**
   * Whether approvals and questions are answered through `listener.session`. If not (the default), they are denied at
   * once.
   */
  readonly asks?: boolean
  /**
   * Replays events after this place: the `cursor` of an earlier listener. By default only new events are emitted. The
   * same happens, after an `error` event, if the session has no such place because it was removed and recreated.
   */
  readonly cursor?: EventCursor
}

/** Something that happened outside of the conversation, for `listener.event`. The model reads it in its next request. */
export interface ListenerEvent {
  /** The event's name, in one line. */
  readonly type: string
  /** Details of the event; the model reads them as indented JSON. */
  readonly detail?: JsonValue
  /** Description for the model. */
  readonly message?: string
  /** Label in brackets before the type, such as `Negotiation Event`; `Event` by default. */
  readonly label?: string
  /**
   * `soon` (the default): the next model call reads it, even within a running turn. `interrupt`: the running turn ends,
   * and the agent answers again.
   */
  readonly urgency?: 'soon' | 'interrupt'
  /** An id that the session already knows has no effect. */
  readonly inputId?: string
}

/**
 * Follows people who talk to each other, and answers only when its agent has something to say. `createListener` makes
 * one: `await listener.start()`, then `await listener.push({ speaker: 'Ann', text })`.
 */
export interface Listener<A extends Agent = Agent> {
  /**
   * Opens the session, or resumes after `pause` and `stop`, optionally with other instructions and tools. Entries that
   * were waiting when it stopped are read at once.
   * @throws BatonError as `host.session` and `defineAgent`
   */
  start(instructions?: string, tools?: readonly Tool[]): Promise<void>
  /**
   * Passes on a speaker's words. The agent reads entries together: after a silence, or when there are enough (`batch` of the agent).
   * Leave out the agent's own words.
   * @throws BatonError `session_stopped`, `illegal_input` (not started), `invalid_transcript`, `queue_full`, `store_failed`
   */
  push(entry: TranscriptEntry): Promise<Accepted>
  /**
   * Passes on an event. The agent reads it at once, after waiting entries. @throws BatonError as `push`,
   * `invalid_event`
   */
  event(event: ListenerEvent): Promise<Accepted>
  /**
   * Calls no model until `start`; inputs are kept meanwhile.
   * @throws BatonError `session_stopped`, `illegal_input` (not started), `store_failed`
   */
  pause(): Promise<void>
  /**
   * Ends the running turn: its calls settle, and no model is called until `start`. Inputs are refused meanwhile.
   * @throws BatonError `illegal_input` (not started), `store_failed`
   */
  stop(): Promise<void>
  /** Stops emitting events and closes the handle. The session stays in its store. */
  close(): Promise<void>
  /**
   * Calls `handler` with each event of this name, in order and without waiting for its promise; the returned function removes it.
   * @throws BatonError `invalid_option` for a name that does not exist, and for a handler that is not a function
   */
  on<Name extends keyof ListenerEvents>(name: Name, handler: (event: ListenerEvents<A>[Name]) => unknown): () => void
  /**
   * The cursor for the next listener: after the last emitted event, also within handlers, and before the text of a step
   * that is still being written.
   */
  readonly cursor: EventCursor | undefined
  /**
   * The session, for everything else: approvals, `messages`, `events`. @throws BatonError `illegal_input` before
   * `start`
   */
  readonly session: Session<A>
}

/**
 * Creates an agent that listens. It may stay silent; then no event is emitted and nothing is stored. Nothing runs before `start`.
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
/** Field names that a session's `notify` uses. */
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
  /** Cursor after the last event read. */
  #read: EventCursor | undefined
  /** The same, but before the text of a step that is still being written. */
  #cursor: EventCursor | undefined
  /** Serializes start, pause, stop and close. */
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
    return await frontOf(this.session).hear(isEntry ? { ...this.#asks(), ...entry } : entry)
  }

  async event(given: ListenerEvent): Promise<Accepted> {
    checkEvent(given)
    const { type, urgency = 'soon', ...event } = given
    const delivery = urgency === 'interrupt' ? 'interrupt' : 'steer'
    return await this.session.notify({ ...this.#asks(), ...event, name: type, delivery })
  }

  pause(): Promise<void> {
    return this.#act(async () => {
      const front = frontOf(this.session)
      if (front.phase !== 'paused') await front.control('pause')
    })
  }

  stop(): Promise<void> {
    return this.#act(async () => {
      const front = frontOf(this.session)
      if (front.phase !== 'stopped') await front.control('stop')
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
    const { phase, control } = frontOf(session)
    if (phase === 'stopped') await control('start')
    else if (phase === 'paused') await control('continue')
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
    }) as Agent as A // with other tools, the types of its calls change too
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
            hint: 'No more events arrive. Call start() to resume, with everything that arrived meanwhile.',
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
    // Before handlers run: the cursor they store with the event is the place after it.
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

  /** Reports an error. An exception of the error handler itself is left to the program, like any uncaught one. */
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
