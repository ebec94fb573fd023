// The newest turn of a session as a page is told it again: what has happened, then what comes, each part of an answer in its place.
import type { CallView, EventStream, Session, SessionEvent } from '@baton/core'

export interface AnswerEvents {
  /** All that are there, at least one; undefined at the end. */
  nextBatch(): Promise<readonly SessionEvent[] | undefined>
  /** Ends the reading at once, also while the next ones are waited for. */
  leave(): void
}

export interface ReadTurn {
  /** Of the newest turn, so far. */
  readonly past: readonly SessionEvent[]
  readonly calls: ReadonlyMap<string, CallView>
  /** What comes. */
  readonly reader: EventStream
  readonly livePos: number
}

export async function readTurn(session: Session): Promise<ReadTurn> {
  const { head } = await session.info()
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
  return { past, calls, reader, livePos: head.pos }
}

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

/** The log has a step's text while it is written, and its reasoning when it ends; an answer begins with the reasoning. */
function putReasoningFirst(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const ordered: SessionEvent[] = []
  /** Where the text of the step begins. */
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
