// The heartbeat of a connection: pings it regularly and ends it if there is no answer.
import type { Timers } from '@baton/core/internal'
import type { WebSocket } from 'ws'
import type { ConnectionLimits } from './limits.ts'

/** Without it, a peer that vanished silently would hold its session's calls forever. */
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
