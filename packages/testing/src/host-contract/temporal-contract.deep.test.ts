// The contract of every host over a real Temporal service: the same situations, and the canonical logs of the local host.
import type { Fact } from '@baton/core/machine'
import { afterAll, describe, expect, test } from 'vitest'
import { findTemporal, startTemporal } from '../temporal.ts'
import { SITUATIONS } from './all-situations.ts'
import { createMemoryKind } from './local-kind.ts'
import { listHostCases } from './situation.ts'
import { createTemporalKind } from './temporal-kind.test-kit.ts'
import { NOT_OVER_TEMPORAL } from './temporal-situations.ts'

const program = findTemporal('the host contract over Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
const played = new Map<string, readonly (readonly Fact[])[]>()

describe.skipIf(!server)('over a Temporal service', () => {
  if (!server) return
  const kind = createTemporalKind(server.address)
  const local = new Map(listHostCases(createMemoryKind(), SITUATIONS).map(({ name, run }) => [name, run]))
  const isAll = process.env['BATON_CONTRACT'] === 'all'
  const cases = listHostCases(kind, SITUATIONS).filter(({ name }) => isAll || !NOT_OVER_TEMPORAL.has(name))
  test('every situation that is left out exists', () => {
    expect([...NOT_OVER_TEMPORAL.keys()].filter((name) => !(name in SITUATIONS))).toEqual([])
  })
  test.concurrent.each(cases.map(({ name, run }) => [name, run] as const))(
    '%s',
    { timeout: 120_000 },
    async (name, run) => {
      played.set(name, await run())
      expect(played.get(name)).toEqual(await local.get(name)?.())
    },
  )
})

afterAll(async () => {
  const facts = [...played.values()].flat(2).length
  const reasons = Map.groupBy(NOT_OVER_TEMPORAL, ([, reason]) => reason)
  const left = [...reasons].map(([reason, names]) => `\n  ${names.length}: ${reason}`).join('')
  console.log(
    `host contract over Temporal: ${played.size} of ${Object.keys(SITUATIONS).length} situations with the canonical log of the local host, ${facts} facts; ${NOT_OVER_TEMPORAL.size} are left out:${left}`,
  )
  await server?.close()
})
