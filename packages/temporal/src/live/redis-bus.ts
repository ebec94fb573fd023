// The bus over Redis: a channel per session, and one value per attempt being written. Everything in it can be lost.
import type { LiveFrame, Logger } from '@baton/core/internal'
import { createClient } from 'redis'
import type { BusMessage, LiveBus } from './live-bus.ts'

export interface RedisBusOptions {
  /** `redis://host:6379`, or `rediss://` over TLS. */
  readonly url: string
  /** Prefix of every channel and key. Default: `baton`. */
  readonly prefix?: string
  readonly log: Logger
}

/** Seconds to keep the text of an attempt after its newest piece. */
const KEPT_SECONDS = 900
/** Maximum bytes of text stored per attempt. */
const KEPT_BYTES = 4 * 1024 * 1024
/** Maximum milliseconds between connection attempts, and per attempt. */
const RECONNECT_MAX_MS = 2000
const CONNECT_MS = 5000

interface Listener {
  readonly onMessage: (message: BusMessage) => void
  readonly onGap: () => void
}

/** A session's channel, and who listens to it. */
interface Subscription {
  readonly listeners: Set<Listener>
  readonly onText: (text: string) => void
  /** Never rejects. */
  begun: Promise<void>
  /** Whether the connection broke while it was requested. The client repeats only what Redis has confirmed. */
  isLost: boolean
}

/** Works without Redis if it is unavailable, and reconnects later; live text is lost meanwhile. */
export async function connectRedisBus(init: RedisBusOptions): Promise<LiveBus> {
  const bus = new RedisBus(init)
  await bus.connect()
  return bus
}

type RedisClient = ReturnType<typeof openClient>

function openClient(url: string, drops: boolean) {
  const reconnectStrategy = (tries: number): number => Math.min(50 * 2 ** tries, RECONNECT_MAX_MS)
  // A message that cannot be sent now is useless later, but a subscription is needed once Redis is back.
  return createClient({ url, socket: { reconnectStrategy, connectTimeout: CONNECT_MS }, disableOfflineQueue: drops })
}

class RedisBus implements LiveBus {
  readonly #log: Logger
  readonly #prefix: string
  readonly #subscriptions = new Map<string, Subscription>()
  readonly #writer: RedisClient
  readonly #reader: RedisClient
  #problem: string | undefined

  constructor({ url, prefix = 'baton', log }: RedisBusOptions) {
    this.#log = log
    this.#prefix = prefix
    this.#writer = openClient(url, true)
    this.#reader = openClient(url, false)
    for (const client of [this.#writer, this.#reader]) client.on('error', (cause: unknown) => this.#noteLoss(cause))
    this.#writer.on('ready', () => this.#noteReturn())
    this.#reader.on('ready', () => {
      for (const [session, subscription] of this.#subscriptions) {
        tellGap(subscription)
        if (subscription.isLost) void this.#request(session, subscription).then(() => tellGap(subscription))
      }
    })
  }

  /** Waits for the first connection, so that startup can report a problem, without failing because of it. */
  async connect(): Promise<void> {
    const connecting = [this.#writer.connect(), this.#reader.connect()]
    for (const one of connecting) one.catch(ignore)
    const late = new Promise<void>((resolve) => void setTimeout(resolve, CONNECT_MS).unref())
    await Promise.race([Promise.allSettled(connecting), late])
  }

  publish(session: string, message: BusMessage): void {
    if (this.#writer.isReady) this.#writer.publish(this.#channelOf(session), JSON.stringify(message)).catch(ignore)
  }

  async subscribe(session: string, onMessage: Listener['onMessage'], onGap: () => void): Promise<() => void> {
    const listener = { onMessage, onGap }
    const subscription = this.#subscriptions.get(session) ?? this.#begin(session)
    subscription.listeners.add(listener)
    await subscription.begun
    return () => {
      const own = this.#subscriptions.get(session)
      if (!own?.listeners.delete(listener) || own.listeners.size > 0) return
      this.#subscriptions.delete(session)
      // Without its listener, the reply would also remove a subscription that began after the request.
      if (this.#reader.isOpen) this.#reader.unsubscribe(this.#channelOf(session), own.onText).catch(ignore)
    }
  }

  async readAttempt(session: string): Promise<readonly LiveFrame[]> {
    if (!this.#writer.isReady) return []
    try {
      const attempt = await this.#writer.get(this.#newestOf(session))
      const text = attempt === null ? null : await this.#writer.get(this.#textOf(session, Number(attempt)))
      return text === null ? [] : text.split('\n').flatMap(parseFrames)
    } catch {
      return []
    }
  }

  keepAttempt(session: string, attempt: number, frames: readonly LiveFrame[]): void {
    if (!this.#writer.isReady) return
    const key = this.#textOf(session, attempt)
    const kept = this.#writer
      .multi()
      .append(key, `${JSON.stringify(frames)}\n`)
      .expire(key, KEPT_SECONDS)
    kept.set(this.#newestOf(session), String(attempt), { expiration: { type: 'EX', value: KEPT_SECONDS } })
    kept.exec().then(([length]) => {
      if (Number(length) > KEPT_BYTES) this.#writer.del(key).catch(ignore)
    }, ignore)
  }

  problem(): string | undefined {
    return this.#problem
  }

  async close(): Promise<void> {
    this.#subscriptions.clear()
    this.#writer.destroy()
    this.#reader.destroy()
  }

  #begin(session: string): Subscription {
    const listeners = new Set<Listener>()
    const onText = (text: string): void => {
      const message = parseMessage(text)
      if (message) for (const one of listeners) one.onMessage(message)
    }
    const subscription: Subscription = { listeners, onText, begun: Promise.resolve(), isLost: false }
    this.#subscriptions.set(session, subscription)
    const isReady = this.#reader.isReady
    const requested = this.#request(session, subscription)
    // If Redis is unavailable, the subscription takes effect when it is back.
    if (isReady) subscription.begun = requested
    return subscription
  }

  /** Never rejects. */
  async #request(session: string, subscription: Subscription): Promise<void> {
    subscription.isLost = false
    try {
      await this.#reader.subscribe(this.#channelOf(session), subscription.onText)
    } catch {
      subscription.isLost = true
    }
  }

  #noteLoss(cause: unknown): void {
    const why = cause instanceof Error ? cause.message : String(cause)
    if (this.#problem === undefined)
      this.#log.warn('Redis cannot be reached; live text is lost until it is back', { cause: why })
    this.#problem = `Redis cannot be reached: ${why}`
  }

  #noteReturn(): void {
    if (this.#problem !== undefined) this.#log.info('Redis is back')
    this.#problem = undefined
  }

  #channelOf(session: string): string {
    return `${this.#prefix}:session:${session}`
  }

  #textOf(session: string, attempt: number): string {
    return `${this.#prefix}:said:${session}:${attempt}`
  }

  #newestOf(session: string): string {
    return `${this.#prefix}:attempt:${session}`
  }
}

function ignore(): void {}

function tellGap({ listeners }: Subscription): void {
  for (const { onGap } of listeners) onGap()
}

function parseMessage(text: string): BusMessage | undefined {
  try {
    return JSON.parse(text) as BusMessage // published by a worker or gateway with this prefix
  } catch {
    return undefined
  }
}

function parseFrames(line: string): readonly LiveFrame[] {
  try {
    return line === '' ? [] : (JSON.parse(line) as readonly LiveFrame[])
  } catch {
    return []
  }
}
