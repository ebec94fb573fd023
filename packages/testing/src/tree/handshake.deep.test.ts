// The handshake in worlds that are too large for each commit: two deaths, three levels, models that take their time.
import { expect, test } from 'vitest'
import { search } from './handshake.ts'
import type { WorldOptions } from './handshake-world.ts'

const WORLDS: readonly WorldOptions[] = [
  { levels: 2, leaf: 'approved', deaths: 2, takeovers: 2, isQuick: true },
  { levels: 2, leaf: 'approved', deaths: 1, takeovers: 1 },
  { levels: 2, leaf: 'client', deaths: 1, takeovers: 1, isQuick: true },
  { levels: 3, leaf: 'approved', deaths: 1, takeovers: 1, isQuick: true, isAwake: true },
  { levels: 3, leaf: 'client', deaths: 0, takeovers: 0, isQuick: true },
]

test.each(WORLDS)('$levels levels, $leaf, $deaths deaths, $takeovers takeovers', (options) => {
  const { states, depth, failure, isWhole } = search(options)
  console.info(`handshake: ${JSON.stringify(options)}: ${states} states, depth ${depth}`)
  expect(failure).toBeUndefined()
  expect(isWhole).toBe(true)
})
