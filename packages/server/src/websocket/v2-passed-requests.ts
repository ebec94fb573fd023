// The requests that a connection has passed on to the peer that holds its session, and which of them wait for an answer:
// the connection leaves the peer when each one has its answer.
import type { Timers } from '@baton/core/internal'
import type { PeerLink } from './connect-to-peer.ts'

/** Milliseconds for the peer to answer what it was asked before it is left. */
const ANSWER_MS = 30_000
const ANSWERED = /^\{"type":"(?:ok|error)","re":("(?:[^"\\]|\\.)*")/

export class PassedRequests {
  readonly #link: PeerLink
  readonly #timers: Timers
  readonly #left = Promise.withResolvers<void>()
  /** Requests without an answer, by id. An app may use an id again. */
  readonly #waiting = new Map<string, number>()
  #onRest: (() => void) | undefined

  constructor(link: PeerLink, timers: Timers) {
    this.#link = link
    this.#timers = timers
  }

  send(id: string, text: string): void {
    this.#waiting.set(id, (this.#waiting.get(id) ?? 0) + 1)
    this.#link.send(text)
  }

  /** Notes whether a frame of the peer is an answer. */
  note(text: string): void {
    const id = ANSWERED.exec(text)?.[1]
    if (id === undefined) return
    const re = JSON.parse(id) as string // matched as a string
    const times = this.#waiting.get(re) ?? 0
    if (times > 1) this.#waiting.set(re, times - 1)
    else this.#waiting.delete(re)
    if (this.#waiting.size === 0) this.#onRest?.()
  }

  isAnswered(id: string): boolean {
    return !this.#waiting.has(id)
  }

  /** Closes the link when every request has its answer, or after 30 s. */
  async leave(): Promise<void> {
    if (this.#waiting.size > 0) {
      const rest = new Promise<void>((resolve) => (this.#onRest = resolve))
      const stop = this.#timers.start(ANSWER_MS, () => this.#left.resolve())
      await Promise.race([rest, this.#left.promise])
      stop()
    }
    this.close()
  }

  /** Closes the link at once. */
  close(): void {
    this.#left.resolve()
    this.#link.close()
  }
}
