// The newest items of a list that a state keeps to tell repeats.
import { RULES } from './spec.ts'

/** Of both lists, the newest. They are copied with every input and every step, so that the usual copy is made once. */
export function remember<Item>(known: readonly Item[], more: readonly Item[]): readonly Item[] {
  const over = known.length + more.length - RULES.remembered
  if (over <= 0) return known.concat(more)
  return over < known.length ? known.slice(over).concat(more) : more.slice(-RULES.remembered)
}
