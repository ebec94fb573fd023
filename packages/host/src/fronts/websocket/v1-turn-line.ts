// The line that is logged at the end of a turn: what was written, in order, and what caused it.
import type { JsonObject } from '@baton/core'

export interface TurnLine {
  begin(): void
  /** A frame that was written: its type, or the tool's name for a call. */
  add(name: string): void
  end(turn: {
    readonly turn: number
    readonly session: string
    readonly outcome: string
    readonly causes: readonly string[]
  }): {
    readonly message: string
    readonly data: JsonObject
  }
}

/** Names in one line; frames that repeat, like partials, are counted as one. */
const NAMES_MAX = 200

export function createTurnLine(): TurnLine {
  let names: { readonly name: string; count: number }[] = []
  return {
    begin: () => {
      names = []
    },
    add: (name) => {
      const last = names.at(-1)
      if (last?.name === name) last.count++
      else if (names.length < NAMES_MAX) names.push({ name, count: 1 })
    },
    end: ({ turn, session, outcome, causes }) => {
      const frames = names.map(({ name, count }) => (count === 1 ? name : `${name} x${count}`)).join(' -> ')
      names = []
      return { message: `turn ${turn}: ${frames}`, data: { turn, session, outcome, causes } }
    },
  }
}
