// The sessions that a host has open: each is opened once, whoever asks, and leaves the memory when nobody holds it.
import type { Environment } from '@baton/core'
import { createStoppedError, within } from '@baton/runtime'
import type { LocalSession } from './local-session.ts'

export interface HeldSession {
  readonly local: LocalSession
  /** Lets go of the session; called once. */
  readonly leave: () => void
}

interface OpenSession {
  readonly opening: Promise<LocalSession>
  local: LocalSession | undefined
  holders: number
  /** Ends the wait for the next look at whether it has come to rest. */
  stopLooking: () => void
}

/** Milliseconds between two looks at whether a session that nobody holds has come to rest. */
const REST_LOOK_MS = 60_000
/** Milliseconds for which sessions that are being opened are waited for. */
const OPENING_MS = 5000
/** Milliseconds that sessions get to be closed. */
const CLOSING_MS = 5000

export class OpenSessions {
  readonly #environment: Environment
  readonly #sessions = new Map<string, OpenSession>()
  /** Writes of sessions that are closing; a host that stops waits for them. */
  readonly #leaving = new Map<Promise<void>, string>()
  readonly #gates = createGates()
  #isOver = false

  constructor(environment: Environment) {
    this.#environment = environment
  }

  /**
   * Opens the session, or gives the one that is open.
   * @throws BatonError when its log cannot be read or owned; `host_stopped` once all are closed, also for who waited meanwhile
   */
  async hold(name: string, openSession: () => Promise<LocalSession>): Promise<HeldSession> {
    if (this.#isOver) throw createStoppedError()
    const session = this.#open(name, openSession)
    // Counted before it is waited for: a holder that leaves meanwhile must not close it.
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
      throw cause
    }
    leave()
    return await this.hold(name, openSession)
  }

  isOpen(name: string): boolean {
    return this.#sessions.has(name)
  }

  /** A session that is open, and not still being opened. */
  find(name: string): LocalSession | undefined {
    return this.#sessions.get(name)?.local
  }

  /** Closes the session if it is at rest: another host asks for it. */
  handOver(name: string): void {
    if (this.find(name)?.isAtRest()) void this.alone(name, () => Promise.resolve())
  }

  /** Closes the session, and runs `act` while nobody has it open; a request for it meanwhile waits. */
  alone<Value>(name: string, act: () => Promise<Value>): Promise<Value> {
    const session = this.#sessions.get(name)
    this.#sessions.delete(name)
    return this.#gates.run(name, async () => {
      const local = await session?.opening.catch(() => undefined)
      await local?.close()
      const leaving = [...this.#leaving].flatMap(([closing, left]) => (left === name ? [closing] : []))
      await Promise.all(leaving) // what it still had to store, when it left by itself
      return await act()
    })
  }

  /** Every open session; those that are being opened are waited for a while. */
  all(): Promise<readonly LocalSession[]> {
    return settleOpenings([...this.#sessions.values()], this.#environment)
  }

  /** Closes every session. Those that are at rest are released before it ends. */
  async closeAll(): Promise<void> {
    this.#isOver = true
    for (const session of this.#sessions.values()) session.stopLooking()
    const open = await this.all()
    const closing = [...this.#leaving.keys(), this.#gates.allPassed(), ...open.map((local) => local.close())]
    const limit = { timeoutMs: CLOSING_MS, error: createStoppedError }
    // Those that take longer are looked after at the next start.
    await within(this.#environment.timers, limit, Promise.all(closing)).catch(() => {})
  }

  #open(name: string, openSession: () => Promise<LocalSession>): OpenSession {
    const known = this.#sessions.get(name)
    if (known && !known.local?.isClosed()) return known
    const session: OpenSession = {
      opening: this.#gates.passed(name).then(openSession),
      local: undefined,
      holders: 0,
      stopLooking: () => {},
    }
    this.#sessions.set(name, session)
    session.opening.then(
      (local) => {
        session.local = local
      },
      // A session that could not be opened is tried again by the next request.
      () => this.#forget(name, session),
    )
    return session
  }

  #forget(name: string, session: OpenSession): void {
    if (this.#sessions.get(name) === session) this.#sessions.delete(name)
  }

  /** Its log stays where it is; the next request opens it from there. */
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
    const closing = local.close()
    this.#leaving.set(closing, name)
    void closing.finally(() => this.#leaving.delete(closing))
  }
}

interface Gates {
  /** Runs work on one name, after the work that was begun on it before. */
  run<Value>(name: string, work: () => Promise<Value>): Promise<Value>
  /** No work on this name runs any more. */
  passed(name: string): Promise<unknown>
  allPassed(): Promise<unknown>
}

function createGates(): Gates {
  const running = new Map<string, Promise<unknown>>()
  const passed = (name: string): Promise<unknown> => running.get(name) ?? Promise.resolve()
  return {
    run: (name, work) => {
      const result = passed(name).then(work)
      const settled = result.catch(() => {}) // who asked for the work hears of it
      running.set(name, settled)
      void settled.then(() => running.get(name) === settled && running.delete(name))
      return result
    },
    passed,
    allPassed: () => Promise.all(running.values()),
  }
}

/** One whose store does not answer is closed when it is open at last. */
async function settleOpenings(
  sessions: readonly OpenSession[],
  { timers }: Environment,
): Promise<readonly LocalSession[]> {
  const limit = { timeoutMs: OPENING_MS, error: createStoppedError }
  const opened = sessions.map(({ opening }) => within(timers, limit, opening))
  const settled = await Promise.allSettled(opened)
  return settled.flatMap((local, index) => {
    if (local.status === 'fulfilled') return [local.value]
    sessions[index]?.opening.then((late) => late.close()).catch(() => {}) // it was never open
    return []
  })
}
