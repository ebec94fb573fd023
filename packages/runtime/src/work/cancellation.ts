// Stops one piece of work. The signal is made when somebody reads it: most tools never look.

export class Cancellation {
  aborted = false
  #controller: AbortController | undefined

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.aborted) this.#controller.abort()
    }
    return this.#controller.signal
  }

  abort(): void {
    if (this.aborted) return
    this.aborted = true
    this.#controller?.abort()
  }
}
