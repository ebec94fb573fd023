// The user's messages: shown at once, sent one after another until the server has them, and followed to their answers.
// A message stays in the outbox until then, and is sent again under its id after a connection broke.
import type { AssistantChatMessage, ChatMessage, MessageId, SessionEvent } from '@baton/core/internal'
import { ClientError, WAITING_MAX, createError, createFullError } from '../client-error.ts'
import type { InputRequest, OutboxEntry } from '../outbox/outbox.ts'
import type { PendingMessage, SentInput, SessionAnswer } from './session-client.ts'
import type { Retried, SessionContext } from './session-context.ts'

export type InputEntry = Extract<OutboxEntry, { readonly kind: 'input' }>

interface Tracked extends Retried {
  readonly entry: InputEntry
  readonly accepted: PromiseWithResolvers<void>
  readonly answer: PromiseWithResolvers<SessionAnswer>
  /** The message whose turn is the answer. */
  readonly asks: MessageId
  /** `entered`: the model reads it, and the running turn is its own. */
  state: 'waiting' | 'accepted' | 'entered' | 'failed'
  /** Shown until the session shows it. */
  message: PendingMessage | undefined
  /** It was sent, and the server may have it. */
  isSent?: boolean
  /** It was taken back after it was sent: it is not sent again. */
  isWithdrawn?: true
}

export class Inputs {
  readonly #session: SessionContext
  /** Inputs in the order in which they are sent. */
  #all = new Map<MessageId, Tracked>()
  /** The input that was sent and not answered. */
  #sending: Tracked | undefined
  #shown: readonly PendingMessage[] | undefined = []
  #lastMs = 0

  constructor(session: SessionContext) {
    this.#session = session
  }

  /** Pending messages; replaced when something changes. */
  get shown(): readonly PendingMessage[] {
    this.#shown ??= [...this.#all.values()].flatMap(({ message }) => message ?? [])
    return this.#shown
  }

  /** @param isAgain it already had a place in the queue @throws ClientError `queue_full` */
  send(id: MessageId, request: InputRequest, asks: MessageId = id, isAgain?: boolean): SentInput {
    const known = this.#all.get(id)
    const open = [...this.#all.values()].filter(isHere)
    if (!isAgain && open.length >= WAITING_MAX) throw createFullError('inputs')
    // Strictly increasing, so that saved entries have an order.
    this.#lastMs = Math.max(this.#lastMs + 1, this.#session.world.nowMs())
    const tracked = known ?? this.#track({ kind: 'input', id, ...request, atMs: this.#lastMs }, asks)
    if (!known) this.#session.place.save(tracked.entry)
    this.#session.publish()
    this.sendNext()
    return { id, accepted: tracked.accepted.promise, answer: tracked.answer.promise }
  }

  /** Takes over entries of a former copy of the app, which are older than this copy's. */
  adopt(entries: readonly InputEntry[]): void {
    const said = this.#all
    this.#all = new Map()
    // The former copy may have sent them. When the session is followed, its events show that it does not have them.
    for (const entry of entries) if (!said.has(entry.id)) this.#track(entry, entry.id).isSent = !this.#session.isLive
    // The clock may have been set back since they were saved: what was said here is saved behind them.
    this.#lastMs = Math.max(0, ...entries.map(({ atMs }) => atMs))
    for (const [id, tracked] of said) {
      this.#all.set(id, tracked)
      const { entry, state } = tracked
      this.#lastMs = Math.max(this.#lastMs + 1, entry.atMs)
      if (state === 'waiting' && this.#lastMs > entry.atMs) this.#session.place.save({ ...entry, atMs: this.#lastMs })
    }
    this.#session.publish()
    this.sendNext()
  }

  /** Sends a refused message again. @throws ClientError `unknown_input` */
  retry(id: MessageId): void {
    const failed = this.#all.get(id)
    if (failed?.state !== 'failed') throw createError('unknown_input', `"${id}" was not refused`)
    this.#all.delete(id)
    this.send(id, failed.entry, id, true)
  }

  /** Withdraws a message that is still here. Returns false if the server may have it, undefined if it is not here. */
  withdraw(id: MessageId): boolean | undefined {
    const tracked = this.#all.get(id)
    if (!tracked || !isHere(tracked)) return undefined
    if (tracked.isSent) {
      tracked.isWithdrawn = true
      return false
    }
    this.#end(tracked, createCancelledError(id))
    this.#session.publish()
    if (tracked === this.#sending) {
      this.lose()
      this.sendNext()
    }
    return true
  }

  sendNext(): void {
    const { isLive, ask } = this.#session
    if (!isLive || this.#sending) return
    // The events up to now show that the server does not have them.
    for (const tracked of this.#all.values()) {
      if (tracked.state !== 'waiting') continue
      tracked.isSent = false
      if (tracked.isWithdrawn) this.withdraw(tracked.entry.id)
    }
    const next = [...this.#all.values()].find(({ state }) => state === 'waiting')
    if (!next) return
    this.#sending = next
    next.isSent = true
    const { type, given } = next.entry
    // The fields of this type, as saved.
    ask(type, given as never, (answer) => {
      if (this.#sending !== next) return
      const again = (): void => {
        this.#sending = undefined
        this.sendNext()
      }
      next.isSent = !answer.ok && answer.error.code === 'connection_failed'
      if (!answer.ok && this.#session.putOff(next, answer.error, again)) return
      if (answer.ok) this.#accept(next, answer.value)
      else this.#refuse(next, answer.error)
      this.#session.publish()
      again()
    })
  }

  /** Marks the sent input to be sent again. */
  lose(): void {
    this.#sending?.stopTimer?.()
    this.#sending = undefined
  }

  take(event: SessionEvent): void {
    const { type } = event
    for (const tracked of this.#all.values()) {
      const { asks, state, entry } = tracked
      const isAsked = 'message' in event && event.message === asks
      const isGone = type === 'messages-removed' && state === 'entered' && !this.#session.view.has(asks)
      if (type === 'message-added' && event.message.id === entry.id) this.#have(tracked, 'accepted')
      else if (type === 'message-entered' && isAsked) this.#have(tracked, 'entered')
      else if (isGone || (type === 'message-withdrawn' && isAsked)) this.#end(tracked, createCancelledError(asks))
      else if (type === 'turn-finished') {
        if (state === 'entered') this.#finish(tracked, event)
        // Accepted when it was resent, and withdrawn before that: the session reports nothing more about it.
        if (state === 'accepted') this.#show(tracked, undefined)
      }
    }
  }

  /** The events since then were not read: the messages show the outcome. */
  reload(): void {
    for (const tracked of this.#all.values()) this.#settle(tracked)
  }

  close(error: ClientError): void {
    this.lose()
    for (const tracked of this.#all.values()) reject(tracked, error)
  }

  #track(entry: InputEntry, asks: MessageId): Tracked {
    const accepted = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<SessionAnswer>()
    // Handled here, so callers need not await them.
    accepted.promise.catch(() => {})
    answer.promise.catch(() => {})
    const message = this.#session.view.has(entry.id) ? undefined : createMessage(entry)
    const tracked: Tracked = { entry, accepted, answer, asks, state: 'waiting', message, retries: 0 }
    this.#all.set(entry.id, tracked)
    this.#shown = undefined
    return tracked
  }

  #accept(tracked: Tracked, { turn }: { readonly turn?: MessageId }): void {
    const { state, entry } = tracked
    this.#have(tracked, state === 'waiting' ? 'accepted' : state)
    if (this.#session.view.has(entry.id)) this.#settle(tracked)
    if (entry.type === 'input.rewind' && turn === undefined)
      this.#end(tracked, createError('cancelled', 'nothing is asked'))
  }

  /** The server has it, as its answer or the session shows: it need not be sent again. */
  #have(tracked: Tracked, state: Tracked['state']): void {
    const { view, place } = this.#session
    const { id } = tracked.entry
    tracked.state = state
    place.remove('input', id)
    tracked.accepted.resolve()
    if (view.has(id)) this.#show(tracked, undefined)
  }

  #settle(tracked: Tracked): void {
    const { asks, state, entry } = tracked
    // A repeated question keeps its first place.
    if (state === 'waiting' && asks !== entry.id) return
    const messages = this.#session.view.messages()
    const asked = messages.find(({ id }) => id === asks)
    if (!asked) {
      // It was withdrawn, or precedes the shown messages.
      if (state === 'accepted' || state === 'entered') this.#end(tracked, createCancelledError(asks))
      return
    }
    const { exchange } = asked
    this.#have(tracked, exchange === undefined ? 'accepted' : 'entered')
    if (exchange === undefined) return
    const isAnswer = (one: ChatMessage): one is AssistantChatMessage =>
      one.role === 'assistant' && one.exchange === exchange
    const answer = messages.find(isAnswer)
    if (!answer?.stop) return
    const text = answer.steps.flatMap((step) => step.text || []).join('\n\n')
    this.#finish(tracked, { usage: {}, ...answer, stop: answer.stop, text })
  }

  #refuse(tracked: Tracked, error: ClientError): void {
    const { entry, message } = tracked
    tracked.state = 'failed'
    this.#end(tracked, error)
    if (!message) return this.#session.complain(error)
    this.#all.set(entry.id, tracked)
    this.#show(tracked, { ...message, delivery: 'failed', error })
  }

  #finish(
    tracked: Tracked,
    end: Pick<Extract<SessionEvent, { readonly type: 'turn-finished' }>, 'stop' | 'text' | 'usage' | 'error'>,
  ): void {
    const { stop, text, usage, error } = end
    if (stop === 'failed')
      return this.#end(tracked, new ClientError(error ?? { code: 'internal', message: 'it failed' }))
    tracked.answer.resolve({ stop, text, usage })
    this.#all.delete(tracked.entry.id)
  }

  /** Its answer will not arrive. */
  #end(tracked: Tracked, error: ClientError): void {
    const { id } = tracked.entry
    this.#session.place.remove('input', id)
    this.#all.delete(id)
    reject(tracked, error)
    this.#shown = undefined
  }

  #show(tracked: Tracked, message: PendingMessage | undefined): void {
    tracked.message = message
    this.#shown = undefined
  }
}

/** Whether the server does not have it. */
function isHere({ state }: Tracked): boolean {
  return state === 'waiting' || state === 'failed'
}

function reject({ accepted, answer }: Tracked, error: ClientError): void {
  accepted.reject(error)
  answer.reject(error)
}

function createMessage(entry: InputEntry): PendingMessage | undefined {
  if (entry.type !== 'input.send') return undefined
  const { content } = entry.given
  const parts: PendingMessage['parts'] = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return { role: 'user', id: entry.id, from: 'user', parts, atMs: entry.atMs, waits: true, delivery: 'pending' }
}

function createCancelledError(id: MessageId): ClientError {
  return createError('cancelled', `the input "${id}" was withdrawn`)
}
