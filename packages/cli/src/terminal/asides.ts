// Queue of session events outside of the turns that a chat follows, until the chat shows them.
import type { EventBody } from '@baton/core/internal'

export class Asides {
  readonly #waiting: (EventBody | undefined)[] = []
  #onNext: (() => void) | undefined
  #passOn: ((event: EventBody) => void) | undefined

  /** Called without an event when a running turn will have no further events. */
  readonly add = (event?: EventBody): void => {
    if (this.#passOn) {
      if (event) this.#passOn(event)
      return
    }
    const last = this.#waiting.at(-1)
    // A waiting text grows with its answer, and no other event is as frequent.
    if (event?.type === 'text' && last?.type === 'text' && last.step === event.step)
      this.#waiting[this.#waiting.length - 1] = { ...last, text: last.text + event.text }
    else this.#waiting.push(event)
    this.#onNext?.()
  }

  /** Removes the oldest event. */
  take(): { readonly event: EventBody | undefined } | undefined {
    return this.#waiting.length > 0 ? { event: this.#waiting.shift() } : undefined
  }

  /** Passes waiting and later events on at once, until the returned function is called. */
  passTo(listener: (event: EventBody) => void): () => void {
    for (const event of this.#waiting.splice(0)) if (event) listener(event)
    this.#passOn = listener
    return () => {
      this.#passOn = undefined
    }
  }

  /** Returns a controller that aborts when a waiting event should interrupt a person who is typing. */
  untilShown(): AbortController {
    const controller = new AbortController()
    this.#onNext = (): void => {
      if (this.#waiting.some((event) => event !== undefined && isShown(event))) controller.abort()
    }
    this.#onNext()
    return controller
  }

  /** Resolves when an event waits. */
  async next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#onNext = resolve
    if (this.#waiting.length > 0) resolve()
    await promise
  }
}

/** Whether a person sees something of the event, or is asked. */
function isShown(event: EventBody): boolean {
  switch (event.type) {
    case 'message-added':
    case 'message-entered':
    case 'approval-requested':
    case 'question-asked':
      return true
    case 'call':
      // Others have ended with their turns, as far as a person is concerned.
      return event.call.task === 'settled'
    default:
      return false
  }
}
