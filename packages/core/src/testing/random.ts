// A seeded source of choices: the same seed gives the same run, on every machine.

export interface Random {
  /** A number in [0, 1). */
  next(): number
  /** A whole number from 0 to `below` - 1. */
  below(below: number): number
  chance(probability: number): boolean
  /** @throws RangeError if there is nothing to pick from */
  pick<Value>(values: readonly Value[]): Value
}

/** Mulberry32: small, fast, and good enough to choose test inputs. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (values) => {
      const picked = values[below(values.length)]
      if (picked === undefined) throw new RangeError('nothing to pick from')
      return picked
    },
  }
}
