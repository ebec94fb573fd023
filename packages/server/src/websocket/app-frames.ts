// The frames of an app that wait to be processed, and the detection of an idle app.
import type { Clock, ErrorCode, Timers } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'
import { CLOSE_CODES } from '../shared/socket.ts'
import type { AppConnectionOptions } from './connection-options.ts'

/** A message received over a connection. */
export interface Message {
  /** `undefined` if it is not text. */
  readonly text: string | undefined
  /** Bytes of the text in UTF-8. */
  readonly bytes: number
}

export interface AppFramesOptions {
  readonly init: Pick<AppConnectionOptions, 'socket' | 'clock' | 'timers' | 'limits'>
  /** While true, the app does not count as idle. */
  readonly isBusy: () => boolean
  /** Writes an error to the app. */
  readonly fail: (code: ErrorCode, message: string) => void
  /** Called when a frame has been added. */
  readonly onFrame: () => void
  /** Called when the connection has ended. The frames are dropped. */
  readonly onEnd: () => void
}

export class AppFrames {
  readonly #init: AppFramesOptions
  readonly #idle: IdleWatch
  readonly #waiting: Message[] = []
  #waitingChars = 0
  #isClosed = false

  constructor(init: AppFramesOptions) {
    this.#init = init
    const { clock, timers, limits, socket } = init.init
    const { isBusy, onEnd } = init
    this.#idle = new IdleWatch({ clock, timers, idleMs: limits.idleMs, isBusy, onIdle: () => this.#closeIdle() })
    socket.onMessage((text, bytes = Buffer.byteLength(text ?? '')) => this.#receive({ text, bytes }))
    socket.onClose(() => {
      this.#isClosed = true
      this.#idle.stop()
      this.#waiting.length = 0
      onEnd()
    })
  }

  /** Whether the app has disconnected. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Returns the oldest frame. */
  take(): Message | undefined {
    const message = this.#waiting.shift()
    this.#waitingChars -= message?.text?.length ?? 0
    return message
  }

  #closeIdle(): void {
    const { socket, limits } = this.#init.init
    const message = `nothing was received over this connection for ${limits.idleMs} ms; connect again`
    this.#init.fail('idle_timeout', message)
    socket.close(CLOSE_CODES.policy, 'the connection was idle for too long')
  }

  #receive(message: Message): void {
    if (this.#isClosed) return
    const { socket, limits } = this.#init.init
    this.#idle.touch()
    this.#waitingChars += message.text?.length ?? 0
    if (this.#waiting.length >= limits.incomingFrames || this.#waitingChars > limits.incomingChars) {
      this.#init.fail('rate_limited', 'too many frames are waiting to be processed')
      socket.close(CLOSE_CODES.policy, 'too many frames at once')
      return
    }
    this.#waiting.push(message)
    this.#init.onFrame()
  }
}

export interface IdleWatchOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly idleMs: number
  /** While true, the connection counts as active. */
  readonly isBusy: () => boolean
  readonly onIdle: () => void
}

export class IdleWatch {
  readonly #init: IdleWatchOptions
  #lastMs: number
  #stopTimer: () => void

  constructor(init: IdleWatchOptions) {
    this.#init = init
    this.#lastMs = readMonotonicMs(init.clock)
    this.#stopTimer = this.#lookIn(init.idleMs)
  }

  /** Notes activity. */
  touch(): void {
    this.#lastMs = readMonotonicMs(this.#init.clock)
  }

  stop(): void {
    this.#stopTimer()
  }

  /** A single timer that is set again when it fires, rather than one per frame. */
  #lookIn(delayMs: number): () => void {
    return this.#init.timers.start(delayMs, () => this.#look())
  }

  #look(): void {
    const { idleMs, isBusy, onIdle } = this.#init
    if (isBusy()) this.touch()
    const leftMs = this.#lastMs + idleMs - readMonotonicMs(this.#init.clock)
    if (leftMs <= 0) onIdle()
    else this.#stopTimer = this.#lookIn(leftMs)
  }
}
