// Events that wait for one reader, in the memory of their texts.
import type { SessionEvent, SessionEventOf } from '@baton/core/internal'

/** Unread events. Adjacent text is joined, so a long unread answer is one event. */
export class EventQueue {
  #waiting: SessionEvent[] = []
  #ended = false
  /** Shared by all waiting readers, so that none hangs at the end. */
  #change: PromiseWithResolvers<void> | undefined

  /** Whether no further events will be pushed. */
  get isEnded(): boolean {
    return this.#ended
  }

  /** Returns the number of waiting events. */
  push(events: readonly SessionEvent[]): number {
    for (const event of events) {
      const last = this.#waiting.length - 1
      const joined = 'offset' in event ? joinTexts(this.#waiting[last], event) : undefined
      if (joined) this.#waiting[last] = joined
      else this.#waiting.push(event)
    }
    if (this.#change) this.wake()
    return this.#waiting.length
  }

  /** Removes and returns all waiting events. */
  takeAll(): readonly SessionEvent[] {
    const events = this.#waiting
    this.#waiting = []
    return events
  }

  /** Removes unread events. */
  keepOnly(isKept: (event: SessionEvent) => boolean): void {
    this.#waiting = this.#waiting.filter(isKept)
  }

  /** Keeps the newest of waiting events with the same key; events without a key all stay. Returns their number. */
  keepNewest(keyOf: (event: SessionEvent) => string | undefined): number {
    const newer = new Set<string>()
    const kept = this.#waiting.toReversed().filter((event) => {
      const key = keyOf(event)
      const isNewest = key === undefined || !newer.has(key)
      if (key !== undefined) newer.add(key)
      return isNewest
    })
    this.#waiting = kept.toReversed()
    return kept.length
  }

  end(): void {
    this.#ended = true
    this.wake()
  }

  /** Resolves with the next event, with `wake`, and at the end. */
  changed(): Promise<void> {
    return (this.#change ??= Promise.withResolvers()).promise
  }

  /** Resolves `changed` without an event. */
  wake(): void {
    this.#change?.resolve()
    this.#change = undefined
  }
}

/** Undefined if the event does not continue the last one. */
function joinTexts(
  last: SessionEvent | undefined,
  event: SessionEventOf<'text' | 'reasoning' | 'call-writing'>,
): SessionEvent | undefined {
  if (!last || last.type !== event.type || last.step !== event.step || last.offset + last.text.length !== event.offset)
    return undefined
  if (event.type === 'call-writing' && last.type === 'call-writing' && last.callId !== event.callId) return undefined
  return { ...last, text: last.text + event.text, cursor: event.cursor }
}
