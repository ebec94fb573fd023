// Replays the newest turn of a session for a page: first its past, then its live events, with the parts of an answer in
// order.
import type { CallView, EventStream, FrontSession, SessionEvent } from '@baton/core/internal'

export interface AnswerEvents {
  /** Returns all events that are ready, at least one; `undefined` at the end. */
  nextBatch(): Promise<readonly SessionEvent[] | undefined>
  /** Stops reading at once, even while `nextBatch` waits. */
  leave(): void
}

export interface ReadTurn {
  /** The newest turn so far. */
  readonly past: readonly SessionEvent[]
  /** The calls of `past` in their latest state, by id. */
  readonly calls: ReadonlyMap<string, CallView>
  /** Continues after `past`. */
  readonly reader: EventStream
  /** Events before this position of the log are past. */
  readonly livePos: number
}

export async function readTurn(session: FrontSession): Promise<ReadTurn> {
  const livePos = session.pos + 1
  const reader = session.events({ from: 'turn' })
  const past: SessionEvent[] = []
  const calls = new Map<string, CallView>()
  for (let isPast = true; isPast;) {
    const batch = await reader.nextBatch()
    if (!batch) break
    for (const event of batch.events) {
      isPast &&= event.type !== 'live'
      past.push(event)
      if (event.type === 'call') calls.set(event.call.callId, event.call)
    }
  }
  return { past, calls, reader, livePos }
}

/** Returns `past`, with each step's reasoning before its text, followed by the events of `reader`. */
export function chain(past: readonly SessionEvent[], reader: EventStream): AnswerEvents {
  let rest = putReasoningFirst(past)
  return {
    nextBatch: async () => {
      const events = rest
      rest = []
      return events.length > 0 ? events : (await reader.nextBatch())?.events
    },
    leave: () => reader.leave(),
  }
}

/**
 * Moves reasoning first. The log gets a step's text while the model writes but its reasoning only at the end, and a
 * page shows the reasoning first.
 */
function putReasoningFirst(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const ordered: SessionEvent[] = []
  /** Index in `ordered` where the step's text begins; -1 if it has none yet. */
  let text = -1
  for (const event of events) {
    if (event.type === 'reasoning' && text >= 0) {
      ordered.splice(text, 0, event)
      text += 1
      continue
    }
    if (event.type === 'step-started') text = -1
    else if (event.type === 'text' && text < 0) text = ordered.length
    ordered.push(event)
  }
  return ordered
}
