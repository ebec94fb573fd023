// A host's open sessions: each is opened once for all callers. When its last holder has closed it and it rests, it
// lingers for a while, and leaves memory then.
import { isBatonError } from '@baton/core'
import { createStoppedError, within } from '@baton/runtime'
import type { LocalSession } from './local-session.ts'
import type { Environment } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'

/** Two ways to get a session that is not open. */
export interface Openers {
  /** Opens it from its log. */
  readonly open: () => Promise<LocalSession>
  /** Wakes it if it lingers; `open` follows if it answers false. */
  readonly wake: (local: LocalSession) => Promise<boolean>
  /** Whether `open` refuses a session that does not exist, with `unknown_session`. */
  readonly mustExist: boolean
}

export interface HeldSession {
  readonly local: LocalSession
  /** Releases the session. Called once. */
  readonly leave: () => void
}

interface OpenSession extends Pick<Openers, 'mustExist'> {
  readonly opening: Promise<LocalSession>
  local: LocalSession | undefined
  holders: number
  /** Cancels the next check for whether the session has come to rest. */
  stopLooking: () => void
}

/** Milliseconds between checks for whether a session without holders has come to rest. */
const REST_LOOK_MS = 60_000
/** Milliseconds to wait for sessions that are still opening. */
const OPENING_MS = 5000
/** Milliseconds that closing sessions may take. */
const CLOSING_MS = 5000

export class OpenSessions {
  readonly #environment: Environment
  readonly #sessions = new Map<string, OpenSession>()
  /** Writes of closing sessions, by promise; stopping the host waits for them. */
  readonly #leaving = new Map<Promise<void>, string>()
  readonly #gates = createGates()
  readonly #lingerMs: number
  /** None of them is in `#sessions`: to all others, a lingering session is closed. */
  readonly #lingering: LingeringSessions
  /** Names of open sessions of delegated calls, which their callers hold. */
  readonly children = new Set<string>()
  #isOver = false

  constructor(environment: Environment, limits: LingerLimits) {
    this.#environment = environment
    this.#lingerMs = limits.lingerMs
    const close = (name: string, local: LocalSession): void => this.#close(name, local)
    this.#lingering = new LingeringSessions({ ...limits, environment, close })
  }

  /**
   * Returns the open session, or wakes or opens it.
   * @throws BatonError when its log cannot be read or owned; `host_stopped` once all are closed, also for callers still
   * waiting
   */
  async hold(name: string, openers: Openers): Promise<HeldSession> {
    if (this.#isOver) throw createStoppedError()
    const session = this.#open(name, openers)
    // Counted before the wait: a holder that leaves meanwhile must not close the session.
    session.holders += 1
    const leave = (): void => {
      session.holders -= 1
      this.#closeAtRest(name, session)
    }
    try {
      const local = await session.opening
      const { reopened } = local
      await reopened
      if (!reopened || !local.isClosed()) return { local, leave }
    } catch (cause) {
      leave()
      // The caller shared the opening of a recovery, which creates no session.
      const wantsNew =
        session.mustExist && !openers.mustExist && isBatonError(cause) && cause.code === 'unknown_session'
      if (!wantsNew) throw cause
      return await this.hold(name, openers)
    }
    leave()
    return await this.hold(name, openers)
  }

  isOpen(name: string): boolean {
    return this.#sessions.has(name) || this.children.has(name)
  }

  /** Returns the session if it has finished opening. A lingering one is left out: another host may have continued it. */
  find(name: string): LocalSession | undefined {
    return this.#sessions.get(name)?.local
  }

  /** Returns the session if it is open and has not been closed. */
  findLive(name: string): LocalSession | undefined {
    const local = this.find(name)
    return local?.isClosed() ? undefined : local
  }

  /** Closes the session if it is at rest, because another host wants it. */
  handOver(name: string): void {
    if (this.find(name)?.isAtRest()) void this.alone(name, () => Promise.resolve())
  }

  /** Closes the session and runs `act` while it is closed; requests for the session wait meanwhile. */
  alone<Value>(name: string, act: () => Promise<Value>): Promise<Value> {
    const session = this.#sessions.get(name)
    this.#sessions.delete(name)
    const lingering = this.#lingering.take(name)
    return this.#gates.run(name, async () => {
      const local = lingering ?? (await session?.opening.catch(() => undefined))
      await local?.close()
      const leaving = [...this.#leaving].flatMap(([closing, left]) => (left === name ? [closing] : []))
      await Promise.all(leaving) // writes of an earlier close
      return await act()
    })
  }

  /** Every open session, including sessions that finish opening within a few seconds. */
  all(): Promise<readonly LocalSession[]> {
    return settleOpenings([...this.#sessions.values()], this.#environment)
  }

  /** Closes every session. Sessions at rest are released before this resolves. */
  async closeAll(): Promise<void> {
    this.#isOver = true
    for (const session of this.#sessions.values()) session.stopLooking()
    const lingering = this.#lingering.takeAll().map((local) => local.close())
    const open = await this.all()
    const closing = [
      ...lingering,
      ...this.#leaving.keys(),
      this.#gates.allPassed(),
      ...open.map((local) => local.close()),
    ]
    const limit = { timeoutMs: CLOSING_MS, error: createStoppedError }
    // Sessions that take longer are recovered at the next start.
    await within(this.#environment.timers, limit, Promise.all(closing)).catch(() => {})
  }

  #open(name: string, openers: Openers): OpenSession {
    const known = this.#sessions.get(name)
    if (known && !known.local?.isClosed()) return known
    const lingering = this.#lingering.take(name)
    const session: OpenSession = {
      mustExist: openers.mustExist,
      opening: lingering ? this.#wake(name, lingering, openers) : this.#gates.passed(name).then(openers.open),
      local: undefined,
      holders: 0,
      stopLooking: () => {},
    }
    this.#sessions.set(name, session)
    session.opening.then(
      (local) => {
        session.local = local
      },
      // After a failed opening, the next request tries again.
      () => this.#forget(name, session),
    )
    return session
  }

  async #wake(name: string, local: LocalSession, { wake, open }: Openers): Promise<LocalSession> {
    const isAwake = await wake(local).catch((cause: unknown) => {
      this.#close(name, local)
      throw cause
    })
    if (isAwake) return local
    this.#close(name, local)
    return await open()
  }

  #forget(name: string, session: OpenSession): void {
    if (this.#sessions.get(name) === session) this.#sessions.delete(name)
  }

  /**
   * Lets the session linger, or closes it, if it has no holders and is at rest. Its log is kept; after closing, the next
   * request opens it from there.
   */
  #closeAtRest(name: string, session: OpenSession): void {
    const { local, holders } = session
    session.stopLooking()
    if (holders > 0 || !local) return
    if (local.isClosed()) {
      this.#forget(name, session)
      return
    }
    if (!local.isAtRest()) {
      const { timers } = this.#environment
      session.stopLooking = timers.start(REST_LOOK_MS, () => this.#closeAtRest(name, session))
      return
    }
    this.#forget(name, session)
    if (this.#isOver || this.#lingerMs === 0) this.#close(name, local)
    else void this.#linger(name, local)
  }

  /** Never rejects. */
  async #linger(name: string, local: LocalSession): Promise<void> {
    const end = (): void => {
      if (this.#lingering.take(name, local)) this.#close(name, local)
    }
    const isKept = local.linger(end)
    this.#lingering.add(name, local)
    if (!(await isKept)) end()
  }

  #close(name: string, local: LocalSession): void {
    const closing = local.close()
    this.#leaving.set(closing, name)
    void closing.finally(() => this.#leaving.delete(closing))
  }
}

interface Gates {
  /** Runs work on a name, after any earlier work on it. */
  run<Value>(name: string, work: () => Promise<Value>): Promise<Value>
  /** Resolves when no work on this name is running. */
  passed(name: string): Promise<unknown>
  allPassed(): Promise<unknown>
}

function createGates(): Gates {
  const running = new Map<string, Promise<unknown>>()
  const passed = (name: string): Promise<unknown> => running.get(name) ?? Promise.resolve()
  return {
    run: (name, work) => {
      const result = passed(name).then(work)
      const settled = result.catch(() => {}) // the caller of `run` gets the error
      running.set(name, settled)
      void settled.then(() => running.get(name) === settled && running.delete(name))
      return result
    },
    passed,
    allPassed: () => Promise.all(running.values()),
  }
}

/** Waits for openings, within a limit. A session whose store answers later is closed as soon as it opens. */
async function settleOpenings(
  sessions: readonly OpenSession[],
  { timers }: Environment,
): Promise<readonly LocalSession[]> {
  const limit = { timeoutMs: OPENING_MS, error: createStoppedError }
  const opened = sessions.map(({ opening }) => within(timers, limit, opening))
  const settled = await Promise.allSettled(opened)
  return settled.flatMap((local, index) => {
    if (local.status === 'fulfilled') return [local.value]
    sessions[index]?.opening.then((late) => late.close()).catch(() => {}) // it never opened
    return []
  })
}

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
