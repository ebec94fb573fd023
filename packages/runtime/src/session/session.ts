// A session as programs and fronts hold it: the Session API over an engine of any host. Inputs are decoded here, so the
// machine gets plain, well-formed data.
import { endWithSignal, interruptSession, takeBack, countInput, isPlaced } from './interrupt-session.ts'
import type {
  Accepted,
  CallView,
  Client,
  ClientHandlers,
  Decision,
  Decoded,
  EventsOptions,
  EventStream,
  FrontSession,
  Interrupted,
  JsonObject,
  LeaseClient,
  LeaseClientOptions,
  MessagesPage,
  MessagesQuery,
  PendingApproval,
  PendingQuestion,
  Principal,
  QuestionAnswer,
  MessageId,
  Refused,
  Reminder,
  ReminderInput,
  ReminderOptions,
  RewindOptions,
  Rewound,
  Schema,
  SendOptions,
  SessionAction,
  SessionConfiguration,
  Session,
  SessionDescription,
  SessionDetails,
  TranscriptEntry,
  Turn,
  UrgentEvent,
  UserInput,
} from '@baton/core/internal'
import {
  BatonError,
  checkName,
  decodeAction,
  decodeChildPath,
  decodeConfiguration,
  decodeForkOptions,
  decodeRewind,
  decodeDecision,
  decodeDescription,
  decodeEventsOptions,
  decodeInterruptOptions,
  decodeLeaseClientOptions,
  decodeMessagesQuery,
  decodeQuestionAnswer,
  decodeSendOptions,
  decodeTranscript,
  decodeTurnOptions,
  decodeUrgent,
  decodeUserCommand,
  decodeUserInput,
  isBatonError,
  viewTasks,
} from '@baton/core/internal'
import type { ClientReport, Input, InputOf, InputType, OpenCall, UserCommand } from '@baton/core/machine'
import { CLIENT_REPORTS, isMedia } from '@baton/core/machine'
import type { SessionEngine } from '../engine.ts'
import { createOutputReader, findSchemaRefusal } from '../work/output.ts'
import { describeThrown } from '../describe-thrown.ts'
import { createApproval, findAnswerIssues, readPerson, listQuestions, readDetails, readMedia } from './details.ts'
import { checkEvent, findEvent } from './accepted-events.ts'
import { createClosedError, refuseStranger, SessionClients } from './clients.ts'
import { listApprovals } from './approvals.ts'
import { openLeaseClient } from './session-client.ts'
import { findTurn, rewindSession } from './find-message.ts'
import { readChild } from './read-child.ts'
import { TreeReader } from './tree-reader.ts'
import type { PlacedInput } from './interrupt-session.ts'
import type { EventReader } from './reader.ts'
import { openEvents } from './reader.ts'
import type { ReminderParts } from '../reminders/set-reminder.ts'
import { findReminder, readAt, readEvery, viewReminders } from '../reminders/set-reminder.ts'
import { readMessages } from './message-page.ts'
import { createUnknownInputError, followTurn, refuseTurn } from './turn.ts'
import { insist, NO_ANSWER, submit, bringsBytes } from './submit.ts'

export interface SessionHandleOptions {
  readonly engine: SessionEngine
  readonly principal: Principal
  /** The person who acts in the principal's name, if it is another one. */
  readonly operator?: Principal | undefined
  readonly newId: () => string
  /** The wall clock. */
  readonly wallMs: () => number
  /** Called once, when the handle is closed. */
  readonly onClose: () => void
  /** Copies this session to a new one with the same principal; see `Session.fork`. */
  readonly fork: (before: MessageId | undefined) => Promise<string>
}

export function createSession(init: SessionHandleOptions): FrontSession {
  return new SessionHandle(init)
}

class SessionHandle implements FrontSession {
  readonly id: string
  readonly #init: SessionHandleOptions
  /** Created with the first client: most handles attach none. */
  #clients: SessionClients | undefined
  /** Readers that have not ended. */
  readonly #readers = new Set<{ leave(): void }>()
  /** Never rejects. Set while images or files of an input are being stored. */
  #storing: Promise<void> | undefined
  #closed = false
  #closing: Promise<void> | undefined
  /** Never rejects. Settles when the last input sent through this handle was accepted or refused. */
  #said: Promise<unknown> | undefined

  constructor(init: SessionHandleOptions) {
    this.id = init.engine.session
    this.#init = init
  }

  get phase(): FrontSession['phase'] {
    return this.#init.engine.state().phase
  }

  get pos(): number {
    return this.#init.engine.state().pos
  }

  send(input: UserInput, options?: SendOptions & { readonly output?: Schema }): Turn<never> {
    const { engine, newId } = this.#init
    const given = options === undefined ? NO_OPTIONS : decodeSendOptions(options)
    const parts = decodeUserInput(input)
    const refusal = this.#closed ? CLOSED : !given.ok ? given.refusal : !parts.ok ? parts.refusal : undefined
    if (refusal || !given.ok || !parts.ok) return refuseTurn(newId(), refusal ?? CLOSED)
    const { inputId = newId(), signal, output: wish, ...more } = given.value
    if (signal?.aborted) return refuseTurn(inputId, ABORTED)
    const said = {
      type: 'user-input',
      inputId,
      parts: parts.value,
      ...more,
      ...(wish && { output: wish.described }),
    } as const
    const refused = wish || more.model !== undefined ? findRefusal(engine, said) : undefined
    if (refused) return refuseTurn(inputId, refused)
    // An input that was sent before: its turn may have ended already, so look for it in the log.
    if (given.value.inputId !== undefined && isRemembered(engine, inputId)) {
      const turn: Turn = this.turn(inputId, wish && { output: wish.schema })
      return (signal ? endWithSignal(turn, signal, { engine, accepted: Promise.resolve() }) : turn) as Turn<never> // as below
    }
    const events = openEvents(engine, {})
    // Direct if nothing has to be stored, for a clean stack trace.
    const accepted =
      this.#storing || parts.value.some(isMedia) || said.heard !== undefined
        ? this.#submitInOrder(said).then(toBatch)
        : engine.submit([said])
    this.#said = Promise.allSettled([accepted])
    const output = wish ? createOutputReader(wish.schema, engine.world.validator) : engine.world.output
    const turn = followTurn({ inputId, reading: { events, output }, accepted })
    return (signal ? endWithSignal(turn, signal, { engine, accepted }) : turn) as Turn<never> // as in `turn`
  }

  turn(inputId: string, options?: { readonly output: Schema }): Turn<never> {
    const { engine } = this.#init
    const id = String(inputId)
    const given = decodeTurnOptions(options)
    if (this.#closed) return refuseTurn(id, CLOSED)
    if (!given.ok) return refuseTurn(id, given.refusal)
    const reading = findTurn(engine, id).then((found) => {
      if (!found) throw createUnknownInputError(id)
      const schema = given.value.output?.schema ?? found.output
      const output = schema ? createOutputReader(schema, engine.world.validator) : engine.world.output
      return { events: openEvents(engine, { from: found.from }), output }
    })
    return followTurn({ inputId: id, reading }) as Turn<never> // typed by its caller: the reader has validated it
  }

  events(options: EventsOptions = {}): EventStream {
    const given = decodeEventsOptions(options)
    if (!given.ok) throw new BatonError(given.refusal)
    const { from = 'now', signal, delivery, children = false } = given.value
    const { engine } = this.#init
    const leave = (): void => reader.leave()
    const onEnd = (ended: EventReader | TreeReader): void => {
      this.#readers.delete(ended)
      // One signal may outlive many readers.
      signal?.removeEventListener('abort', leave)
    }
    const reader =
      children && !delivery && engine.readBelow
        ? new TreeReader(engine, { from, onEnd })
        : openEvents(engine, { from, ...(delivery !== undefined && { delivery }), tellsLive: true, onEnd })
    if (this.#closed || signal?.aborted) leave()
    else {
      this.#readers.add(reader)
      signal?.addEventListener('abort', leave, { once: true })
    }
    return reader
  }

  async messages(page: MessagesQuery = {}): Promise<MessagesPage> {
    const given = demand(decodeMessagesQuery(page))
    await this.#said
    return await readMessages(this.#init.engine, given)
  }

  media(handle: string): Promise<string | undefined> {
    return readMedia(this.#init.engine, handle)
  }

  async info(): Promise<SessionDetails> {
    return readDetails(this.#init.engine)
  }

  submit(input: UserCommand | ClientReport): Promise<Accepted | Refused> {
    if (isReport(input)) return this.#report(input)
    const spoken = decodeUserCommand(input)
    if (!spoken.ok) return Promise.resolve({ type: 'refused', ...spoken.refusal })
    const { value } = spoken
    const { engine, principal } = this.#init
    const stranger = 'principal' in value ? refuseStranger(principal, value.principal) : undefined
    if (stranger && !stranger.ok) return Promise.resolve({ type: 'refused', ...stranger.refusal })
    const asks = value.type === 'user-input' || value.type === 'set-model'
    const refused = asks ? findRefusal(engine, value) : undefined
    if (refused) return Promise.resolve(refused)
    if (value.type === 'set-model' || value.type === 'set-settings') return this.#afterStored(() => this.#submit(value))
    if (!('inputId' in value)) return this.#submit(value)
    const isDirect = !this.#storing && !bringsBytes(value) && !('heard' in value)
    const accepted = isDirect ? this.#submit(value) : this.#submitInOrder(value)
    this.#said = Promise.allSettled([accepted])
    return accepted
  }

  #report(input: unknown): Promise<Accepted | Refused> {
    const clients = (this.#clients ??= new SessionClients(this.#init))
    const report = clients.decode(input)
    if (!report.ok) return Promise.resolve({ type: 'refused', ...report.refusal })
    return this.#closed ? Promise.resolve(CLOSED) : clients.report(report.value)
  }

  async hear(entry: TranscriptEntry): Promise<Accepted> {
    const given = demand(decodeTranscript(entry))
    return insist(await this.submit({ type: 'transcript', inputId: this.#init.newId(), ...given }))
  }

  async notify(event: UrgentEvent): Promise<Accepted> {
    const given = demand(decodeUrgent(event))
    const inputId = given.inputId ?? this.#init.newId()
    const { world } = this.#init.engine
    if (!world.agent.events) return insist(await this.submit({ type: 'urgent-event', ...given, inputId }))
    const checked = await checkEvent(world, given)
    return insist(await this.#submitInOrder({ type: 'urgent-event', ...checked, inputId }))
  }

  async takeEvent(event: Parameters<FrontSession['takeEvent']>[0]): Promise<Accepted> {
    const { inputId } = event
    const given = await checkEvent(this.#init.engine.world, demand(decodeUrgent(event)))
    const pos = await findEvent(this.#init.engine, inputId)
    if (pos !== undefined) return { type: 'accepted', pos }
    return insist(await this.#submitInOrder({ type: 'urgent-event', ...given, inputId }))
  }

  async control(action: SessionAction): Promise<Accepted> {
    const type = demand(decodeAction(action))
    const accepted = insist(await this.submit({ type }))
    if (type === 'stop') await this.#init.engine.abortedCalls?.()
    return accepted
  }

  async interrupt(options?: Parameters<Session['interrupt']>[0]): Promise<Interrupted> {
    const given = demand(decodeInterruptOptions(options))
    if (this.#closed) throw createClosedError()
    return await interruptSession(this.#init.engine, given, this.#init.operator)
  }

  async rewind(at: RewindOptions): Promise<Rewound> {
    const given = demand(decodeRewind(at))
    if (this.#closed) throw createClosedError()
    const { engine, newId, operator } = this.#init
    await this.#said
    const by = operator && { by: operator.id }
    return insist(await rewindSession(engine, { ...given, ...by, inputId: given.inputId ?? newId() }))
  }

  async fork(options?: Parameters<Session['fork']>[0]): Promise<string> {
    const given = demand(decodeForkOptions(options ?? {}))
    if (this.#closed) throw createClosedError()
    await this.#said
    return await this.#init.fork(given.before)
  }

  async withdraw(inputId: string): Promise<Accepted> {
    await this.#said
    return insist(await this.submit({ type: 'withdraw', target: inputId }))
  }

  async configure(patch: SessionConfiguration): Promise<Accepted> {
    const given = demand(decodeConfiguration(patch))
    const { engine } = this.#init
    const { model, settings } = given
    insist((this.#closed ? CLOSED : findRefusal(engine, { model })) ?? {})
    const inputs: readonly Input[] = [
      ...(model === undefined ? [] : [{ type: 'set-model', model } as const]),
      ...(settings === undefined ? [] : [{ type: 'set-settings', settings } as const]),
    ]
    if (inputs.length === 0) return { type: 'accepted', pos: engine.state().pos }
    const outcomes = await this.#afterStored(() => engine.submit(inputs))
    return insist(outcomes.at(-1) ?? NO_ANSWER)
  }

  async attach(handlers?: ClientHandlers): Promise<Client> {
    if (this.#closed) throw createClosedError()
    return await (this.#clients ??= new SessionClients(this.#init)).attach(handlers)
  }

  async client(init: LeaseClientOptions): Promise<LeaseClient> {
    if (this.#closed) throw createClosedError()
    const given = demand(decodeLeaseClientOptions(init))
    return await openLeaseClient({ engine: this.#init.engine, principal: this.#init.principal, init: given })
  }

  async takeBack(inputId: string): Promise<void> {
    if (this.#closed) throw createClosedError()
    await takeBack(this.#init.engine, inputId)
  }

  onClientsGone(callback: () => void): () => void {
    if (this.#closed) return () => {}
    const stop = this.#init.engine.stream.onClientsGone(callback)
    const reader = { leave: () => leave() }
    const leave = (): void => {
      this.#readers.delete(reader)
      stop()
    }
    this.#readers.add(reader)
    return leave
  }

  async approvals(): Promise<readonly PendingApproval[]> {
    const { engine } = this.#init
    return listApprovals(engine.state(), engine.history())
  }

  async decide(decision: Decision, options: { readonly principal?: Principal } = {}): Promise<Accepted> {
    const given = demand(decodeDecision(decision))
    const { engine } = this.#init
    const { principal: owner, operator } = this.#init
    const named = readPerson(options.principal, 'principal')
    const input = await createApproval(engine, named ?? operator ?? owner, given)
    return insist(await this.#submit(named || !operator ? input : { ...input, asOwner: true }))
  }

  async questions(): Promise<readonly PendingQuestion[]> {
    return listQuestions(this.#init.engine)
  }

  async answer(answer: QuestionAnswer): Promise<Accepted> {
    const given = demand(decodeQuestionAnswer(answer))
    const issues = await findAnswerIssues(this.#init.engine, given)
    if (issues !== undefined) throw new BatonError({ code: 'question_refused', message: issues })
    return insist(await this.#submit({ type: 'question-answer', principal: this.#init.principal.id, ...given }))
  }

  async describe(patch: SessionDescription): Promise<Accepted> {
    return insist(await this.#submit({ type: 'describe', ...demand(decodeDescription(patch)) }))
  }

  async tasks(): Promise<readonly CallView[]> {
    const { engine } = this.#init
    return viewTasks(engine.state(), engine.history())
  }

  async cancel(callId: string): Promise<Accepted> {
    checkName('callId', callId)
    const { principal: owner, operator } = this.#init
    const { id: principal } = operator ?? owner
    return insist(await this.#submit({ type: 'cancel-call', callId, principal, ...(operator && { asOwner: true }) }))
  }

  at(time: Date | number | string, input: ReminderInput, options?: ReminderOptions): Promise<Reminder> {
    return this.#remind(readAt({ time, input, options }, this.#reminderParts()))
  }

  every(rule: string | number, input: ReminderInput, options?: ReminderOptions): Promise<Reminder> {
    return this.#remind(readEvery({ rule, input, options }, this.#reminderParts()))
  }

  async reminders(): Promise<readonly Reminder[]> {
    return viewReminders(this.#init.engine.state())
  }

  async cancelReminder(id: string): Promise<Accepted> {
    checkName('the id of a reminder', id)
    return insist(await this.#submit({ type: 'cancel-reminder', reminder: id }))
  }

  async #remind(reading: Promise<InputOf<'set-reminder'>>): Promise<Reminder> {
    const input = await reading
    insist(await this.#submit(input))
    return findReminder(this.#init.engine.state(), input)
  }

  #reminderParts(): ReminderParts {
    const { newId, wallMs } = this.#init
    return { newId, nowMs: wallMs() }
  }

  openCall(callId: string): OpenCall | undefined {
    return this.#init.engine.history().openCall(callId)
  }

  lastTurn(): ReturnType<FrontSession['lastTurn']> {
    return this.#init.engine.history().lastTurn()
  }

  async child(path: readonly string[]): ReturnType<Session['child']> {
    const given = demand(decodeChildPath(path))
    if (this.#closed) throw createClosedError()
    const { principal, newId, wallMs } = this.#init
    const engine = await readChild(this.#init.engine, given)
    if (this.#closed) throw createClosedError()
    const reader = { leave: () => void child.close() }
    const child = createSession({
      engine,
      principal,
      newId,
      wallMs,
      onClose: () => void this.#readers.delete(reader),
      fork: () => Promise.reject(createCopyError()),
    })
    this.#readers.add(reader)
    return child
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#closed = true
    for (const reader of this.#readers) reader.leave()
    await this.#clients?.detachAll()
    this.#init.onClose()
  }

  async #count(input: PlacedInput): Promise<Accepted | Refused> {
    const counted = await countInput(this.#init.engine, input)
    return counted.type === 'refused' ? counted : await this.#submit(counted)
  }

  #submit(input: Input): Promise<Accepted | Refused> {
    if (this.#closed) return Promise.resolve(CLOSED)
    const { engine } = this.#init
    if ('heard' in input && isPlaced(input)) return this.#count(input)
    return submit(engine, input)
  }

  /** Submits after this handle's inputs whose images and files are still being stored, so that inputs keep their order. */
  #submitInOrder(input: Input): Promise<Accepted | Refused> {
    return this.#inOrder(() => this.#submit(input))
  }

  /**
   * Model and settings count from the next turn on, so they keep their order too. What stops something does not wait for
   * a store, and neither do decisions.
   */
  #afterStored<Answer>(submit: () => Promise<Answer>): Promise<Answer> {
    return this.#storing ? this.#inOrder(submit) : submit()
  }

  #inOrder<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const before = this.#storing
    const run = async (): Promise<Answer> => {
      await before
      return await work()
    }
    const answer = run()
    const done = Promise.allSettled([answer]).then(() => {
      if (this.#storing === done) this.#storing = undefined
    })
    this.#storing = done
    return answer
  }
}

/** Makes methods work detached from their session: `const { send } = session`. Each is bound on first use. */
for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(SessionHandle.prototype))) {
  if (typeof value !== 'function' || name === 'constructor') continue
  const method = value as () => unknown // a method of this class
  Object.defineProperty(SessionHandle.prototype, name, {
    configurable: true,
    get(this: SessionHandle) {
      const bound = method.bind(this)
      Object.defineProperty(this, name, { value: bound, writable: true, configurable: true })
      return bound
    },
  })
}

function createCopyError(): BatonError {
  return new BatonError({ code: 'illegal_input', message: 'the session of a call cannot be copied' })
}

const toBatch = (answer: Accepted | Refused): readonly (Accepted | Refused)[] => [answer]

const NO_OPTIONS = { ok: true, value: {} } as ReturnType<typeof decodeSendOptions> // the result for no options
const ABORTED = { code: 'cancelled', message: 'the signal was aborted before the input was sent' } as const
const CLOSED = { type: 'refused', code: 'session_closed', message: 'this session was closed here' } as const

function isRemembered(engine: SessionEngine, inputId: string): boolean {
  return engine.state().recentInputs.some((recent) => recent.inputId === inputId)
}

/** Reads only an own data property: getters and proxy traps are not called here, and the decoder refuses them. */
function isReport(input: unknown): boolean {
  if (typeof input !== 'object' || input === null) return false
  try {
    const type: unknown = Object.getOwnPropertyDescriptor(input, 'type')?.value
    return CLIENT_REPORTS.has(type as InputType) // any other value is in no set
  } catch {
    return false
  }
}

/**
 * Catches bad options early. An unknown model would only fail when called, and another model would answer; an unusable
 * schema would only fail at the answer.
 */
function findRefusal(
  { world }: SessionEngine,
  { model, output }: { readonly model?: string | undefined; readonly output?: JsonObject | undefined },
): Refused | undefined {
  const refused = output && findSchemaRefusal(output)
  if (refused) return refused
  if (model === undefined) return undefined
  try {
    world.modelOf(model)
    return undefined
  } catch (cause) {
    const why = isBatonError(cause) ? cause : new BatonError({ code: 'unknown_model', message: describeThrown(cause) })
    const known = world.models.includes(model) ? '' : `; the models of this agent are ${world.models.join(', ')}`
    return { type: 'refused', code: why.code, message: `${why.message}${known}` }
  }
}

/** @throws BatonError naming the field */
function demand<T>(given: Decoded<T>): T {
  if (given.ok) return given.value
  throw new BatonError(given.refusal)
}
