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

/** A third of them, another one each day; all of them where BATON_TEST_ALL says so. */
export function chooseRotating<Item>(items: readonly Item[]): readonly Item[] {
  const third = findThird()
  return third === undefined ? items : items.filter((_, index) => index % 3 === third)
}

/** Which ones `chooseRotating` chooses now, for what a test prints. */
export function nameShare(): string {
  const third = findThird()
  return third === undefined ? 'all' : `third ${third} of 0 to 2`
}

function findThird(): number | undefined {
  return process.env['BATON_TEST_ALL'] === undefined ? Math.floor(Date.now() / 86_400_000) % 3 : undefined
}
