// The handshake between a session and its child in every interleaving: commits, deaths, a process that sleeps through a
// takeover, a person, a client, an interrupt, timers. And its faults, each of which must be noticed.
import { expect, test } from 'vitest'
import { search } from './handshake.ts'
import type { Search } from './handshake.ts'
import type { Fault, WorldOptions } from './handshake-world.ts'

function play(options: WorldOptions): Search {
  const found = search(options)
  const { levels, leaf, deaths, takeovers } = options
  console.info(
    `handshake: ${levels} levels, ${leaf}, ${deaths} deaths, ${takeovers} takeovers: ${found.states} states, depth ${found.depth}`,
  )
  expect(found.failure).toBeUndefined()
  expect(found.isWhole).toBe(true)
  return found
}

/** All ends that a world must have reached, or it did not play what it should. */
const ENDS = ['done, acted 1', 'undone, acted 0', 'unknown, acted 0', 'unknown, acted 1']

test('a child that needs an approval, with a death and a takeover', () => {
  const { ends } = play({ levels: 2, leaf: 'approved', deaths: 1, takeovers: 1, isQuick: true })
  expect([...ends.keys()].toSorted()).toEqual(['denied, acted 0', ...ENDS])
})

test('a child that acts without an approval, with a death and a takeover', () => {
  const { ends } = play({ levels: 2, leaf: 'plain', deaths: 1, takeovers: 1, isQuick: true })
  expect([...ends.keys()].toSorted()).toEqual(ENDS)
})

test('a child with a call for a client of the root, with a takeover', () => {
  const { ends } = play({ levels: 2, leaf: 'client', deaths: 0, takeovers: 1, isQuick: true })
  expect([...ends.keys()].toSorted()).toEqual(ENDS)
})

test('a child of a child that needs an approval', () => {
  const { ends } = play({ levels: 3, leaf: 'approved', deaths: 0, takeovers: 0, isQuick: true })
  expect([...ends.keys()].toSorted()).toEqual(['denied, acted 0', ...ENDS])
})

test('models and turns take their time, and their timers fire', () => {
  for (const leaf of ['approved', 'plain', 'client'] as const) play({ levels: 2, leaf, deaths: 0, takeovers: 0 })
})

const FAULTS: readonly (readonly [Fault, RegExp])[] = [
  ['never without acquiring', /left at work/],
  ['no look at the root', /left at work/],
  ['own timer', /a person approved, and the model was told that nobody did/],
  ['told from now', /nothing goes on/],
  ['told apart', /nothing goes on/],
  ['reported apart', /nothing goes on/],
  ['says it cannot act', /told undone, but it acted/],
  ['increments', /the root counted/],
  ['random id', /read the future/],
]

test.each(FAULTS)('a link with the fault "%s" is noticed', (fault, rule) => {
  const { failure } = search({ levels: 2, leaf: 'approved', deaths: 1, takeovers: 1, isQuick: true, fault })
  expect(failure?.rule).toMatch(rule)
})
