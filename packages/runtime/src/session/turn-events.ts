// The events of one turn for one reader. Text that nobody reads is joined, so an unread turn holds no more than its answer.
import type { TurnEvent } from '@baton/core'

export interface TurnEvents extends AsyncIterable<TurnEvent> {
  push(event: TurnEvent): void
  end(): void
}

export function createTurnEvents(): TurnEvents {
  let waiting: TurnEvent[] = []
  let ended = false
  /** Shared by all who wait: several iterators share the events, and none of them hangs at the end. */
  let wake: PromiseWithResolvers<void> | undefined

  const signal = (): void => {
    wake?.resolve()
    wake = undefined
  }
  const push = (event: TurnEvent): void => {
    const last = waiting.at(-1)
    if (last?.type === 'text-delta' && event.type === 'text-delta')
      waiting[waiting.length - 1] = { type: 'text-delta', text: last.text + event.text }
    else if (last?.type === 'reasoning-delta' && event.type === 'reasoning-delta')
      waiting[waiting.length - 1] = { type: 'reasoning-delta', text: last.text + event.text }
    else {
      // Of a call's progress only the newest counts; a tool may report for as long as it likes.
      if (event.type === 'tool-progress') waiting = waiting.filter((other) => !isProgressOf(other, event.callId))
      waiting.push(event)
    }
    signal()
  }
  return {
    push,
    end: () => {
      ended = true
      signal()
    },
    [Symbol.asyncIterator]: async function* () {
      for (;;) {
        const batch = waiting
        waiting = []
        yield* batch
        if (waiting.length > 0) continue
        if (ended) return
        wake ??= Promise.withResolvers()
        await wake.promise
      }
    },
  }
}

function isProgressOf(event: TurnEvent, callId: string): boolean {
  return event.type === 'tool-progress' && event.callId === callId
}
