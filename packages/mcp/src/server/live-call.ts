// A running call, or a running turn of the agent. It reads the events once and shares its state with everything that
// waits for the call: a request, its retry, a task.
import type { Answer, CallView, JsonValue, Session, SessionEvent, Turn } from '@baton/core'
import { readRequest } from '@baton/core/internal'
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Waiting } from './questions.ts'

export interface LiveCallOptions {
  readonly session: Session
  readonly turn: Turn
  /** Whether the turn's steps count as progress too, or only its tool's notes. */
  readonly tellsSteps: boolean
  /** Withdraws or interrupts the call. */
  readonly cancel: () => void
  /** Creates the client's result at the end. Never rejects. */
  readonly finish: Finish
  /** Called once, when the turn has ended. */
  readonly onEnd: () => void
}

export type Ended = { readonly answer: Answer } | { readonly cause: unknown }

/** `calls`: all calls of the turn, in the order in which they were made. */
export type Finish = (session: Session, calls: readonly CallView[], ended: Ended) => Promise<CallToolResult>

/** Maximum characters of a progress note. */
const NOTE_CHARS = 1_000

export class LiveCall {
  readonly session: Session
  readonly inputId: string
  readonly #init: LiveCallOptions
  readonly #waiting = new Map<string, Waiting>()
  readonly #calls = new Map<string, CallView>()
  #acts: Promise<unknown> = Promise.resolve()
  #asked = 0
  #notes = 0
  #note: JsonValue = null
  #result: CallToolResult | undefined
  #wake = Promise.withResolvers<void>()

  constructor(init: LiveCallOptions) {
    this.#init = init
    this.session = init.session
    this.inputId = init.turn.id
    void this.#follow()
  }

  /** Approvals and questions that wait for a person, oldest first. */
  get waiting(): readonly Waiting[] {
    return [...this.#waiting.values()]
  }

  /** Present once the turn has ended. */
  get result(): CallToolResult | undefined {
    return this.#result
  }

  /** The number of notes so far, and the newest one. */
  get progress(): { readonly count: number; readonly note: JsonValue } {
    return { count: this.#notes, note: this.#note }
  }

  /** Settles at the next change. */
  changed(): Promise<void> {
    return this.#wake.promise
  }

  /** Settles when the turn has ended. Never rejects. */
  async over(): Promise<CallToolResult> {
    while (!this.#result) await this.changed()
    return this.#result
  }

  /** Runs actions in sequence: if two answers to one question arrive, the second sees the effect of the first. */
  inOrder<Value>(act: () => Promise<Value>): Promise<Value> {
    const done = this.#acts.then(act)
    this.#acts = done.catch(() => {}) // the caller gets the error
    return done
  }

  /** Repeats a request whose answer did not fit. It gets a new number, and with it a new name: clients answer a name once. */
  askAgain(id: string): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    this.#waiting.set(id, { ...waiting, n: (this.#asked += 1) })
    this.#tell()
  }

  cancel(): void {
    if (!this.#result) this.#init.cancel()
  }

  async #follow(): Promise<void> {
    const { session, turn, finish, onEnd } = this.#init
    const ended = await this.#read(turn)
    this.#result = await finish(session, [...this.#calls.values()], ended)
    this.#waiting.clear()
    onEnd()
    this.#tell()
  }

  async #read(turn: Turn): Promise<Ended> {
    try {
      for await (const event of turn) {
        this.#take(event)
        this.#tell()
      }
      return { answer: await turn.answer }
    } catch (cause) {
      return { cause }
    }
  }

  #tell(): void {
    const { resolve } = this.#wake
    this.#wake = Promise.withResolvers()
    resolve()
  }

  #take(event: SessionEvent): void {
    switch (event.type) {
      case 'call':
        this.#takeCall(event.call)
        return
      case 'call-progress':
        this.#say(event.note)
        return
      case 'step-started':
        if (event.step > 0 && this.#init.tellsSteps) this.#say('thinking')
        return
      default:
        this.#takeRequest(event)
    }
  }

  #takeRequest(event: SessionEvent): void {
    const change = readRequest(event)
    if (!change) return
    const { id, callId } = change
    if (change.type === 'over') this.#waiting.delete(id)
    else if (change.type === 'approval') {
      this.#forget(callId)
      this.#waiting.set(id, { type: 'approval', id, callId, n: (this.#asked += 1), call: change.asked.call })
    } else {
      const { message: asked, schema, path } = change.asked
      const message = path ? `${path.map(({ agent }) => agent).join(' › ')} › ${asked}` : asked
      this.#waiting.set(id, { type: 'question', id, callId, n: (this.#asked += 1), message, schema })
    }
  }

  #takeCall(call: CallView): void {
    const isNew = this.#calls.get(call.callId)?.status !== 'running' && call.status === 'running'
    this.#calls.set(call.callId, call)
    if (isNew && this.#init.tellsSteps) this.#say(call.title ?? call.name)
    if (call.result) this.#forget(call.callId)
  }

  #forget(callId: string): void {
    for (const [id, waiting] of this.#waiting) if (waiting.callId === callId) this.#waiting.delete(id)
  }

  #say(note: JsonValue): void {
    this.#notes += 1
    this.#note = typeof note === 'string' ? note.slice(0, NOTE_CHARS) : note
  }
}
