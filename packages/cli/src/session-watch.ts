// Watches the session of a chat: whether this process still has it, and what was said in it before the watch began. It sends nothing.
import type { EventCursor, Session } from '@baton/core'
import { readText } from '@baton/core'

export interface SessionWatch {
  /** The host has let go of the session: another process asked for it while it rested, or its lease ended. */
  isAway(): boolean
  /** Behind what was seen here. */
  cursor(): EventCursor
  /** Messages of people since the watch began, once they are read. */
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
    .catch(() => {}) // the host lost the session: the next one that is opened is told what was said
    .finally(() => {
      isAway = true
      past.resolve(said)
    })
  return { isAway: () => isAway, cursor: () => cursor, past: past.promise, leave: () => events.leave() }
}
