// The line logged at the end of a turn: the frames written, in order, and their causes.
import type { JsonObject } from '@baton/core'

export interface EndedTurn {
  readonly turn: number
  readonly session: string
  readonly outcome: string
  readonly causes: readonly string[]
  /** As in the record; apps get less. */
  readonly error?: { readonly code: string; readonly message: string }
}

export interface Line {
  readonly message: string
  readonly data: JsonObject
}

/** Names per line; repeated frames, like partials, are counted as one. */
const NAMES_MAX = 200

export class TurnLog {
  #names: { readonly name: string; count: number }[] = []

  begin(): void {
    this.#names = []
  }

  /** Adds a written frame: its type, or the tool's name for a call. */
  add(name: string): void {
    const last = this.#names.at(-1)
    if (last?.name === name) last.count++
    else if (this.#names.length < NAMES_MAX) this.#names.push({ name, count: 1 })
  }

  end({ turn, session, outcome, causes, error }: EndedTurn): Line {
    const frames = this.#names.map(({ name, count }) => (count === 1 ? name : `${name} x${count}`)).join(' -> ')
    this.#names = []
    return { message: `turn ${turn}: ${frames}`, data: { turn, session, outcome, causes, ...(error && { error }) } }
  }
}
