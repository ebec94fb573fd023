// Stops one piece of work. The signal is made when somebody reads it: most tools never look.

export class Cancellation {
  #controller: AbortController | undefined
  #aborted = false

  get aborted(): boolean {
    return this.#aborted
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  abort(): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#controller?.abort()
  }
}
