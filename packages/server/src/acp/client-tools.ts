// Runs the agent's client tools on a client: leases them to it, claims each call before sending it, and reports the
// result.
import type { CallView, ErrorCode, LeaseClient, Logger, FrontSession, SessionEvent, Timers } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import type { Outcome } from '@baton/core/machine'
import { describeThrown } from '@baton/runtime'
import { KEPT_LEASE_MS, keepLease } from '../shared/keep-lease.ts'
import { mayPass, tryAgain } from '../shared/try-again.ts'

export interface ClientToolsOptions {
  readonly session: FrontSession
  /** The name of the client in the session. */
  readonly client: string
  /** Names of the tools that the editor runs; all by default, those of agents below included. */
  readonly runs: readonly string[] | undefined
  readonly callTool: (call: CallView, signal: AbortSignal) => Promise<Outcome>
  readonly timers: Timers
  readonly log: Logger
}

export class ClientTools {
  readonly #init: ClientToolsOptions
  readonly #lease: LeaseClient
  readonly #running = new Map<string, AbortController>()
  readonly #stopRenewals: () => void
  /** Aborts when the session needs nothing more from this client. */
  readonly #over = new AbortController()
  /** Claims under way, each with the signal that ends its retries. */
  readonly #claims = new Set<AbortController>()
  #hasLeft = false

  /** @throws BatonError when the session refuses the client */
  static async open(init: ClientToolsOptions): Promise<ClientTools> {
    const { session, client, runs } = init
    const lease = await session.client({
      client,
      leaseMs: KEPT_LEASE_MS,
      asks: true,
      ...(runs ? { runs } : { below: true }),
    })
    return new ClientTools(init, lease)
  }

  private constructor(init: ClientToolsOptions, lease: LeaseClient) {
    this.#init = init
    this.#lease = lease
    this.#stopRenewals = keepLease({ ...init, client: lease })
  }

  /** Never rejects. */
  take(event: SessionEvent): void {
    if (event.type !== 'call') return
    const { call } = event
    if (call.status === 'settled') this.#running.get(call.callId)?.abort()
    else this.run(call)
  }

  run(call: CallView): void {
    const isOwn = call.runs === 'client' && call.holder === this.#lease.connection && call.status === 'waiting'
    if (!isOwn || this.#running.has(call.callId)) return
    const gone = new AbortController()
    this.#running.set(call.callId, gone)
    this.#run(call, gone.signal)
      .catch((cause: unknown) => {
        const { log } = this.#init
        if (!gone.signal.aborted) log.info('a client tool call could not be run', { cause: describeThrown(cause) })
      })
      .finally(() => this.#running.delete(call.callId))
  }

  /** Stops renewing the lease, because the session is closed here. */
  rest(): void {
    this.#stopRenewals()
    this.#over.abort()
    for (const claim of this.#claims) claim.abort()
  }

  /** Releases the lease and aborts running calls. Never rejects. */
  async leave(): Promise<void> {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.rest()
    for (const gone of this.#running.values()) gone.abort()
    await this.#lease.detach().catch(() => {}) // the session is closed; the lease will expire
  }

  async #run(call: CallView, signal: AbortSignal): Promise<void> {
    if (!(await this.#claim(call.callId, signal))) return
    const outcome = await this.#init.callTool(call, signal)
    // Also of a call that has settled meanwhile: the model may have read that it may have run.
    if (!this.#hasLeft) await this.#report(call.callId, outcome)
  }

  /** False if it was withdrawn or taken by another client; its next event says so. */
  async #claim(callId: string, signal: AbortSignal): Promise<boolean> {
    const isRefused = (cause: unknown): boolean =>
      isBatonError(cause) && (cause.code === 'call_over' || cause.code === 'call_not_offered')
    // A restart of the session withdraws the call and offers it again, also while its claim is under way.
    const isOffered = (): boolean => this.#lease.calls().some((offered) => offered.callId === callId)
    // Not `AbortSignal.any`: the longer-lived of its signals keeps a reference for each call.
    const claim = new AbortController()
    const end = (): void => claim.abort()
    signal.addEventListener('abort', end)
    this.#claims.add(claim)
    try {
      await tryAgain(() => this.#lease.claim(callId), {
        timers: this.#init.timers,
        signal: claim.signal,
        isPassing: (cause) => mayPass(cause) || (isRefused(cause) && isOffered()),
      })
      return true
    } catch (cause) {
      if (isRefused(cause)) return false
      throw cause
    } finally {
      signal.removeEventListener('abort', end)
      this.#claims.delete(claim)
    }
  }

  async #report(callId: string, outcome: Outcome): Promise<void> {
    const tell = (told: Outcome): Promise<unknown> =>
      tryAgain(() => this.#lease.result(callId, told), { timers: this.#init.timers, signal: this.#over.signal })
    try {
      await tell(outcome)
    } catch (cause) {
      const code = isBatonError(cause) ? UNFIT[cause.code] : undefined
      if (!isBatonError(cause) || code === undefined) throw cause
      // Without any result the call would stay open, and the session would wait.
      await tell({ type: 'error', code, message: cause.message })
    }
  }
}

/** Refusals of what an editor has returned, such as a value that is too deep, and what the model reads as their code. */
const UNFIT: Partial<Record<ErrorCode, ErrorCode>> = {
  invalid_event: 'result_invalid',
  result_invalid: 'result_invalid',
  input_too_large: 'result_too_large',
}
