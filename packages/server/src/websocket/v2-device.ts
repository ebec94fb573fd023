// A device of version 2: it holds its place in a session by a lease, renewed while it is connected and the session is
// active. A session at rest costs nothing: the lease ends, and the device is attached again when a turn begins.
import type {
  Clock,
  LeaseClient,
  LeaseClientOptions,
  Logger,
  FrontSession,
  TakenResult,
  Timers,
} from '@baton/core/internal'
import { BatonError, readMonotonicMs } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'

export interface V2DeviceOptions {
  readonly session: FrontSession
  readonly client: LeaseClientOptions
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** Whether the session is active. */
  readonly isActive: () => boolean
}

export const LEASE_MS = { least: 5000, usual: 60_000, most: 3_600_000 } as const
/** A lease is renewed when this fraction has passed, so that two renewals may fail. */
const RENEWED_AT = 1 / 3

/** @throws BatonError `invalid_option` for a lease that is too short or too long, and errors of `session.client` */
export async function attachDevice(init: V2DeviceOptions): Promise<V2Device> {
  const { leaseMs = LEASE_MS.usual } = init.client
  if (!(leaseMs >= LEASE_MS.least && leaseMs <= LEASE_MS.most))
    throw new BatonError({
      code: 'invalid_option',
      message: `leaseMs must be from ${LEASE_MS.least} to ${LEASE_MS.most}, not ${leaseMs}`,
    })
  const client = await init.session.client({ ...init.client, leaseMs })
  return new V2Device(init, client, leaseMs)
}

export class V2Device {
  readonly leaseMs: number
  readonly #init: V2DeviceOptions
  readonly #client: LeaseClient
  #renewedMs: number
  #isRenewing: Promise<void> | undefined
  /** How often the session was restarted, which detaches its clients. */
  #restarts = 0
  #stopTimer: (() => void) | undefined
  readonly #stopListening: () => void
  #isLeft = false

  constructor(init: V2DeviceOptions, client: LeaseClient, leaseMs: number) {
    this.leaseMs = leaseMs
    this.#init = init
    this.#client = client
    this.#renewedMs = readMonotonicMs(init.clock)
    // It is still connected. If it cannot be attached now, it is when a turn begins.
    this.#stopListening = init.session.onClientsGone(() => {
      this.#restarts += 1
      this.#renewedMs = -Infinity
      void this.#renew()
    })
    this.#plan()
  }

  get name(): string {
    return this.#client.connection
  }

  /** Attaches the device again for the calls of a starting turn. Resolves when it is attached; never rejects. */
  async wake(): Promise<void> {
    if (this.#isLeft || this.#leftMs() > 0) return
    await this.#renew()
  }

  claim(callId: string): ReturnType<LeaseClient['claim']> {
    return this.#client.claim(callId)
  }

  result(...given: Parameters<LeaseClient['result']>): Promise<TakenResult> {
    return this.#client.result(...given)
  }

  /** Called when the connection is lost: the lease ends, unless the device reconnects. */
  leave(): void {
    this.#isLeft = true
    this.#stopTimer?.()
    this.#stopListening()
  }

  async release(): Promise<void> {
    this.leave()
    await this.#client.detach()
  }

  /** Milliseconds until the lease should be renewed. */
  #leftMs(): number {
    return this.#renewedMs + this.leaseMs * RENEWED_AT - readMonotonicMs(this.#init.clock)
  }

  #plan(): void {
    const { timers, isActive } = this.#init
    const look = (): void => {
      if (this.#isLeft) return
      if (isActive()) void this.#renew().then(() => this.#plan())
      else this.#plan()
    }
    this.#stopTimer = timers.start(Math.max(1, this.#leftMs() > 0 ? this.#leftMs() : this.leaseMs * RENEWED_AT), look, {
      isBackground: true,
    })
  }

  async #renew(): Promise<void> {
    this.#isRenewing ??= this.#renewNow().finally(() => {
      this.#isRenewing = undefined
    })
    await this.#isRenewing
  }

  /** Never rejects. */
  async #renewNow(): Promise<void> {
    const { log, clock, session } = this.#init
    const restarts = this.#restarts
    try {
      await this.#client.renew()
      if (restarts === this.#restarts) this.#renewedMs = readMonotonicMs(clock)
    } catch (cause) {
      log.warn('the lease of a device could not be renewed', { session: session.id, cause: describeThrown(cause) })
    }
    // A restart meanwhile may have detached the device again.
    if (restarts !== this.#restarts && !this.#isLeft) await this.#renewNow()
  }
}

interface Holder {
  readonly device: V2Device
  readonly onTaken: () => void
}

export class DeviceNames {
  readonly #holders = new Map<string, Holder>()

  /** Takes the name; `onTaken` is called when another connection takes it. The returned function releases it. */
  take(session: string, device: V2Device, onTaken: () => void): () => void {
    const key = createKey(session, device.name)
    const before = this.#holders.get(key)
    const holder: Holder = { device, onTaken }
    this.#holders.set(key, holder)
    before?.onTaken()
    return () => {
      if (this.#holders.get(key) === holder) this.#holders.delete(key)
    }
  }

  /** The device of this name with a live connection. */
  find(session: string, name: string): V2Device | undefined {
    return this.#holders.get(createKey(session, name))?.device
  }
}

function createKey(session: string, name: string): string {
  return JSON.stringify([session, name])
}
