// The events of one turn for one reader. Text that nobody reads is joined, so an unread turn holds no more than its answer.
import type { TurnEvent } from '@baton/core'

export interface TurnEvents extends AsyncIterable<TurnEvent> {
  push(event: TurnEvent): void
  end(): void
}

export function createTurnEvents(): TurnEvents {
  let waiting: TurnEvent[] = []
  let ended = false
  let wake: (() => void) | undefined

  const push = (event: TurnEvent): void => {
    const last = waiting.at(-1)
    if (last?.type === 'text-delta' && event.type === 'text-delta')
      waiting[waiting.length - 1] = { type: 'text-delta', text: last.text + event.text }
    else if (last?.type === 'reasoning-delta' && event.type === 'reasoning-delta')
      waiting[waiting.length - 1] = { type: 'reasoning-delta', text: last.text + event.text }
    else waiting.push(event)
    wake?.()
  }
  return {
    push,
    end: () => {
      ended = true
      wake?.()
    },
    [Symbol.asyncIterator]: async function* () {
      for (;;) {
        const batch = waiting
        waiting = []
        yield* batch
        if (waiting.length > 0) continue
        if (ended) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}
