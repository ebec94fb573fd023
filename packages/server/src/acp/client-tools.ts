// Runs the agent's client tools on a client: leases them to it, claims each call before sending it, and reports the
// result.
import type { CallView, LeaseClient, Logger, FrontSession, SessionEvent, Timers } from '@baton/core/internal'
import type { Outcome } from '@baton/core/machine'
import { describeThrown } from '@baton/runtime'
import { KEPT_LEASE_MS, keepLease } from '../shared/keep-lease.ts'

export interface ClientToolsOptions {
  readonly session: FrontSession
  /** The name of the client in the session. */
  readonly client: string
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
  #hasLeft = false

  /** @throws BatonError when the session refuses the client */
  static async open(init: ClientToolsOptions): Promise<ClientTools> {
    const { session, client, runs } = init
    const lease = await session.client({ client, leaseMs: KEPT_LEASE_MS, asks: true, ...(runs && { runs }) })
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
  }

  /** Releases the lease and aborts running calls. Never rejects. */
  async leave(): Promise<void> {
    if (this.#hasLeft) return
    this.#hasLeft = true
    this.#stopRenewals()
    for (const gone of this.#running.values()) gone.abort()
    await this.#lease.detach().catch(() => {}) // the session is closed; the lease will expire
  }

  async #run(call: CallView, signal: AbortSignal): Promise<void> {
    try {
      await this.#lease.claim(call.callId)
    } catch {
      return // withdrawn or taken by another client; its next event says so
    }
    const outcome = await this.#init.callTool(call, signal)
    // Also of a call that has settled meanwhile: the model may have read that it may have run.
    if (!this.#hasLeft) await this.#lease.result(call.callId, outcome)
  }
}
