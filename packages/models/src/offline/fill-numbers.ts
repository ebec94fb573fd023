// Gives the numbers of a sentence to the properties that want numbers: ranges to a first and a last, others to the
// property whose name stands beside them.
import type { Found } from './find-values.ts'
import type { Property } from './schema-properties.ts'
import { splitWords, stem } from './words.ts'

const FIRST = stemsOf('start from first begin min minimum low lower')
const LAST = stemsOf('end to last stop until max maximum high upper')
const AMOUNT = stemsOf('limit count max top number amount size results')

export interface FilledNumbers {
  readonly values: ReadonlyMap<string, number>
  readonly used: readonly Found[]
}

export function fillNumbers(text: string, found: readonly Found[], properties: readonly Property[]): FilledNumbers {
  const values = new Map<string, number>()
  const used: Found[] = []
  const wanted = properties.filter(({ type }) => type === 'integer' || type === 'number')
  const first = wanted.find(({ stems }) => stems.some((word) => FIRST.has(word)))
  const last = wanted.find((property) => property !== first && property.stems.some((word) => LAST.has(word)))
  const give = (property: Property, value: number): void => void values.set(property.name, within(property, value))

  for (const entry of found) {
    if (entry.kind !== 'range' && entry.kind !== 'number') continue
    const numbers = [...entry.value.matchAll(/\d+(?:\.\d+)?/g)].map(([digits]) => Number(digits))
    const before = splitWords(text.slice(0, entry.start)).slice(-2).map(stem)
    const after = splitWords(text.slice(entry.end)).slice(0, 1).map(stem)
    const [low, high = low] = numbers
    if (low === undefined || high === undefined) continue
    if (first && last && !values.has(first.name) && namesSame([first, last], [...before, ...after])) {
      const isFirstFew = entry.kind === 'number' && before.some((word) => FIRST.has(word))
      give(first, isFirstFew ? 1 : Math.min(low, high))
      give(last, Math.max(low, high))
      used.push(entry)
      continue
    }
    const free = wanted.filter((property) => !values.has(property.name))
    // "top 5", "the 5 latest sessions"
    const isAmount =
      before.some((word) => AMOUNT.has(word) || FIRST.has(word) || LAST.has(word)) ||
      /^\s+(?:\p{L}+\s+)?\p{L}+s\b/u.test(text.slice(entry.end))
    const taker =
      free.find(({ stems }) => stems.some((word) => before.includes(word) || after.includes(word))) ??
      (isAmount ? free.find(({ stems }) => stems.some((word) => AMOUNT.has(word))) : undefined) ??
      free.find(({ isRequired }) => isRequired)
    if (!taker) continue
    give(taker, low)
    used.push(entry)
  }
  return { values, used }
}

/** Whether the words beside a number name what the two properties are the ends of: `lines` for startLine and endLine. */
function namesSame(ends: readonly Property[], words: readonly string[]): boolean {
  const named = ends.map(({ stems }) => stems.filter((word) => !FIRST.has(word) && !LAST.has(word)))
  return named.every((stems) => stems.length === 0 || stems.some((word) => words.includes(word)))
}

function within(property: Property, value: number): number {
  const { minimum, maximum } = property.schema
  const atLeast = typeof minimum === 'number' ? Math.max(minimum, value) : value
  const bounded = typeof maximum === 'number' ? Math.min(maximum, atLeast) : atLeast
  return property.type === 'integer' ? Math.trunc(bounded) : bounded
}

function stemsOf(words: string): ReadonlySet<string> {
  return new Set(words.split(' ').map(stem))
}
