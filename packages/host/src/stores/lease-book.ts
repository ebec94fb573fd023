// The leases of a store in this process: which owner has which session, and until when. They exist only in memory, so
// opening a store starts without any. Records and epochs are kept elsewhere.
import type { Clock, HeldByOther, Holder, LeftBehind, Renewal, RestingSession } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { createHeldError } from './session-held.ts'

export interface LeaseOptions {
  /**
   * Milliseconds a lease lasts after it is acquired or renewed. Default: 10,000. Use Infinity for a store with one
   * host.
   */
  readonly leaseMs?: number
  /** Clock that times leases. Default: the system's monotonic clock, which ignores jumps of the wall clock. */
  readonly clock?: Clock
}

export interface Lease {
  readonly type: 'given'
  readonly owner: string
  readonly address: string | undefined
  /** Set once the session was acquired: resting needs it. */
  epoch: number | undefined
  untilMs: number
  /** The owner that asked for the session. */
  askedBy: string | undefined
  /** Whether it counts as free: its owner left it at rest, and may resume it. */
  isResting: boolean
}

const LEASE_MS = 10_000

export class LeaseBook {
  readonly leaseMs: number
  readonly #clock: Clock
  readonly #leases = new Map<string, Lease>()

  /** @throws BatonError `invalid_option` */
  constructor({ leaseMs = LEASE_MS, clock = STEADY }: LeaseOptions = {}) {
    if (!(leaseMs > 0))
      throw new BatonError({ code: 'invalid_option', message: `leaseMs must be above 0, not ${String(leaseMs)}` })
    this.leaseMs = leaseMs
    this.#clock = clock
  }

  holder(session: string): Holder | undefined {
    const lease = this.#leases.get(session)
    if (!lease || lease.isResting || lease.untilMs <= this.#clock.nowMs()) return undefined
    const { owner, address, untilMs } = lease
    return { owner, leaseUntilMs: untilMs, ...(address !== undefined && { address }) }
  }

  /** Leases the session to `owner`, unless another owner holds it. */
  give(session: string, owner: string, address: string | undefined): Lease | HeldByOther {
    const holder = this.holder(session)
    if (holder && holder.owner !== owner) return { type: 'held', ...holder }
    const askedBy = holder && this.#leases.get(session)?.askedBy
    const untilMs = this.#nextEndMs()
    const lease: Lease = { type: 'given', owner, address, epoch: undefined, untilMs, askedBy, isResting: false }
    this.#leases.set(session, lease)
    return lease
  }

  /** Frees the session for other owners until it is resumed. */
  rest(session: string, epoch: number): void {
    const lease = this.#leases.get(session)
    if (lease?.epoch !== epoch) return
    lease.isResting = true
    lease.askedBy = undefined
  }

  /** Returns whether the session still rested as its owner left it. */
  resume({ session, owner, epoch }: Pick<RestingSession, 'session' | 'owner' | 'epoch'>): boolean {
    const lease = this.#leases.get(session)
    if (!lease?.isResting || lease.owner !== owner || lease.epoch !== epoch) return false
    lease.isResting = false
    lease.untilMs = this.#nextEndMs()
    return true
  }

  isResting(session: string): boolean {
    return this.#leases.get(session)?.isResting === true
  }

  /**
   * Called before a session at rest may be changed: its owner cannot resume it. Returns what takes that back, for a change
   * that was not made.
   */
  endRest(session: string): () => void {
    const lease = this.#leases.get(session)
    if (!lease?.isResting) return () => {}
    const spoilt: Lease = { ...lease, epoch: undefined }
    this.#leases.set(session, spoilt)
    return () => {
      if (this.#leases.get(session) === spoilt) this.#leases.set(session, lease)
    }
  }

  /** @throws BatonError `session_held` when an owner other than `owner` holds the session */
  checkFree(session: string, owner: string | undefined): void {
    const holder = this.holder(session)
    if (holder && holder.owner !== owner) throw createHeldError(session, holder)
  }

  /** The end of the session's lease, which may be over; 0 if it was released or rests. */
  endOf(session: string): number {
    const lease = this.#leases.get(session)
    return lease && !lease.isResting ? lease.untilMs : 0
  }

  leaseOf(session: string): Lease | undefined {
    return this.#leases.get(session)
  }

  /** Ends the session's lease, if it is still this one. */
  end(session: string, lease: Lease | undefined): void {
    if (this.#leases.get(session) === lease) this.#leases.delete(session)
  }

  endAll(): void {
    this.#leases.clear()
  }

  renew(owner: string): Renewal {
    const leaseUntilMs = this.#nextEndMs()
    const handovers: string[] = []
    for (const [session, lease] of this.#leases) {
      if (lease.owner !== owner) continue
      lease.untilMs = leaseUntilMs
      if (lease.askedBy !== undefined) handovers.push(session)
    }
    return { leaseUntilMs, handovers }
  }

  requestHandover(session: string, owner: string): void {
    const lease = this.#leases.get(session)
    if (lease && lease.owner !== owner && !lease.isResting) lease.askedBy = owner
  }

  #nextEndMs(): number {
    return this.#clock.nowMs() + this.leaseMs
  }
}

/** Milliseconds since 1970 by a monotonic clock. */
const STEADY: Clock = { nowMs: () => Math.floor(performance.timeOrigin + performance.now()) }

/** @throws BatonError `invalid_option`, because untyped callers may pass anything */
export function checkLeft(left: LeftBehind): void {
  if (left !== 'nothing' && left !== 'work')
    throw new BatonError({
      code: 'invalid_option',
      message: `release must be given "nothing" or "work", not ${String(left)}`,
    })
}
