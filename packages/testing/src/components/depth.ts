// How thorough a test run is. `npm test` takes minutes on two cores; a landing tries more seeds, and
// `npm run test:deep` many more, more moments at which a process dies, and more pairs.

function isQuick(): boolean {
  return !isDeep() && process.env['BATON_TEST_DEPTH'] !== 'landing'
}

/** Whether this run is `npm run test:deep`. */
export function isDeep(): boolean {
  return process.env['BATON_TEST_DEPTH'] === 'deep'
}

/**
 * Number of seeds, rounds or moments to try: `quick` in `npm test`, `landing` (by default as `quick`) in a landing, `deep` in
 * `npm run test:deep`.
 */
export function chooseCount({ quick, landing = quick, deep }: Counts & { readonly deep: number }): number {
  if (isDeep()) return deep
  return isQuick() ? quick : landing
}

interface Counts {
  readonly quick: number
  readonly landing?: number
}

/** Every item in `npm run test:deep`, and otherwise an evenly spread sample. A number is for both other depths. */
export function chooseSample<T>(items: readonly T[], counts: number | Counts): readonly T[] {
  const size = typeof counts === 'number' ? counts : chooseCount({ ...counts, deep: items.length })
  if (isDeep() || items.length <= size) return items
  return items.filter(
    (_, index) => Math.floor((index * size) / items.length) !== Math.floor(((index - 1) * size) / items.length),
  )
}

/** Milliseconds. */
const DAY_MS = 86_400_000

/**
 * Selects a share of the items, at least one and different ones each day; all of them if BATON_TEST_ALL is set. The
 * seed is the day since 1970; BATON_TEST_SEED sets another one, to repeat an earlier day.
 * @param days number of days until every item had its turn. Five shares no factor with lists that alternate in twos and
 * threes.
 * @throws Error if the seed is not a whole number
 */
export function chooseRotating<T>(items: readonly T[], days = 5): readonly T[] {
  const seed = readSeed()
  const share = Math.min(days, items.length)
  return seed === undefined ? items : items.filter((_, index) => (index + seed) % share === 0)
}

/** Describes for a test's output which items `chooseRotating` selects, and how to repeat the run. */
export function describeRotation(days = 5): string {
  const seed = readSeed()
  return seed === undefined ? 'all of them' : `BATON_TEST_SEED=${seed}, one of ${days} of them`
}

/** Whether BATON_TEST_ALL is set, as in the nightly: nothing is skipped to save time. */
export function isEveryPlaceTried(): boolean {
  return process.env['BATON_TEST_ALL'] !== undefined
}

/** Returns `undefined` if nothing is skipped. */
function readSeed(): number | undefined {
  if (isEveryPlaceTried()) return undefined
  const text = process.env['BATON_TEST_SEED']
  const seed = text === undefined ? Math.floor(Date.now() / DAY_MS) : Number(text)
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(`BATON_TEST_SEED must be a whole number, not "${text}"`)
  return seed
}

/** The seed of the day, or the one in BATON_TEST_SEED; also in the nightly, when nothing is skipped. */
export function chooseSeed(): number {
  return readSeed() ?? Math.floor(Date.now() / DAY_MS)
}
