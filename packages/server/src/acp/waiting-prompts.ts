// Prompts waiting for the end of the turn that reads them.
import type { EventCursor, SessionEvent } from '@baton/core/internal'
import type { TurnEnd } from './updates.ts'

interface WaitingPrompt {
  readonly ended: PromiseWithResolvers<TurnEnd>
  /** Whether the model has read it, or will in the running step. */
  hasEntered: boolean
  /** Resolves with the position of the record that begins its turn, if it is a retry. */
  readonly rewound?: Promise<{ readonly pos: number }>
}

export class WaitingPrompts {
  readonly #waiting = new Map<string, WaitingPrompt>()

  get size(): number {
    return this.#waiting.size
  }

  /** Settles at the end of its turn; rejects if there is none. */
  add(inputId: string): Promise<TurnEnd> {
    const ended = Promise.withResolvers<TurnEnd>()
    ended.promise.catch(() => {}) // the caller gets the rejection
    this.#waiting.set(inputId, { ended, hasEntered: false })
    return ended.promise
  }

  /** Settles at the end of the turn that a rewind begins; rejects with the rewind. */
  addRewind(name: string, rewound: Promise<{ readonly pos: number }>): Promise<TurnEnd> {
    const ended = Promise.withResolvers<TurnEnd>()
    ended.promise.catch(() => {}) // likewise
    this.#waiting.set(name, { ended, hasEntered: false, rewound })
    rewound.catch((cause: unknown) => this.refuse(name, cause))
    return ended.promise
  }

  /** Rejects a prompt that was not accepted. */
  refuse(inputId: string, cause: unknown): void {
    this.#waiting.get(inputId)?.ended.reject(cause)
    this.#waiting.delete(inputId)
  }

  /** Settles when none is waiting. Never rejects. */
  async untilNone(): Promise<void> {
    await Promise.allSettled([...this.#waiting.values()].map(({ ended }) => ended.promise))
  }

  /** Resolves all as cancelled, because the ends of their turns are no longer reported. */
  cancelAll(): void {
    for (const { ended } of this.#waiting.values()) ended.resolve({ stop: 'cancelled' })
    this.#waiting.clear()
  }

  refuseAll(cause: unknown): void {
    for (const inputId of this.#waiting.keys()) this.refuse(inputId, cause)
  }

  /** Called after everything else about the event has been sent. */
  take(event: SessionEvent): void {
    switch (event.type) {
      case 'message-entered': {
        const prompt = this.#waiting.get(event.message)
        if (prompt) prompt.hasEntered = true
        return
      }
      case 'message-withdrawn':
        this.#waiting.get(event.message)?.ended.resolve({ stop: 'cancelled' })
        this.#waiting.delete(event.message)
        return
      case 'turn-finished':
        for (const [inputId, { hasEntered, rewound }] of this.#waiting)
          if (hasEntered) this.#end(inputId, event)
          else void rewound?.then(({ pos }) => isAfter(event.cursor, pos) && this.#end(inputId, event)).catch(() => {})
        return
      default:
    }
  }

  #end(inputId: string, { stop, error }: Extract<SessionEvent, { readonly type: 'turn-finished' }>): void {
    this.#waiting.get(inputId)?.ended.resolve({ stop, ...(error && { error }) })
    this.#waiting.delete(inputId)
  }
}

/** Whether an event is of the record at this position or of a later one. */
function isAfter(cursor: EventCursor, pos: number): boolean {
  return cursor.pos > pos || (cursor.pos === pos && cursor.read !== undefined)
}
