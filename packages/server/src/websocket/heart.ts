// The heartbeat of a connection: each one is asked again and again whether it lives.
import type { Timers } from '@baton/core'
import type { WebSocket } from 'ws'
import type { ConnectionLimits } from './limits.ts'

/** A peer that vanished without a word would hold its session's calls for ever. */
export class Heart {
  readonly #socket: WebSocket
  readonly #timers: Timers
  readonly #everyMs: number
  #lives = true
  #stopTimer: () => void

  constructor(socket: WebSocket, timers: Timers, { heartbeatMs }: ConnectionLimits) {
    this.#socket = socket
    this.#timers = timers
    this.#everyMs = heartbeatMs
    this.#stopTimer = this.#beatLater()
    socket.on('pong', () => {
      this.#lives = true
    })
  }

  stop(): void {
    this.#stopTimer()
  }

  #beatLater(): () => void {
    return this.#timers.start(this.#everyMs, () => this.#beat())
  }

  #beat(): void {
    if (!this.#lives) {
      this.#socket.terminate()
      return
    }
    this.#lives = false
    this.#socket.ping(() => {})
    this.#stopTimer = this.#beatLater()
  }
}
