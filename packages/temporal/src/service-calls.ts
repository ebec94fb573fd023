// The calls of a host to the service that are under way. Its connection may close only when there are none: a call whose next try
// finds it closed throws in a timer, where nobody catches it, and takes the process along.
import { BatonError } from '@baton/core'
import type { Client } from '@temporalio/client'
import { setTimeout as wait } from 'node:timers/promises'

/** Milliseconds. */
const GRACE_MS = 2000

export class ServiceCalls {
  readonly #client: Pick<Client, 'withAbortSignal'>
  readonly #graceMs: number
  readonly #underWay = new Map<AbortController, Promise<void>>()
  #isEnding = false

  /** `graceMs`: what calls have to end by themselves once the host stops; then they are given up. */
  constructor(client: Pick<Client, 'withAbortSignal'>, graceMs = GRACE_MS) {
    this.#client = client
    this.#graceMs = graceMs
  }

  /** No further calls are made. */
  get isEnding(): boolean {
    return this.#isEnding
  }

  /** @throws BatonError `session_closed` once the host stops, `store_failed` when it is given up, and what the call does */
  async run<Value>(call: () => Promise<Value>): Promise<Value> {
    if (this.#isEnding)
      throw new BatonError({ code: 'session_closed', message: 'the host was stopped before it asked the service' })
    const giveUp = new AbortController()
    const running = this.#client.withAbortSignal(giveUp.signal, call)
    const ended = running.then(ignore, ignore).then(() => void this.#underWay.delete(giveUp))
    this.#underWay.set(giveUp, ended)
    const { promise: givenUp, reject } = Promise.withResolvers<never>()
    // Between two tries of a call nothing of it can be cancelled; who asked need not wait for the next one.
    giveUp.signal.addEventListener('abort', () =>
      reject(new BatonError({ code: 'store_failed', message: 'the host was stopped before the service had answered' })),
    )
    return await Promise.race([running, givenUp])
  }

  /** Resolves when no call is under way. Those that last are given up after a while: what they handed in may be taken or not. */
  async end(): Promise<void> {
    this.#isEnding = true
    await Promise.race([this.#settle(), wait(this.#graceMs, undefined, { ref: false })])
    for (const giveUp of this.#underWay.keys()) giveUp.abort()
    await this.#settle()
  }

  async #settle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay.values())
  }
}

const ignore = (): void => {}
