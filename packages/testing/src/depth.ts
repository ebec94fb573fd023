// How deep a run of the tests goes. `npm test` takes minutes on two cores; `npm run test:deep` tries more seeds, more
// moments at which a process dies, and more pairs.

/** Whether this run is `npm run test:deep`. */
export function isDeep(): boolean {
  return process.env['BATON_TEST_DEPTH'] === 'deep'
}

/** How many seeds, rounds or moments a test tries: `quick` in `npm test`, `deep` in `npm run test:deep`. */
export function chooseCount(counts: { readonly quick: number; readonly deep: number }): number {
  return isDeep() ? counts.deep : counts.quick
}

/** Every item in `npm run test:deep`, and `quick` of them, spread evenly, in `npm test`. */
export function chooseSample<T>(items: readonly T[], quick: number): readonly T[] {
  if (isDeep() || items.length <= quick) return items
  return items.filter(
    (_, index) => Math.floor((index * quick) / items.length) !== Math.floor(((index - 1) * quick) / items.length),
  )
}

/** Milliseconds. */
const DAY_MS = 86_400_000

/**
 * A share of the items: other ones each day, and at least one of them. Plays all where BATON_TEST_ALL is set. The seed is the day since 1970;
 * BATON_TEST_SEED sets another one, to play a former day again.
 * @param days after which every item had its turn. Five share no factor with lists that go round in twos and threes.
 * @throws Error for a seed that is no whole number
 */
export function chooseRotating<T>(items: readonly T[], days = 5): readonly T[] {
  const seed = readSeed()
  const share = Math.min(days, items.length)
  return seed === undefined ? items : items.filter((_, index) => (index + seed) % share === 0)
}

/** Says for a test's output which items `chooseRotating` takes, and how to repeat the run. */
export function describeRotation(days = 5): string {
  const seed = readSeed()
  return seed === undefined ? 'all of them' : `BATON_TEST_SEED=${seed}, one of ${days} of them`
}

/** Whether BATON_TEST_ALL is set, as at night: nothing is left out to save time. */
export function isEveryPlaceTried(): boolean {
  return process.env['BATON_TEST_ALL'] !== undefined
}

/** Undefined: nothing is left out. */
function readSeed(): number | undefined {
  if (isEveryPlaceTried()) return undefined
  const text = process.env['BATON_TEST_SEED']
  const seed = text === undefined ? Math.floor(Date.now() / DAY_MS) : Number(text)
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(`BATON_TEST_SEED must be a whole number, not "${text}"`)
  return seed
}

/** The seed of the day, or the one that BATON_TEST_SEED sets; also at night, when nothing is left out. */
export function chooseSeed(): number {
  return readSeed() ?? Math.floor(Date.now() / DAY_MS)
}
