// Watches the session of a chat: whether this process still has it, and its messages from before the watch began. It
// sends nothing.
import type { EventCursor, Session } from '@baton/core/internal'
import { readText } from '@baton/core/internal'

export interface SessionWatch {
  /**
   * Whether the host has released the session: another process asked for it while it was at rest, or its lease ended.
   */
  isAway(): boolean
  /** Position after the last event seen here. */
  cursor(): EventCursor
  /** Messages of people before the watch was up to date, once they are read. */
  readonly past: Promise<readonly string[]>
  leave(): void
}

export function watchSession(session: Session, from: EventCursor): SessionWatch {
  const events = session.events({ from })
  const past = Promise.withResolvers<readonly string[]>()
  const said: string[] = []
  let cursor = from
  let isPast = true
  let isAway = false
  const follow = async (): Promise<void> => {
    for (let batch = await events.nextBatch(); batch; batch = await events.nextBatch()) {
      for (const event of batch.events) {
        if (event.type === 'live') isPast = false
        if (isPast && event.type === 'message-added' && event.message.role === 'user')
          said.push(readText(event.message.parts))
      }
      cursor = batch.next
      if (!isPast) past.resolve(said)
    }
  }
  follow()
    .catch(() => {}) // the host lost the session; when it is opened again, the missed messages are shown
    .finally(() => {
      isAway = true
      past.resolve(said)
    })
  return { isAway: () => isAway, cursor: () => cursor, past: past.promise, leave: () => events.leave() }
}
