// Calls written to one connection and not answered yet, in order. An app works through them strictly one after another,
// so the first is the one it is working on.

export interface ModelOffer {
  readonly callId: string
  readonly offer: number
}

interface Written {
  readonly callId: string
  readonly offer: number | undefined
  reached: boolean
}

/** Apps need not answer display calls: the oldest are dropped, as if answered. */
const WRITTEN_MAX = 1000

export class WrittenCalls {
  #written: Written[] = []

  /** `offer` is absent for a display call, which is not awaited. Returns the offers that the app has now reached. */
  add(callId: string, offer?: number): readonly ModelOffer[] {
    this.#written.push({ callId, offer, reached: false })
    return this.#reach(this.#written.length > WRITTEN_MAX ? this.#written.splice(0, 1) : [])
  }

  /** Called when the app answered this call, and so has passed all before it. */
  answer(callId: string): readonly ModelOffer[] {
    const index = this.#written.findIndex((call) => call.callId === callId)
    if (index < 0) return []
    const passed = this.#written.slice(0, index)
    this.#written = this.#written.slice(index + 1)
    return this.#reach(passed)
  }

  /** Whether it was written and not answered. */
  has(callId: string): boolean {
    return this.#written.some((call) => call.callId === callId)
  }

  /** The app is working on the first one. */
  #reach(passed: readonly Written[]): readonly ModelOffer[] {
    const [first] = this.#written
    return [...passed, ...(first ? [first] : [])].flatMap((call) => {
      if (call.reached || call.offer === undefined) return []
      call.reached = true
      return [{ callId: call.callId, offer: call.offer }]
    })
  }
}
