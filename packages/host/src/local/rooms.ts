// The sessions that a host has open: each is opened once, whoever asks, and leaves the memory when nobody holds it.
import type { Environment } from '@baton/core'
import { outstanding } from '@baton/core/machine'
import { within } from './deadline.ts'
import type { SessionSlot } from './session-slot.ts'
import { hostStopped } from './host-stopped.ts'

export interface Rooms {
  /** Opens the session, or gives the one that is open. @throws BatonError when its log cannot be read or owned */
  enter(name: string, open: () => Promise<SessionSlot>): Promise<SessionSlot>
  /** One who holds the session more; call the returned function once, when it is done. */
  hold(slot: SessionSlot): () => void
  /** Every open session; those that are being opened are waited for a while. */
  all(): Promise<readonly SessionSlot[]>
}

interface Room {
  readonly opening: Promise<SessionSlot>
  slot: SessionSlot | undefined
  handles: number
}

/** Milliseconds between two looks at whether a session that nobody holds has come to rest. */
const REST_LOOK_MS = 60_000
/** Milliseconds for which sessions that are being opened are waited for. */
const OPENING_MS = 5000

export function createRooms(environment: Environment): Rooms {
  const rooms = new Map<string, Room>()

  const enter = (name: string, open: () => Promise<SessionSlot>): Promise<SessionSlot> => {
    const known = rooms.get(name)
    if (known && !known.slot?.isClosed()) return known.opening
    const room: Room = { opening: open(), slot: undefined, handles: 0 }
    rooms.set(name, room)
    room.opening.then(
      (slot) => {
        room.slot = slot
      },
      () => {
        // A session that could not be opened is tried again by the next request.
        if (rooms.get(name) === room) rooms.delete(name)
      },
    )
    return room.opening
  }

  /** Its log stays where it is; the next who asks for the session opens it from there. */
  const closeAtRest = (name: string, room: Room): void => {
    const { slot, handles } = room
    if (handles > 0 || !slot || slot.isClosed()) return
    const state = slot.actor().state()
    if (state.turn || state.queue.length > 0 || outstanding(state).length > 0) {
      environment.timers.start(REST_LOOK_MS, () => closeAtRest(name, room))
      return
    }
    slot.close()
    if (rooms.get(name) === room) rooms.delete(name)
  }

  const hold = (slot: SessionSlot): (() => void) => {
    const room = rooms.get(slot.session)
    if (room) room.handles += 1
    return () => {
      if (!room) return
      room.handles -= 1
      closeAtRest(slot.session, room)
    }
  }

  return { enter, hold, all: () => openSlots([...rooms.values()], environment) }
}

/** One whose store does not answer is closed when it is open at last. */
async function openSlots(rooms: readonly Room[], { timers }: Environment): Promise<readonly SessionSlot[]> {
  const limit = { timeoutMs: OPENING_MS, error: hostStopped }
  const opened = rooms.map(({ opening }) => within(timers, limit, opening))
  const settled = await Promise.allSettled(opened)
  return settled.flatMap((slot, index) => {
    if (slot.status === 'fulfilled') return [slot.value]
    rooms[index]?.opening.then((late) => late.close()).catch(() => {})
    return []
  })
}
