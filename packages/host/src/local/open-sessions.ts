// The sessions that a host has open: each is opened once, whoever asks, and leaves the memory when nobody holds it.
import type { Environment } from '@baton/core'
import { createStoppedError, within } from '@baton/runtime'
import type { LocalSession } from './local-session.ts'

export interface OpenSessions {
  /** Opens the session, or gives the one that is open. @throws BatonError when its log cannot be read or owned */
  hold(name: string, openSession: () => Promise<LocalSession>): Promise<HeldSession>
  isOpen(name: string): boolean
  /** A session that is open, and not still being opened. */
  find(name: string): LocalSession | undefined
  /** Closes the session if it is at rest: another host asks for it. */
  handOver(name: string): void
  /** Closes the session, and runs `act` while nobody has it open; who asks for it meanwhile waits. */
  alone<Value>(name: string, act: () => Promise<Value>): Promise<Value>
  /** Closes every session. Those that are at rest are released before it ends. */
  closeAll(): Promise<void>
  /** Every open session; those that are being opened are waited for a while. */
  all(): Promise<readonly LocalSession[]>
}

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

export function createOpenSessions(environment: Environment): OpenSessions {
  const sessions = new Map<string, OpenSession>()
  const leaving = new Set<Promise<void>>()
  const gates = createGates()

  const open = (name: string, openSession: () => Promise<LocalSession>): OpenSession => {
    const known = sessions.get(name)
    if (known && !known.local?.isClosed()) return known
    const session: OpenSession = {
      opening: gates.passed(name).then(openSession),
      local: undefined,
      holders: 0,
      stopLooking: () => {},
    }
    sessions.set(name, session)
    session.opening.then(
      (local) => {
        session.local = local
      },
      () => {
        // A session that could not be opened is tried again by the next request.
        if (sessions.get(name) === session) sessions.delete(name)
      },
    )
    return session
  }

  const alone: OpenSessions['alone'] = (name, act) => {
    const session = sessions.get(name)
    sessions.delete(name)
    return gates.run(name, async () => {
      const local = await session?.opening.catch(() => undefined)
      await local?.close()
      await Promise.all(leaving) // what it still had to store, when it left by itself
      return await act()
    })
  }

  const hold: OpenSessions['hold'] = async (name, openSession) => {
    const session = open(name, openSession)
    // Before it is waited for: the one who leaves meanwhile must not close it.
    session.holders += 1
    const leave = (): void => {
      session.holders -= 1
      closeAtRest({ sessions, leaving, environment }, name, session)
    }
    try {
      return { local: await session.opening, leave }
    } catch (cause) {
      leave()
      throw cause
    }
  }

  const all = (): Promise<readonly LocalSession[]> => settleOpenings([...sessions.values()], environment)
  const closeAll = async (): Promise<void> => {
    for (const session of sessions.values()) session.stopLooking()
    const closing = [...leaving, gates.allPassed(), ...(await all()).map((local) => local.close())]
    const limit = { timeoutMs: CLOSING_MS, error: createStoppedError }
    await within(environment.timers, limit, Promise.all(closing)).catch(() => {}) // they are looked after at the next start
  }
  const handOver = (name: string): void => {
    const local = sessions.get(name)?.local
    if (local?.isAtRest()) void alone(name, () => Promise.resolve())
  }
  return {
    hold,
    isOpen: (name) => sessions.has(name),
    find: (name) => sessions.get(name)?.local,
    handOver,
    alone,
    all,
    closeAll,
  }
}

interface Bookkeeping {
  readonly sessions: Map<string, OpenSession>
  /** What sessions that leave still have to store; a host that stops waits for it. */
  readonly leaving: Set<Promise<void>>
  readonly environment: Environment
}

/** Its log stays where it is; the next who asks for the session opens it from there. */
function closeAtRest(books: Bookkeeping, name: string, session: OpenSession): void {
  const { sessions, leaving, environment } = books
  const { local, holders } = session
  if (holders > 0 || !local) return
  if (local.isClosed()) {
    if (sessions.get(name) === session) sessions.delete(name)
    return
  }
  if (!local.isAtRest()) {
    session.stopLooking()
    session.stopLooking = environment.timers.start(REST_LOOK_MS, () => closeAtRest(books, name, session))
    return
  }
  if (sessions.get(name) === session) sessions.delete(name)
  const closing = local.close()
  leaving.add(closing)
  void closing.finally(() => leaving.delete(closing))
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
