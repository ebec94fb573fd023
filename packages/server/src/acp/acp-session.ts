// One session that a client has open: its events go to the client; prompts and choices go to the session.
import type { ContentPart, EventCursor, EventStream, FrontSession, SessionEvent } from '@baton/core/internal'
import { BatonError, Cutoff } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'
import { AskedPeople } from './asked-people.ts'
import type { Chosen, Mode } from './choices.ts'
import { checkChoice, listChoicesOf, readMode, readThinking } from './choices.ts'
import { ClientTools } from './client-tools.ts'
import { listCalls, readHistory, showMessage, sumCost, Projection } from './projection.ts'
import type { AcpParts, AcpPlace } from './options.ts'
import type { CallPlace } from './shown-call.ts'
import type { ShownChoice, TurnEnd, Update } from './updates.ts'
import { WaitingPrompts } from './waiting-prompts.ts'
import type { Wire } from './wire.ts'

export interface AcpSessionOptions {
  readonly session: FrontSession
  readonly place: AcpPlace
  readonly parts: AcpParts
  readonly wire: Wire
  /** The mode may be known before the session is. */
  readonly mode: { current: Mode }
  readonly thinking: string
  readonly terminals: ReadonlyMap<string, string>
}

/** Milliseconds for cancelled turns to end before their session is closed. */
const ENDING_MS = 5000

/** Maximum number of this connection's own prompts to remember; the client already shows them. */
const OWN_MAX = 1000

export class AcpSession {
  readonly #init: AcpSessionOptions
  readonly #own = new Set<string>()
  readonly #prompts = new WaitingPrompts()
  readonly #people: AskedPeople
  readonly #callPlace: CallPlace
  #projection: Projection
  #tools: ClientTools | undefined
  #events: EventStream | undefined
  #ended: Promise<void> = Promise.resolve()
  #cursor: EventCursor | 'now' = 'now'
  #isAway = false
  #thinking: string
  #noted: Promise<void> = Promise.resolve()
  /** Ends updates that are being sent when the client disconnects, because an unread one would keep the session open. */
  readonly #gone = new Cutoff()
  #isClosed = false

  constructor(init: AcpSessionOptions) {
    this.#init = init
    const { session, place, parts, wire, mode, terminals } = init
    this.#thinking = init.thinking
    const { principal, log } = parts
    this.#people = new AskedPeople({ principal, session, wire, log, allows: () => mode.current === 'allow' })
    this.#callPlace = {
      cwd: place.cwd,
      resultChars: parts.limits.resultChars,
      media: (handle) => session.media(handle),
      terminalOf: (callId) => terminals.get(callId),
    }
    this.#projection = this.#createProjection()
  }

  get session(): FrontSession {
    return this.#init.session
  }

  get place(): CallPlace {
    return this.#callPlace
  }

  /** The folders and servers that the client named when it opened the session. */
  get given(): AcpPlace {
    return this.#init.place
  }

  /** Whether the host released the session because another process asked for it. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** Position after the last event sent to the client. */
  get cursor(): EventCursor | 'now' {
    return this.#cursor
  }

  get isBusy(): boolean {
    return this.#prompts.size > 0
  }

  /**
   * Sends the conversation so far, and returns the cursor for `start`.
   * @throws BatonError `store_failed`, `log_damaged`, or the connection's error
   */
  async replay(): Promise<EventCursor> {
    const { session, parts } = this.#init
    const { messages, isCut, next } = await readHistory(session, parts.limits.replayedMessages)
    if (isCut) parts.log.info('older messages of a long session were not sent', { session: session.id })
    for (const message of messages) {
      // A waiting input is sent when the model reads it.
      if (message.role === 'user' && message.waits) continue
      for (const update of await showMessage(message, this.#callPlace)) await this.tell(update)
    }
    const costMicros = sumCost(messages)
    this.#projection = this.#createProjection({
      calls: listCalls(messages),
      ...(costMicros !== undefined && { costMicros }),
    })
    const { plan, title, lastMs } = await session.info()
    if (plan.length > 0) await this.tell({ type: 'plan', entries: plan })
    if (title !== undefined) await this.tell({ type: 'title', title, atMs: lastMs })
    return next
  }

  /** Sends the session's current state. */
  async tellState(): Promise<void> {
    const { activity } = await this.#init.session.info()
    const state = activity === 'running' ? 'running' : activity === 'waiting' ? 'requires_action' : 'idle'
    await this.tell({ type: 'state', state })
  }

  /** Starts sending events to the client. @throws BatonError when the session refuses the client's tools */
  async start(from: EventCursor | 'now'): Promise<void> {
    const { session, wire, parts } = this.#init
    const { callTool, runs } = wire
    this.#cursor = from
    const events = session.events({ from }) // before the tools are offered, because the session may respond with a call
    this.#events = events
    if (callTool && runs)
      this.#tools = await ClientTools.open({
        session,
        client: `acp-${parts.newId()}`,
        runs: runs === 'all' ? undefined : runs,
        callTool,
        timers: parts.timers,
        log: parts.log,
      })
    this.#ended = this.#follow(events)
    await this.#people.askAgain()
  }

  /**
   * Sends a prompt, and resolves with the end of the turn that read it. @throws BatonError when the session refuses it
   */
  async prompt(inputId: string, content: readonly ContentPart[], isCancelled?: () => boolean): Promise<TurnEnd> {
    const { accepted, ended } = this.say(inputId, content, isCancelled)
    await accepted
    return await ended
  }

  /** A prompt that is cancelled before it is sent is refused with `cancelled`. */
  say(
    inputId: string,
    content: readonly ContentPart[],
    isCancelled = (): boolean => false,
  ): { readonly accepted: Promise<void>; readonly ended: Promise<TurnEnd> } {
    const { session, parts } = this.#init
    if (this.#prompts.size >= parts.limits.prompts)
      throw new BatonError({
        code: 'queue_full',
        message: `${parts.limits.prompts} prompts are already waiting in this session`,
        retryable: true,
      })
    this.#own.add(inputId)
    if (this.#own.size > OWN_MAX) this.#own.delete(first(this.#own))
    const ended = this.#prompts.add(inputId)
    const accepted = this.#say(session, { inputId, content, isCancelled })
    accepted.catch((cause: unknown) => this.#prompts.refuse(inputId, cause))
    return { accepted, ended }
  }

  /** Asks for the newest answer again. @throws BatonError `unknown_input` if there is none, `turn_in_progress` */
  async retry(isCancelled: () => boolean): Promise<TurnEnd> {
    const { session, parts } = this.#init
    const { messages } = await session.messages({ limit: 20 })
    if (isCancelled()) throw createCancelled()
    const newest = messages.findLast(({ role }) => role === 'assistant')
    if (!newest) throw new BatonError({ code: 'unknown_input', message: 'the conversation has no answer yet' })
    const rewound = session.rewind({ message: newest.id, again: true })
    const ended = this.#prompts.addRewind(parts.newId(), rewound)
    const { turn } = await rewound
    if (turn !== undefined && isCancelled()) await session.takeBack(turn)
    return await ended
  }

  /** Ends the turn and withdraws waiting prompts. Never rejects. */
  async cancel(reason: string): Promise<void> {
    const { session, parts } = this.#init
    await session.interrupt({ reason, queue: 'withdraw' }).catch((cause: unknown) => {
      parts.log.warn('a turn could not be interrupted', { cause: describeThrown(cause) })
    })
  }

  /** Cancels all running work, and waits a while for it to end. Never rejects. */
  async end(reason: string): Promise<void> {
    const { timers } = this.#init.parts
    await this.cancel(reason)
    const late = Promise.withResolvers<void>()
    const stopTimer = timers.start(ENDING_MS, late.resolve)
    await Promise.race([this.#prompts.untilNone(), late.promise])
    stopTimer()
    this.#prompts.cancelAll()
    await this.leave()
  }

  /** Rejects when the connection is lost. */
  async tell(update: Update): Promise<void> {
    await this.#gone.until(this.#init.wire.tell(update))
  }

  async choices(): Promise<readonly ShownChoice[]> {
    const { model, models } = await this.#init.session.info()
    return listChoicesOf(this.#chosen(model, models))
  }

  get mode(): Mode {
    return this.#init.mode.current
  }

  /** @throws BatonError `invalid_option`, or the session's refusal */
  async choose(id: string, value: unknown): Promise<void> {
    const choice = checkChoice(await this.choices(), id, value)
    const chosen = String(value)
    if (choice === 'mode') {
      await this.setMode(readMode(chosen))
      await this.tell({ type: 'mode', mode: chosen })
    } else if (choice === 'model') await this.#init.session.configure({ model: chosen })
    else await this.#setThinking(chosen)
  }

  /**
   * Stores the mode in the session's meta, so that it survives a restart. @throws BatonError when the session refuses
   */
  async setMode(mode: Mode): Promise<void> {
    await this.#note({ mode })
    this.#init.mode.current = mode
  }

  /** Stops sending; the session itself continues. Never rejects. */
  async leave(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#gone.end(new BatonError({ code: 'session_closed', message: 'the session was closed' }))
    this.#people.leave()
    await this.#tools?.leave()
    this.#events?.leave()
    await this.#ended
    this.#prompts.refuseAll(new BatonError({ code: 'session_closed', message: 'the session was closed' }))
    await this.#init.session.close().catch(() => {}) // the host has stopped
  }

  #createProjection(known: ConstructorParameters<typeof Projection>[1] = {}): Projection {
    const isOwn = (message: string): boolean => this.#own.has(message)
    const { clock, principal } = this.#init.parts
    return new Projection({ ...this.#callPlace, isOwn, principal, nowMs: () => clock.nowMs() }, known)
  }

  async #say(session: FrontSession, { inputId, content, isCancelled }: Prompt): Promise<void> {
    const { activity } = await session.info()
    if (isCancelled()) throw createCancelled()
    const delivery = activity === 'idle' ? 'queue' : 'steer'
    const answer = await session.submit({ type: 'user-input', inputId, parts: content, delivery, asks: true })
    if (answer.type === 'refused') throw new BatonError(answer)
    // The interrupt of this cancel preceded the input, for example while its images were being stored.
    if (isCancelled()) await session.takeBack(inputId)
  }

  #chosen(model: string, models: readonly string[]): Chosen {
    return { model, models, thinking: this.#thinking, mode: this.mode, allowed: this.#init.parts.models }
  }

  async #setThinking(thinking: string): Promise<void> {
    await this.#init.session.configure({ settings: readThinking(thinking) })
    await this.#note({ thinking })
    this.#thinking = thinking
  }

  /** Notes one choice after another, since each writes the whole meta. */
  async #note(more: { readonly mode?: Mode; readonly thinking?: string }): Promise<void> {
    const { session } = this.#init
    const noted = this.#noted.then(async () => {
      const { meta } = await session.info()
      await session.describe({ meta: { ...meta, ...more } })
    })
    this.#noted = noted.catch(() => {}) // the caller gets the rejection
    await noted
  }

  /** Never rejects; ends when the connection is lost. */
  async #follow(events: EventStream): Promise<void> {
    const { parts, session } = this.#init
    try {
      for (let batch = await events.nextBatch(); batch; batch = await events.nextBatch()) {
        for (const event of batch.events) await this.#take(event)
        this.#cursor = batch.next
      }
    } catch (cause) {
      if (!this.#isClosed)
        parts.log.info('events to an editor have stopped', { session: session.id, cause: describeThrown(cause) })
    } finally {
      events.leave()
    }
    this.#tools?.rest()
    this.#isAway = !this.#isClosed
    this.#prompts.refuseAll(new BatonError({ code: 'session_closed', message: 'the session was closed' }))
  }

  async #take(event: SessionEvent): Promise<void> {
    for (const update of await this.#projection.take(event)) await this.tell(update)
    if (event.type === 'session' && event.model !== undefined)
      await this.tell({ type: 'choices', choices: await this.choices() })
    this.#tools?.take(event)
    this.#people.take(event)
    this.#prompts.take(event)
  }
}

interface Prompt {
  readonly inputId: string
  readonly content: readonly ContentPart[]
  readonly isCancelled: () => boolean
}

function createCancelled(): BatonError {
  return new BatonError({ code: 'cancelled', message: 'the prompt was cancelled before the session accepted it' })
}

function first(ids: ReadonlySet<string>): string {
  const [id = ''] = ids
  return id
}
