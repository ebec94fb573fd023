// Sessions at rest without an open handle, kept in memory for the next message of their chats. Their logs are free:
// another host can take a session, and waking it here finds that out.
import type { Environment } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'
import type { LocalSession } from './local-session.ts'

export interface LingeringSessionsOptions extends LingerLimits {
  readonly environment: Pick<Environment, 'clock' | 'timers'>
  /** Called with a session that has left. */
  readonly close: (name: string, session: LocalSession) => void
}

export interface LingerLimits {
  /** Milliseconds until a session leaves; with 0, none is added. */
  readonly lingerMs: number
  /** Sessions at once; beyond it the oldest leave. Default: 1,000. */
  readonly sessionsMax?: number
  /** Estimated bytes of all together; beyond it the oldest leave. Default: 67,108,864 (64 MiB). */
  readonly bytesMax?: number
}

const SESSIONS_MAX = 1000
const BYTES_MAX = 67_108_864

interface Lingering {
  readonly session: LocalSession
  readonly bytes: number
  readonly untilMs: number
}

export class LingeringSessions {
  readonly #init: LingeringSessionsOptions
  /** The oldest first: all linger equally long. */
  readonly #sessions = new Map<string, Lingering>()
  #bytes = 0
  #stopTimer: (() => void) | undefined

  constructor(init: LingeringSessionsOptions) {
    this.#init = init
  }

  add(name: string, session: LocalSession): void {
    const { lingerMs, sessionsMax = SESSIONS_MAX, bytesMax = BYTES_MAX } = this.#init
    const bytes = session.countBytes()
    this.#sessions.set(name, { session, bytes, untilMs: this.#nowMs() + lingerMs })
    this.#bytes += bytes
    this.#closeWhile(() => this.#sessions.size > sessionsMax || this.#bytes > bytesMax)
  }

  /** Removes the session, which then belongs to the caller. With `session`, only if it is this one. */
  take(name: string, session?: LocalSession): LocalSession | undefined {
    const found = this.#sessions.get(name)
    if (!found || (session && found.session !== session)) return undefined
    this.#remove(name, found)
    if (this.#sessions.size === 0) this.#stop()
    return found.session
  }

  takeAll(): readonly LocalSession[] {
    const all = [...this.#sessions.values()].map(({ session }) => session)
    this.#sessions.clear()
    this.#bytes = 0
    this.#stop()
    return all
  }

  #closeWhile(isOver: (oldest: Lingering) => boolean): void {
    for (const [name, oldest] of this.#sessions) {
      if (!isOver(oldest)) break
      this.#remove(name, oldest)
      this.#init.close(name, oldest.session)
    }
    if (this.#sessions.size === 0) this.#stop()
    else this.#stopTimer ??= this.#start()
  }

  #remove(name: string, { bytes }: Lingering): void {
    this.#sessions.delete(name)
    this.#bytes -= bytes
  }

  /** Waits for the oldest. The wait does not keep the process alive; if that session leaves early, it is set again. */
  #start(): (() => void) | undefined {
    for (const { untilMs } of this.#sessions.values())
      return this.#init.environment.timers.start(
        Math.max(0, Math.ceil(untilMs - this.#nowMs())),
        () => {
          this.#stopTimer = undefined
          const nowMs = this.#nowMs()
          this.#closeWhile((oldest) => oldest.untilMs <= nowMs)
        },
        { isBackground: true },
      )
    return undefined
  }

  #stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }

  #nowMs(): number {
    return readMonotonicMs(this.#init.environment.clock)
  }
}
