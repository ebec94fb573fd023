// A queue of a turn's events: pushed in order, iterated by its one reader.
import type { EventBody } from '@baton/core/internal'

export interface EventQueue extends AsyncIterable<EventBody> {
  push(event: EventBody): void
  end(): void
}

/** Bounded by the turn, because waiting text is joined. */
export function createEventQueue(): EventQueue {
  const waiting: EventBody[] = []
  let isOver = false
  let wake = Promise.withResolvers<void>()
  const tell = (): void => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  return {
    push: (event) => {
      const last = waiting.at(-1)
      if (event.type === 'text' && last?.type === 'text')
        waiting[waiting.length - 1] = { ...last, text: last.text + event.text }
      else waiting.push(event)
      tell()
    },
    end: () => {
      isOver = true
      tell()
    },
    [Symbol.asyncIterator]: async function* () {
      for (;;) {
        yield* waiting.splice(0)
        if (waiting.length > 0) continue
        if (isOver) return
        await wake.promise
      }
    },
  }
}
