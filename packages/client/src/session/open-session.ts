// Opens a session for an app: follows it over connections that break, and sends the app's messages and results.
import type { AnswerOf, V2Cursor, DeviceOptions, Requests, RequestType } from '@baton/protocol'
import type { ClientError } from '../client-error.ts'
import { checkOptionNames } from '../check-options.ts'
import { createClosedError, createError, createFullError } from '../client-error.ts'
import type { ConnectionState } from '../connection.ts'
import { createListeners, listenOnly } from '../listeners.ts'
import type { OutboxEntry, OutboxPlace, InputRequest, OutboxOptions } from '../outbox/outbox.ts'
import type { Notice, Wire, WireUser } from '../wire.ts'
import { openWire } from '../wire.ts'
import type { World } from '../world.ts'
import { platformWorld } from '../world.ts'
import type { ClientCalls, ClientCallsSession, ResultEntry } from './client-calls.ts'
import type { SessionHandlers } from './client-tools.ts'
import type { InputEntry } from './inputs.ts'
import { Inputs } from './inputs.ts'
import { SessionRequests } from './requests.ts'
import type { Retried, SessionContext } from './session-context.ts'
import type {
  SessionClient,
  SessionClientEvents,
  SessionMessage,
  OpenSessionOptions,
  SessionSnapshot,
  RewindInput,
  SentInput,
} from './session-client.ts'
import { EMPTY_VIEW, isBelow, SessionView } from './session-view.ts'
import type { ChatMessage, MessageId, Agent, SessionEvent } from '@baton/core/internal'

/**
 * Opens a session and connects at once. `openSession<typeof agent>(…)` only needs the type of the server's agent, and knows the
 * names, inputs and outputs of its client tools, and the calls in messages and events.
 * @throws ClientError `invalid_option` for an unknown option, and for a `url` that is not an address
 */
export function openSession<A extends Agent>(options: OpenSessionOptions<SessionHandlers<A>>): SessionClient<A>
export function openSession(options: OpenSessionOptions): SessionClient
export function openSession(options: OpenSessionOptions<unknown>): SessionClient {
  checkOptionNames('openSession', options, OPTIONS) // with a misspelt `session`, each call would create a new one
  // Functions by name, as both overloads declare.
  return createCommands(new FollowedSession(options as OpenSessionOptions))
}

/** Every field of `OpenSessionOptions`; a type test compares the two. */
const OPTIONS =
  'url session title meta messages tools otherTool ownTools models asks children speech leaseMs outbox reconnect world'.split(
    ' ',
  )

/** Every event of `SessionClientEvents`; a type test compares the two. */
const EVENTS: readonly string[] = 'event sentence sentences.dropped status error call outcome'.split(' ')

/** The state of a session before anything is known about it, for example while a server renders a page. */
export function createEmptySnapshot(session: string): SessionSnapshot {
  return { ...EMPTY_VIEW, session, status: 'connecting', isLoaded: false, messages: [], more: false, error: undefined }
}

/** Number of messages to show at first. */
const MESSAGES = 50
/** How often a server may postpone a request that must arrive. */
const RETRIES_MAX = 8

class FollowedSession implements ClientCallsSession, WireUser {
  // `declare` keeps fields without a value out of the bundle.
  declare readonly id: string
  declare readonly world: World
  readonly view = new SessionView()
  declare readonly listeners: SessionContext['listeners']
  declare readonly place: OutboxPlace
  declare readonly inputs: Inputs
  declare readonly requests: SessionRequests
  declare readonly ask: Wire['ask']
  declare readonly options: OpenSessionOptions
  declare snapshot: SessionSnapshot
  isLive = false
  isClosed = false
  declare device: string | undefined
  /** Loaded if this app runs tools or models. */
  #calls: ClientCalls | undefined
  readonly #wire: Wire
  /** The cursor at which events continue; undefined to read the session again. */
  #cursor: V2Cursor | undefined
  /** The server has closed the session: a deleted session must not be created again. */
  #wasClosed: true | undefined
  #messages: readonly SessionMessage[] = []
  /** The arrays from which `#messages` was made. */
  #shown: readonly (readonly SessionMessage[])[] = []

  constructor(options: OpenSessionOptions) {
    const { world = platformWorld(), session = world.newId(), url, tools, ownTools, otherTool, outbox } = options
    this.options = options
    this.world = world
    this.id = session
    this.snapshot = createEmptySnapshot(session)
    // Like the platform's own events: an error in a listener is an uncaught error, after the event.
    this.listeners = createListeners<SessionClientEvents & { readonly change: undefined }>(
      (cause) =>
        void world.start(0, () => {
          throw cause
        }),
    )
    this.ask = (type, given, settle) => this.#wire.ask(type, given, settle)
    this.inputs = new Inputs(this)
    this.requests = new SessionRequests(this)
    const place = {
      // Without the token, which must not be stored.
      scope: `${String(url).split('?', 1)[0]} ${session}`,
      onLeft: (entries: readonly OutboxEntry[]) => {
        this.inputs.adopt(entries.filter((entry): entry is InputEntry => entry.kind === 'input'))
        const results = entries.filter((entry): entry is ResultEntry => entry.kind === 'result')
        if (results[0]) this.#loadCalls((calls) => calls.adopt(results))
      },
      onBroken: (cause: unknown) => this.complain(createError('store_failed', `the outbox failed: ${String(cause)}`)),
    }
    this.#wire = openWire(options, this)
    this.place = outbox ? outbox.join(place) : joinPageOutbox(place)
    if (options.children)
      this.view.followChildren().then(
        () => this.publish(),
        (cause: unknown) => this.complain(createError('internal', `children are not shown: ${String(cause)}`)),
      )
    if (otherTool || Object.keys({ ...tools, ...ownTools, ...options.models })[0]) {
      this.device = world.newId()
      this.#loadCalls()
    }
  }

  createFullError = createFullError

  putOff(retried: Retried, error: ClientError, again: () => void): boolean {
    if (!this.isLive) return true
    retried.retries += 1
    if (!error.retryable || retried.retries > RETRIES_MAX) return false
    retried.stopTimer = this.world.start(error.retryAfterMs ?? 1000 * retried.retries, again)
    return true
  }

  complain(error: ClientError): void {
    this.publish({ error })
    this.listeners.tell('error', error)
  }

  /** Replaces the snapshot, and notifies subscribers. */
  publish(change: Partial<SessionSnapshot> = {}): void {
    const parts = [this.view.messages(), this.inputs.shown]
    if (parts.some((part, index) => part !== this.#shown[index])) {
      this.#shown = parts
      this.#messages = parts.flat()
    }
    this.snapshot = { ...this.snapshot, ...this.view.state, messages: this.#messages, ...change }
    this.listeners.tell('change', undefined)
  }

  /** Closes permanently. `error`: the server rejects this client. */
  end(error?: ClientError): void {
    if (this.isClosed) return
    this.isClosed = true
    const reason = error ?? createClosedError()
    this.isLive = false
    this.publish({ status: 'closed', ...(error && { error }) })
    // Calls that it has not claimed move to another client at once.
    if (this.device) this.ask('device.release', {}, () => {})
    this.#wire.close(reason)
    this.requests.close(reason)
    this.#calls?.close()
    this.inputs.close(reason)
    void this.place.leave()
    this.listeners.tell('status', 'closed')
    if (error) this.listeners.tell('error', error)
  }

  takeConnecting(): void {
    this.#setStatus('connecting')
  }

  takeNotice(notice: Notice): void {
    // It was deleted, or its host lost it: the next connection reads its current state.
    if (notice.type === 'session.closed') {
      this.#wasClosed = true
      return this.#wire.drop()
    }
    if ('run' in notice) return this.#loadCalls((calls) => calls.models.take(notice))
    if (!('next' in notice)) return
    this.#cursor = notice.next
    if (notice.type !== 'events') return this.listeners.tell(notice.type, notice as never) // of this type
    for (const event of notice.events) this.#takeEvent(event)
    this.publish()
    for (const event of notice.events) this.listeners.tell('event', event)
  }

  takeLoss(isDeviceTaken: boolean): void {
    this.isLive = false
    if (isDeviceTaken && this.device) this.device = this.world.newId()
    this.inputs.lose()
    this.#calls?.lose()
    this.#setStatus('waiting')
  }

  takeHello(): void {
    const { title, meta, messages = MESSAGES, children, speech } = this.options
    const from = this.#cursor
    const start = from ? { from, existing: this.#wasClosed } : { messages, title, meta }
    // JSON omits undefined fields.
    const given = { session: this.id, device: this.#describeDevice(), children, speech, ...start }
    this.ask('session.open', given as Requests['session.open']['given'], (answer) => {
      if (answer.ok) return this.#follow(answer.value)
      const { error } = answer
      if (from && error.code === 'invalid_event') {
        // The log has changed: read the shown messages again.
        this.#cursor = undefined
        this.takeHello()
      } else if (error.retryable) {
        if (error.code !== 'connection_failed') this.complain(error)
        this.#wire.drop()
      } else this.end(error)
    })
  }

  #follow({ info, messages, more = false, next }: AnswerOf<'session.open'>): void {
    this.#wasClosed = undefined
    if (next) this.#cursor = next
    if (messages) {
      this.view.load(messages, info)
      this.inputs.reload()
    }
    this.publish({ isLoaded: true, error: undefined, ...(messages && { more }) })
    this.#setStatus('open')
  }

  #takeEvent(event: SessionEvent): void {
    try {
      this.view.take(event)
      if (!isBelow(event)) this.inputs.take(event)
      if (event.type === 'call' && !isBelow(event) && this.isLive) this.#calls?.take(event.call)
      if (event.type === 'live') this.#goLive()
    } catch (cause) {
      this.complain(createError('internal', `unreadable event: ${String(cause)}`))
    }
  }

  /** Missed events have been read: calls have their current state. */
  #goLive(): void {
    this.isLive = true
    this.#resumeCalls()
    this.inputs.sendNext()
    this.requests.resume()
  }

  #resumeCalls(): void {
    if (this.isLive) this.#calls?.resume(this.view.state.calls)
  }

  /** Loads their code separately: an app without tools and models never needs it. */
  #loadCalls(use?: (calls: ClientCalls) => void): void {
    import('./client-calls.ts')
      .then(({ ClientCalls }) => {
        if (this.isClosed) return
        this.#calls ??= new ClientCalls(this)
        use?.(this.#calls)
        this.#resumeCalls()
      })
      .catch((cause: unknown) => this.complain(createError('tool_failed', `tools cannot run: ${String(cause)}`)))
  }

  #setStatus(status: ConnectionState): void {
    if (this.snapshot.status === status) return
    this.publish({ status })
    this.listeners.tell('status', status)
  }

  #describeDevice(): DeviceOptions | undefined {
    const { tools = {}, otherTool, ownTools = {}, models, asks, leaseMs } = this.options
    // JSON omits undefined fields and functions.
    return !this.device
      ? undefined
      : ({
          name: this.device,
          runs: otherTool ? undefined : Object.keys(tools),
          tools: Object.entries(ownTools).map(([name, tool]) => ({ name, ...tool })),
          models: models && Object.keys(models),
          asks,
          leaseMs,
        } as DeviceOptions)
  }
}

/** Number of older messages per page. */
const PAGE = 50

/** The methods of an opened session, as requests and inputs. */
function createCommands(session: FollowedSession): SessionClient {
  const { id, requests, view, world, inputs, listeners, options } = session
  const asks = { asks: options.asks } as { asks?: boolean } // JSON omits undefined fields
  const say = (request: InputRequest, asks?: MessageId): SentInput => {
    if (session.isClosed) throw createClosedError()
    return inputs.send(request.given.input, request, asks)
  }
  const order = async <Type extends RequestType>(
    type: Type,
    given: Requests[Type]['given'],
    isDone?: () => boolean,
  ): Promise<void> => void (await requests.ask(type, given, { isDone }))
  const rewind = (to: RewindInput): SentInput =>
    say({ type: 'input.rewind', given: { input: world.newId(), ...to } }, to.again && findQuestion(session, to.message))
  return {
    id,
    speech: options.speech ?? false,
    getSnapshot: () => session.snapshot,
    subscribe: (listener) => listeners.on('change', listener),
    on: listenOnly(listeners, 'a session', EVENTS),
    send: (content, { id: input = world.newId(), ...more } = {}) =>
      say({ type: 'input.send', given: { input, content, ...asks, ...more } }),
    hear: (speaker, text) => say({ type: 'input.hear', given: { input: world.newId(), speaker, text, ...asks } }),
    notify: (event) => say({ type: 'input.notify', given: { input: world.newId(), ...asks, ...event } }),
    retry: (message) => inputs.retry(message),
    withdraw: async (input) => {
      const wasHere = inputs.withdraw(input)
      if (wasHere) return
      const waits = (one: ChatMessage): boolean => one.id === input && one.role === 'user' && one.waits
      try {
        await order('input.withdraw', { input }, () => !view.messages().some(waits))
      } catch (cause) {
        // The server had refused it, and it is here again, or it never arrived, and is not sent again.
        if (!(inputs.withdraw(input) ?? (wasHere === false && !view.has(input)))) throw cause
      }
    },
    rewind,
    edit: (message, replace) => rewind({ message, replace, interrupt: true }),
    regenerate: (message) => rewind({ message: message ?? findNewestAnswer(session), again: true, interrupt: true }),
    interrupt: (given = {}) => {
      const shown = view.answer()
      // Named, so that it ends no later answer: it may wait for a connection.
      const turn = !shown?.stop && given.queue !== 'withdraw' && shown?.id
      const isDone = (): boolean => view.answer()?.id !== shown?.id || !!view.answer()?.stop
      return order('turn.interrupt', { ...(turn && { turn }), ...given }, isDone)
    },
    played: (given) => order('speech.played', given),
    decide: (decision) =>
      order('approval.decide', decision, () =>
        view.state.approvals.every((open) => open.approvalId !== decision.approvalId),
      ),
    tasks: async () => (await requests.ask('call.tasks', {})).tasks,
    cancel: (callId) =>
      order('call.cancel', { callId }, () => view.state.calls.every((open) => open.call.callId !== callId)),
    answer: (answer) =>
      order('question.answer', answer, () =>
        view.state.questions.every((open) => open.questionId !== answer.questionId),
      ),
    describe: (patch) => order('session.describe', patch),
    configure: (patch) => order('session.configure', patch),
    control: (action) => order('session.control', { action }),
    fork: async (given = {}) => (await requests.ask('session.fork', given, { once: true })).session,
    info: async () => (await requests.ask('session.info', {})).info,
    older: (limit = PAGE) => readOlder(session, limit),
    close: () => session.end(),
  }
}

async function readOlder(session: FollowedSession, limit: number): Promise<boolean> {
  const { view, requests } = session
  const before = view.messages()[0]?.id
  if (!session.snapshot.more || !before) return false
  const page = await requests.ask('session.messages', { limit, before })
  // Otherwise it was read again meanwhile, or another page arrived first.
  if (view.messages()[0]?.id === before) {
    view.addOlder(page.messages)
    session.publish({ more: page.more })
  }
  return session.snapshot.more
}

/** The question of an answer; for a user's message, the message itself. */
function findQuestion({ view }: FollowedSession, message: MessageId): MessageId {
  const messages = view.messages()
  const named = messages.find((one) => one.id === message)
  if (named?.role !== 'assistant') return message
  return messages.findLast((one) => one.role === 'user' && one.exchange === named.exchange)?.id ?? message
}

function findNewestAnswer({ view }: FollowedSession): MessageId {
  const newest = view.answer()
  if (!newest) throw createError('unknown_input', 'no answer yet')
  return newest.id
}

/** A page's database, whose code is loaded separately; none elsewhere, since memory ends with the client. */
function joinPageOutbox(init: OutboxOptions): OutboxPlace {
  const { indexedDB } = globalThis as { readonly indexedDB?: unknown } // only browsers have it
  if (!indexedDB) return { save: () => {}, remove: () => {}, leave: () => Promise.resolve() }
  const joined = import('../outbox/indexed-db-outbox.ts').then(({ createIndexedDbOutbox }) =>
    createIndexedDbOutbox().join(init),
  )
  joined.catch(init.onBroken)
  const then = (use: (place: OutboxPlace) => void | Promise<void>): Promise<void> => joined.then(use).catch(() => {}) // reported above
  return {
    save: (entry) => void then((place) => place.save(entry)),
    remove: (kind, id) => void then((place) => place.remove(kind, id)),
    leave: () => then((place) => place.leave()),
  }
}
