// The calls offered to this copy of the app. Each is claimed before it starts, and started once, however often it is
// offered. Its result stays in the outbox until the server has it.
import type { CallView } from '@baton/core'
import type { CallOutcome, ClaimedCall } from '@baton/protocol'
import type { ClientError } from '../client-error.ts'
import type { OutboxEntry } from '../outbox/outbox.ts'
import type { ToolHandler } from './client-tools.ts'
import { ClientModels } from './client-models.ts'
import { runTool } from './client-tools.ts'
import type { OpenSessionOptions } from './session-client.ts'
import type { OpenCallView } from './session-view.ts'
import type { Retried, SessionContext } from './session-context.ts'

export type ResultEntry = Extract<OutboxEntry, { readonly kind: 'result' }>

export interface ClientCallsSession extends SessionContext {
  /** Name for offers of calls; it may change. Undefined if this client does not run calls. */
  readonly device: string | undefined
  createFullError(what: string): ClientError
  readonly options: OpenSessionOptions
}

/** Maximum calls that run here, or whose results wait for the server. */
const CALLS_MAX = 100

interface Held extends Retried {
  readonly callId: string
  /** `unclaimed`: requested, but the answer was lost. */
  state: 'claiming' | 'unclaimed' | 'begun' | 'done'
  /** The device that claimed it. */
  device: string
  readonly abort: AbortController
  /** Present once the call is done. */
  outcome?: CallOutcome
  /** Its result was sent on this connection. */
  isSent: boolean
}

export class ClientCalls {
  readonly models: ClientModels
  readonly #session: ClientCallsSession
  readonly #held = new Map<string, Held>()

  /** @throws TypeError */
  constructor(session: ClientCallsSession) {
    const wrong = Object.entries({ ...session.options.tools }).find(([, run]) => typeof run !== 'function')
    if (wrong) throw new TypeError(`tools must be an object of functions by name; "${wrong[0]}" is not a function`)
    this.#session = session
    this.models = new ClientModels(session)
  }

  /** Takes over results of a former copy of the app. */
  adopt(entries: readonly ResultEntry[]): void {
    // A call that this copy has as well was offered to it after the former one had lost it.
    for (const { id, device, outcome } of entries)
      if (!this.#held.has(id)) this.#sendResult(this.#hold(id, { device, state: 'done', outcome }))
  }

  /** Takes a call that is new or has changed, in its current state. */
  take({ callId, runs, status, holder }: CallView): void {
    const held = this.#held.get(callId)
    const { device } = this.#session
    if (status === 'settled') return this.#end(callId)
    if (runs !== 'client' || device === undefined || holder !== device) return
    // A running call belongs to this copy only if this copy sent its claim.
    if (status === 'waiting' ? held?.state !== 'claiming' : held?.state === 'unclaimed') this.#claim(callId, device)
  }

  /** Takes the unsettled calls when the connection is back; others have been settled meanwhile. */
  resume(calls: readonly OpenCallView[]): void {
    const open = new Set(calls.map(({ call }) => call.callId))
    for (const callId of this.#held.keys()) if (!open.has(callId)) this.#end(callId)
    for (const { call } of calls) this.take(call)
    for (const held of this.#held.values()) this.#sendResult(held)
  }

  lose(): void {
    this.models.lose()
    for (const held of this.#held.values()) {
      held.stopTimer?.()
      held.isSent = false
      if (held.state === 'claiming') held.state = 'unclaimed'
    }
  }

  /** Waiting results stay in the outbox. */
  close(): void {
    this.lose()
    for (const { abort } of this.#held.values()) abort.abort()
    this.#held.clear()
  }

  #hold(callId: string, known: Pick<Held, 'state' | 'device' | 'outcome'>): Held {
    const held: Held = { callId, abort: new AbortController(), isSent: false, retries: 0, ...known }
    this.#held.set(callId, held)
    return held
  }

  #claim(callId: string, device: string): void {
    const known = this.#held.get(callId)
    if (!known && this.#held.size >= CALLS_MAX) return this.#session.complain(this.#session.createFullError('calls'))
    const held = known ?? this.#hold(callId, { device, state: 'claiming' })
    // Already started and offered again, for example after a restart of the server: only its result is missing.
    const isBegun = held.state === 'begun' || held.state === 'done'
    if (!isBegun) held.state = 'claiming'
    held.device = device
    this.#session.ask('call.claim', { callId }, (answer) => {
      if (this.#held.get(callId) !== held || isBegun || held.state !== 'claiming') return
      if (answer.ok) {
        const { call } = answer.value
        if (call.callId !== callId) throw new Error('a claim returned another call') // drops the connection to the server
        held.retries = 0 // its result is retried separately
        void this.#run(call, held)
      }
      // A permanent refusal: another client has the call, or it has ended.
      else if (!this.#session.putOff(held, answer.error, () => this.#claim(callId, held.device))) this.#forget(callId)
    })
  }

  /** Never rejects. */
  async #run(call: ClaimedCall, held: Held): Promise<void> {
    const { listeners, options, place, world } = this.#session
    const { callId, name, input } = call
    held.state = 'begun'
    listeners.tell('call', call)
    const context = { callId, name, signal: held.abort.signal }
    const outcome = await runTool(findHandler(options, name), input, context)
    if (this.#held.get(callId) !== held) return // the client was closed
    held.state = 'done'
    held.outcome = outcome
    place.save({ kind: 'result', id: callId, atMs: world.nowMs(), outcome, device: held.device })
    listeners.tell('outcome', { callId, outcome })
    this.#sendResult(held)
  }

  #sendResult(held: Held): void {
    const { callId, outcome, device } = held
    if (!this.#session.isLive || held.isSent || !outcome) return
    held.isSent = true
    this.#session.ask('call.result', { callId, outcome, device }, (answer) => {
      if (this.#held.get(callId) !== held || !held.isSent) return
      const again = (): void => {
        held.isSent = false
        this.#sendResult(held)
      }
      if (!answer.ok && this.#session.putOff(held, answer.error, again)) return
      // Servers use this code for a call that has already ended.
      const isRefused = !answer.ok && answer.error.code !== 'illegal_input'
      // Without any result the call would stay open, and the session would wait.
      if (isRefused && !answer.error.retryable && !('error' in outcome)) {
        held.outcome = { error: answer.error.message }
        return again()
      }
      this.#forget(callId)
      if (isRefused) this.#session.complain(answer.error)
    })
  }

  /** Aborts a settled call. If it has begun, its result is still sent: the model may have read that it may have run. */
  #end(callId: string): void {
    const held = this.#held.get(callId)
    if (held?.state === 'begun' || held?.state === 'done') held.abort.abort()
    else this.#forget(callId)
  }

  /** Forgets a call that was not begun, or whose result the server has answered. */
  #forget(callId: string): void {
    const held = this.#held.get(callId)
    if (!held) return
    this.#held.delete(callId)
    if (held.outcome) this.#session.place.remove('result', callId)
    held.stopTimer?.()
    held.abort.abort()
  }
}

function findHandler(
  { tools = {}, ownTools = {}, otherTool }: OpenSessionOptions,
  name: string,
): ToolHandler | undefined {
  if (Object.hasOwn(tools, name)) return tools[name]
  return Object.hasOwn(ownTools, name) ? ownTools[name]?.run : otherTool
}
