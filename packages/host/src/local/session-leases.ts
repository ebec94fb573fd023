// The leases of one host: taken with each session, renewed all at once while it holds any, and given up before they end.
// It reads no clock: it counts its own ticks, of which several fit in a lease. What makes it safe also when this process was
// asleep for longer than a lease are the epochs of the store.
import type { LeftBehind, Logger, Store, Timers } from '@baton/core'
import { BatonError } from '@baton/core'
import { describeThrown, within } from '@baton/runtime'
import { createHeldError } from '../stores/session-held.ts'
import type { LimitedStore } from './store-in-time.ts'
import { createLateError, STORE_ACT_MS } from './store-in-time.ts'

export interface SessionLeasesInit {
  readonly store: LimitedStore
  /** The store itself: what is acquired too late is given back. */
  readonly disk: Pick<Store, 'acquire' | 'leaseMs'>
  readonly owner: string
  /** Address at which other hosts pass on requests for this host's sessions. */
  readonly address: string | undefined
  readonly timers: Timers
  readonly log: Logger
  /** Another owner asks for a session of this host; told at each renewal until it is released. */
  readonly onHandover: (session: string) => void
}

/** The state of a log when this host came to own it. */
export interface OwnedLog {
  readonly epoch: number
  /** Position of its last record; -1 for a new session. */
  readonly pos: number
  /** Whether this host may still append. */
  readonly isHeld: boolean
}

/** Ticks in a lease. At each one the leases are renewed. */
const LEASE_TICKS = 4
/** Ticks from the sending of the last renewal that succeeded, after which this host acts as if its leases had ended. */
const FENCE_TICKS = 3

export class SessionLeases {
  readonly #init: SessionLeasesInit
  readonly #held = new Map<string, HeldLease>()
  /** Ownerships that are over, of which the store could not be told. */
  readonly #unreleased = new Set<Ending>()
  /** Acquisitions that the store has not answered. */
  #asking = 0
  #ticks = 0
  /** Every lease that is held was given or renewed in this tick, or later. */
  #renewedAt = 0
  #stopTick: (() => void) | undefined
  #isStopped = false

  constructor(init: SessionLeasesInit) {
    this.#init = init
  }

  /** @throws BatonError `session_held`, `store_failed`; whatever else the store throws */
  async acquire(session: string): Promise<OwnedLog> {
    const { disk, owner, address, timers } = this.#init
    this.#asking += 1
    if (!this.#stopTick) this.#startTick() // a lease is counted from before it is given
    const sentAt = this.#ticks
    const acquiring = disk.acquire(session, owner, address)
    try {
      const limit = { timeoutMs: STORE_ACT_MS, error: () => createLateError('acquire') }
      const outcome = await within(timers, limit, acquiring)
      if (outcome.type === 'held') {
        // A holder that takes no requests is asked to hand the session over, which may fail.
        if (outcome.address === undefined) this.#init.store.requestHandover(session, owner).catch(() => {})
        throw createHeldError(session, outcome)
      }
      if (this.#held.size === 0) this.#renewedAt = Math.max(this.#renewedAt, sentAt)
      if (this.#isOver()) throw leaseLost(session)
      const { epoch, pos } = outcome
      const lease: HeldLease = { epoch, pos, isHeld: true, onLost: () => {} }
      this.#drop([session]) // an earlier epoch of its own
      this.#held.set(session, lease)
      return lease
    } catch (cause) {
      // A late answer belongs to nobody.
      acquiring
        .then((late) => (late.type === 'acquired' ? this.release(session, late.epoch, 'work') : undefined))
        .catch(() => {}) // who asked has its failure already
      throw cause
    } finally {
      this.#asking -= 1
      this.#rest()
    }
  }

  /** Says whom to tell when this host must act as if the lease had ended; at once, where it has lost it already. */
  whenLost(session: string, epoch: number, tell: (cause: BatonError) => void): void {
    const lease = this.#held.get(session)
    if (lease?.epoch === epoch) lease.onLost = tell
    else tell(leaseLost(session))
  }

  /** Ends an ownership. Never rejects: a store that fails is told again at each tick; if it hears nothing the lease ends. */
  async release(session: string, epoch: number, left: LeftBehind): Promise<void> {
    if (this.#held.get(session)?.epoch === epoch) this.#drop([session])
    await this.#tell({ session, epoch, left, isAsked: false })
  }

  /**
   * Removes a session from the store, unless another owner holds it.
   * @throws BatonError `session_held`, `store_failed`
   */
  async remove(session: string): Promise<void> {
    const { store, owner } = this.#init
    await store.remove(session, owner)
  }

  /** Nothing is renewed any more, and nothing is held. */
  stop(): void {
    this.#isStopped = true
    this.#stopTick?.()
    this.#stopTick = undefined
    this.#drop([...this.#held.keys()])
  }

  #drop(sessions: readonly string[]): void {
    for (const session of sessions) {
      const lease = this.#held.get(session)
      if (lease) lease.isHeld = false
      this.#held.delete(session)
    }
  }

  /** Never rejects. */
  async #tell(ending: Ending): Promise<void> {
    const { session, epoch, left } = ending
    ending.isAsked = true
    try {
      await this.#init.store.release(session, epoch, left)
      this.#unreleased.delete(ending)
    } catch {
      this.#unreleased.add(ending)
    }
    ending.isAsked = false
    this.#rest()
  }

  #startTick(): void {
    const { disk, timers } = this.#init
    if (!Number.isFinite(disk.leaseMs) || this.#isStopped) return
    this.#stopTick = timers.start(disk.leaseMs / LEASE_TICKS, () => this.#tick(), { isBackground: true })
  }

  #tick(): void {
    this.#ticks += 1
    this.#startTick()
    if (this.#isOver()) this.#fence()
    for (const ending of this.#unreleased) if (!ending.isAsked) void this.#tell(ending)
    if (this.#held.size + this.#asking > 0) void this.#renew(this.#ticks)
    this.#rest()
  }

  #isOver(): boolean {
    return this.#ticks - this.#renewedAt >= FENCE_TICKS
  }

  #fence(): void {
    const lost = [...this.#held]
    this.#drop([...this.#held.keys()])
    if (lost.length > 0) this.#init.log.warn('leases could not be renewed and are given up', { sessions: lost.length })
    for (const [session, { onLost }] of lost) onLost(leaseLost(session))
  }

  /** Never rejects. */
  async #renew(sentAt: number): Promise<void> {
    const { store, owner, log, onHandover } = this.#init
    try {
      const { handovers } = await store.renew(owner)
      this.#renewedAt = Math.max(this.#renewedAt, sentAt)
      for (const session of handovers) if (this.#held.has(session)) onHandover(session)
    } catch (cause) {
      log.warn('leases could not be renewed', { cause: describeThrown(cause) })
    }
  }

  /** With nothing to renew and nothing to tell there is nothing to wait for. */
  #rest(): void {
    if (this.#held.size + this.#unreleased.size + this.#asking > 0) return
    this.#stopTick?.()
    this.#stopTick = undefined
  }
}

interface HeldLease extends OwnedLog {
  isHeld: boolean
  onLost: (cause: BatonError) => void
}

interface Ending extends OwnedEpoch {
  readonly left: LeftBehind
  /** The store is being told. */
  isAsked: boolean
}

interface OwnedEpoch {
  readonly session: string
  readonly epoch: number
}

function leaseLost(session: string): BatonError {
  const message = `session ${session}: the store could not be reached to renew its lease, so this host lets go of it`
  return new BatonError({ code: 'store_failed', message })
}
