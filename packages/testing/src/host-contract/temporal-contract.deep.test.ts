// The contract of every host over a real Temporal service: the same situations, compared with the local host's
// canonical logs.
import type { Fact } from '@baton/core/machine'
import { afterAll, describe, expect, test } from 'vitest'
import { chooseRotating, describeRotation } from '../components/depth.ts'
import { findTemporal, startTemporal } from '../components/temporal.ts'
import { SITUATIONS } from './all-situations.ts'
import { createMemoryKind } from './local-kind.ts'
import { listHostCases } from './situation.ts'
import { createTemporalKind } from './temporal-kind.test-kit.ts'
import { NOT_OVER_TEMPORAL } from './temporal-situations.ts'

const program = findTemporal('the host contract over Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
const played = new Map<string, readonly (readonly Fact[])[]>()

/** Parallel calls end in any order: facts about them in one batch are sorted by call id. */
function sortCalls(facts: readonly Fact[]): readonly Fact[] {
  const sorted: Fact[] = []
  let run: Fact[] = []
  for (const fact of [...facts, undefined]) {
    if (fact && 'callId' in fact) run.push(fact)
    else {
      sorted.push(...run.toSorted((one, other) => findCallId(one).localeCompare(findCallId(other))))
      run = []
      if (fact) sorted.push(fact)
    }
  }
  return sorted
}

function findCallId(fact: Fact): string {
  return 'callId' in fact ? fact.callId : ''
}

describe.skipIf(!server)('over a Temporal service', () => {
  if (!server) return
  const kind = createTemporalKind(server.address)
  const local = new Map(listHostCases(createMemoryKind(), SITUATIONS).map(({ name, run }) => [name, run]))
  const isAll = process.env['BATON_CONTRACT'] === 'all'
  const cases = chooseRotating(
    listHostCases(kind, SITUATIONS).filter(({ name }) => isAll || !NOT_OVER_TEMPORAL.has(name)),
  )
  test('every situation that is left out exists', () => {
    expect([...NOT_OVER_TEMPORAL.keys()].filter((name) => !(name in SITUATIONS))).toEqual([])
  })
  test.concurrent.each(cases.map(({ name, run }) => [name, run] as const))('%s', async (name, run) => {
    const logs = await run()
    const wanted = await local.get(name)?.()
    expect(logs.map(sortCalls)).toEqual(wanted?.map(sortCalls))
    played.set(name, logs)
  })
})

afterAll(async () => {
  const facts = [...played.values()].flat(2).length
  const reasons = Map.groupBy(NOT_OVER_TEMPORAL, ([, reason]) => reason)
  const left = [...reasons].map(([reason, names]) => `\n  ${names.length}: ${reason}`).join('')
  console.log(
    `host contract over Temporal: ${played.size} of ${Object.keys(SITUATIONS).length} situations with the canonical log of the local host, ${facts} facts; ${describeRotation()}; ${NOT_OVER_TEMPORAL.size} are left out:${left}`,
  )
  await server?.close()
})
