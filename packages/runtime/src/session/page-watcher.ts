// Watches one page of a list. Reads it again when a change is reported, and from time to time, because other processes
// change it too. Yields each page that differs from the previous one; a slow reader gets the newest.
import type { Timers } from '@baton/core/internal'

export interface PageWatcherOptions<Page> {
  readonly timers: Timers
  /** Milliseconds between two looks, unless a change is reported. */
  readonly everyMs: number
  readonly read: () => Promise<Page>
  /** Called for the first of several failures in a row; each look tries again. */
  readonly onFailure: (cause: unknown) => void
  readonly onEnd: () => void
}

export class PageWatcher<Page> implements AsyncIterable<Page>, AsyncIterator<Page, undefined> {
  readonly #init: PageWatcherOptions<Page>
  #given = ''
  #isDue = true
  #wake: (() => void) | undefined
  #ended = false
  #hasFailed = false

  constructor(init: PageWatcherOptions<Page>) {
    this.#init = init
  }

  [Symbol.asyncIterator](): AsyncIterator<Page, undefined> {
    return this
  }

  /** Reads the page again, because it may have changed. */
  look(): void {
    this.#isDue = true
    this.#wake?.()
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#init.onEnd()
    this.#wake?.()
  }

  async next(): Promise<IteratorResult<Page, undefined>> {
    for (;;) {
      if (!this.#isDue) await this.#wait()
      if (this.#ended) return { done: true, value: undefined }
      this.#isDue = false
      try {
        const page = await this.#init.read()
        this.#hasFailed = false
        const text = JSON.stringify(page)
        if (text === this.#given) continue
        this.#given = text
        return { done: false, value: page }
      } catch (cause) {
        if (!this.#hasFailed) this.#init.onFailure(cause)
        this.#hasFailed = true
      }
    }
  }

  return(): Promise<IteratorResult<Page, undefined>> {
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  async #wait(): Promise<void> {
    if (this.#ended) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#wake = resolve
    const cancel = this.#init.timers.start(this.#init.everyMs, resolve, { isBackground: true })
    await promise
    cancel()
    this.#wake = undefined
  }
}
