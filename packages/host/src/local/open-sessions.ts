// The sessions that a host has open: each is opened once, whoever asks, and leaves the memory when nobody holds it.
import type { Environment } from '@baton/core'
import { outstanding } from '@baton/core/machine'
import { within } from './deadline.ts'
import type { SessionSlot } from './session-slot.ts'
import { hostStopped } from './host-stopped.ts'

export interface OpenSessions {
  /** Opens the session, or gives the one that is open. @throws BatonError when its log cannot be read or owned */
  open(name: string, openSlot: () => Promise<SessionSlot>): Promise<SessionSlot>
  /** One who holds the session more; call the returned function once, when it is done. */
  hold(slot: SessionSlot): () => void
  /** Every open session; those that are being opened are waited for a while. */
  all(): Promise<readonly SessionSlot[]>
}

interface OpenSession {
  readonly opening: Promise<SessionSlot>
  slot: SessionSlot | undefined
  holders: number
}

/** Milliseconds between two looks at whether a session that nobody holds has come to rest. */
const REST_LOOK_MS = 60_000
/** Milliseconds for which sessions that are being opened are waited for. */
const OPENING_MS = 5000

export function createOpenSessions(environment: Environment): OpenSessions {
  const sessions = new Map<string, OpenSession>()

  const open = (name: string, openSlot: () => Promise<SessionSlot>): Promise<SessionSlot> => {
    const known = sessions.get(name)
    if (known && !known.slot?.isClosed()) return known.opening
    const session: OpenSession = { opening: openSlot(), slot: undefined, holders: 0 }
    sessions.set(name, session)
    session.opening.then(
      (slot) => {
        session.slot = slot
      },
      () => {
        // A session that could not be opened is tried again by the next request.
        if (sessions.get(name) === session) sessions.delete(name)
      },
    )
    return session.opening
  }

  /** Its log stays where it is; the next who asks for the session opens it from there. */
  const closeAtRest = (name: string, session: OpenSession): void => {
    const { slot, holders } = session
    if (holders > 0 || !slot || slot.isClosed()) return
    const state = slot.actor().state()
    if (state.turn || state.queue.length > 0 || outstanding(state).length > 0) {
      environment.timers.start(REST_LOOK_MS, () => closeAtRest(name, session))
      return
    }
    slot.close()
    if (sessions.get(name) === session) sessions.delete(name)
  }

  const hold = (slot: SessionSlot): (() => void) => {
    const session = sessions.get(slot.session)
    if (session) session.holders += 1
    return () => {
      if (!session) return
      session.holders -= 1
      closeAtRest(slot.session, session)
    }
  }

  return { open, hold, all: () => openSlots([...sessions.values()], environment) }
}

/** One whose store does not answer is closed when it is open at last. */
async function openSlots(sessions: readonly OpenSession[], { timers }: Environment): Promise<readonly SessionSlot[]> {
  const limit = { timeoutMs: OPENING_MS, error: hostStopped }
  const opened = sessions.map(({ opening }) => within(timers, limit, opening))
  const settled = await Promise.allSettled(opened)
  return settled.flatMap((slot, index) => {
    if (slot.status === 'fulfilled') return [slot.value]
    sessions[index]?.opening.then((late) => late.close()).catch(() => {})
    return []
  })
}
