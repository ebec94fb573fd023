// One host's leases: acquired per session, renewed together, and given up before they expire. Time is counted in its
// own ticks, several per lease, without reading a clock. If the process slept for longer than a lease, the store's
// epochs keep it safe.
import type { Acquired, HeldByOther, LeftBehind, Logger, NotTheRoot, Store, Timers, Under } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { describeThrown, within } from '@baton/runtime'
import { createHeldError } from '../stores/session-held.ts'
import type { LimitedStore } from './store-in-time.ts'
import { createLateError, STORE_ACT_MS } from './store-in-time.ts'

export interface SessionLeasesOptions {
  readonly store: LimitedStore
  /** The store itself: a lease acquired after its deadline must be returned. */
  readonly disk: Pick<Store, 'acquire' | 'leaseMs'>
  readonly owner: string
  /** The address where other hosts send requests for this host's sessions. */
  readonly address: string | undefined
  readonly timers: Timers
  readonly log: Logger
  /** Called when another owner asks for a session of this host, at each renewal until it is released. */
  readonly onHandover: (session: string) => void
}

/** A log as it was when this host acquired it. */
export interface OwnedLog {
  readonly epoch: number
  /** Position of its last record; -1 for a new session. */
  readonly pos: number
  /** Whether this host may still append. */
  readonly isHeld: boolean
}

/** Ticks per lease. Leases are renewed at each tick. */
const LEASE_TICKS = 4
/** Ticks without a successful renewal until this host treats its leases as expired. */
const FENCE_TICKS = 3
/** Sessions in doubt to remember. Any others stay with this host until it asks for them again. */
const IN_DOUBT_MAX = 10_000

export class SessionLeases {
  readonly #init: SessionLeasesOptions
  readonly #held = new Map<string, HeldLease>()
  /** Ended ownerships not yet reported to the store. */
  readonly #unreleased = new Set<Ending>()
  /** Acquisitions the store has not answered yet. */
  readonly #asking = new Set<Asking>()
  /** Sessions whose acquisition failed without an answer: the store may have granted them, and renewals keep them. */
  readonly #inDoubt = new Set<string>()
  /** The session in doubt that is being released. */
  #settling: Settling | undefined
  #ticks = 0
  /** The tick in which the oldest held lease was acquired or renewed, or an earlier one. */
  #renewedAt = 0
  #stopTick: (() => void) | undefined
  #isStopped = false

  constructor(init: SessionLeasesOptions) {
    this.#init = init
  }

  /** @throws BatonError `session_held`, `store_failed`, or whatever else the store throws */
  async acquire(session: string): Promise<OwnedLog> {
    const { owner } = this.#init
    const asking = this.#beginAsking(session)
    try {
      // Otherwise its epoch could be the newer one.
      if (this.#settling?.session === session) await this.#settling.done
      const sentAt = this.#ticks
      const outcome = await this.#ask(session)
      if (outcome.type === 'not-the-root')
        throw new BatonError({ code: 'internal', message: `session ${session} is no child` })
      if (outcome.type === 'held') {
        // Asks a holder without an address to hand over the session. The request may fail.
        if (outcome.address === undefined) this.#init.store.requestHandover(session, owner).catch(() => {})
        throw createHeldError(session, outcome)
      }
      const { epoch, pos } = outcome
      if (this.#held.size === 0) this.#renewedAt = Math.max(this.#renewedAt, sentAt)
      if (this.#isOver()) {
        void this.release(session, epoch, 'work')
        throw leaseLost(session)
      }
      const lease: HeldLease = { epoch, pos, isHeld: true, onLost: () => {} }
      this.#drop([session]) // this host's earlier epoch
      this.#held.set(session, lease)
      return lease
    } finally {
      this.#endAsking(asking)
    }
  }

  /**
   * Acquires a child under its root. The root's lease covers it, so it needs no renewal.
   * @throws BatonError `session_held` if another owner has the root, `store_failed`, or whatever else the store throws
   */
  async acquireChild(session: string, under: Under): Promise<OwnedLog> {
    const { disk, owner, timers } = this.#init
    const limit = { timeoutMs: STORE_ACT_MS, error: () => createLateError('acquire') }
    const outcome = await within(timers, limit, disk.acquire(session, owner, undefined, under))
    if (outcome.type === 'acquired') return { epoch: outcome.epoch, pos: outcome.pos, isHeld: true }
    const message = `session ${session} cannot be opened: another host has its root, session ${under.root}`
    throw new BatonError({ code: 'session_held', message })
  }

  /**
   * Asks the store for a session. Without an answer the session is in doubt; a late answer has no taker, so the lease is
   * returned.
   * @throws BatonError `store_failed`, or whatever else the store throws
   */
  async #ask(session: string): Promise<Acquired | HeldByOther | NotTheRoot> {
    const { disk, owner, address, timers } = this.#init
    this.#inDoubt.delete(session)
    const acquiring = disk.acquire(session, owner, address)
    try {
      const limit = { timeoutMs: STORE_ACT_MS, error: () => createLateError('acquire') }
      const outcome = await within(timers, limit, acquiring)
      if (outcome.type !== 'not-the-root') return outcome
      throw new BatonError({
        code: 'internal',
        message: `the store asks for a root to acquire session ${session} under`,
      })
    } catch (cause) {
      this.#doubt(session)
      acquiring.then(
        (late) => (late.type === 'acquired' ? this.release(session, late.epoch, 'work') : undefined),
        () => this.#doubt(session),
      )
      throw cause
    }
  }

  /** Calls `tell` when this host must act as if the lease had ended, or at once if it already has. */
  whenLost(session: string, epoch: number, tell: (cause: BatonError) => void): void {
    const lease = this.#held.get(session)
    if (lease?.epoch === epoch) lease.onLost = tell
    else tell(leaseLost(session))
  }

  /**
   * Ends an ownership. Never rejects: a failed release is retried at each tick, and in the worst case the lease
   * expires.
   */
  async release(session: string, epoch: number, left: LeftBehind): Promise<void> {
    if (this.#held.get(session)?.epoch === epoch) this.#drop([session])
    await this.#tell({ session, epoch, left, isAsked: false })
  }

  /**
   * Lets other owners have a session at rest. Resolves to whether this host may resume it; a failure counts as no. Never
   * rejects.
   */
  async rest(session: string, epoch: number): Promise<boolean> {
    const { store } = this.#init
    if (!store.rest || this.#held.get(session)?.epoch !== epoch) return false
    this.#drop([session])
    try {
      await store.rest(session, epoch)
      return true
    } catch {
      return false
    } finally {
      this.#rest()
    }
  }

  /**
   * Takes back a session that `rest` let go, unless anything happened to it: another owner, a new record, its removal.
   * @throws BatonError `store_failed`
   */
  async resume(session: string, lease: OwnedLog, pos: number): Promise<boolean> {
    const { store, owner, address } = this.#init
    const { epoch } = lease
    const asking = this.#beginAsking(session)
    const sentAt = this.#ticks
    try {
      const resting = { session, owner, epoch, pos, ...(address !== undefined && { address }) }
      if ((await store.resume?.(resting)) !== true) return false
      if (this.#held.size === 0) this.#renewedAt = Math.max(this.#renewedAt, sentAt)
      if (this.#isOver() || this.#held.has(session)) return false // in the second case, this host acquired it again meanwhile
      const held = lease as HeldLease // made by `acquire`
      held.isHeld = true
      this.#held.set(session, held)
      return true
    } finally {
      this.#endAsking(asking)
    }
  }

  /**
   * Removes a session from the store, unless another owner holds it.
   * @throws BatonError `session_held`, `store_failed`
   */
  async remove(session: string): Promise<void> {
    const { store, owner } = this.#init
    await store.remove(session, owner)
    this.#inDoubt.delete(session)
  }

  /** Stops renewing and drops every lease. */
  stop(): void {
    this.#isStopped = true
    this.#stopTick?.()
    this.#stopTick = undefined
    this.#drop([...this.#held.keys()])
  }

  #beginAsking(session: string): Asking {
    const asking = { session }
    this.#asking.add(asking)
    if (!this.#stopTick) this.#startTick() // the lease's time counts from before it is granted
    return asking
  }

  #endAsking(asking: Asking): void {
    this.#asking.delete(asking)
    this.#rest()
  }

  #doubt(session: string): void {
    if (this.#inDoubt.size < IN_DOUBT_MAX) this.#inDoubt.add(session)
  }

  /** Releases sessions that the store may have granted, in sequence until the store fails. Never rejects. */
  async #settleDoubts(): Promise<void> {
    if (this.#settling) return
    try {
      for (const session of this.#inDoubt) {
        if (this.#isStopped) return
        if (this.#held.has(session) || [...this.#asking].some((one) => one.session === session)) continue
        const releasing = this.#releaseDoubted(session)
        this.#settling = { session, done: releasing.catch(() => {}) }
        await releasing
      }
    } catch {
      // It is in doubt again, and the next tick tries it.
    } finally {
      this.#settling = undefined
    }
  }

  /** Acquires a session for its epoch, and releases it. @throws BatonError as `#ask` does */
  async #releaseDoubted(session: string): Promise<void> {
    const outcome = await this.#ask(session)
    if (outcome.type === 'acquired') await this.release(session, outcome.epoch, 'work')
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
    void this.#settleDoubts()
    if (this.#held.size + this.#asking.size > 0) void this.#renew(this.#ticks)
    this.#rest()
  }

  #isOver(): boolean {
    return this.#ticks - this.#renewedAt >= FENCE_TICKS
  }

  #fence(): void {
    const lost = [...this.#held]
    this.#drop([...this.#held.keys()])
    if (lost.length > 0)
      this.#init.log.warn('leases expired because they could not be renewed', { sessions: lost.length })
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

  /** Stops the ticks when nothing needs renewing or releasing. */
  #rest(): void {
    if (this.#held.size + this.#unreleased.size + this.#asking.size > 0) return
    this.#stopTick?.()
    this.#stopTick = undefined
  }
}

interface HeldLease extends OwnedLog {
  isHeld: boolean
  onLost: (cause: BatonError) => void
}

interface Asking {
  readonly session: string
}

interface Settling extends Asking {
  /** Never rejects. */
  readonly done: Promise<void>
}

interface Ending extends OwnedEpoch {
  readonly left: LeftBehind
  /** Whether a release is in flight. */
  isAsked: boolean
}

interface OwnedEpoch {
  readonly session: string
  readonly epoch: number
}

function leaseLost(session: string): BatonError {
  const message = `session ${session}: its lease could not be renewed because the store did not answer, so this host gave it up`
  return new BatonError({ code: 'store_failed', message })
}
