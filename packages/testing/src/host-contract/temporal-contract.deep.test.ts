// The contract of every host over a real Temporal service: the same situations, and the canonical logs of the local host.
import type { Fact } from '@baton/core/machine'
import { afterAll, describe, expect, test } from 'vitest'
import { findTemporal, startTemporal } from '../temporal.ts'
import { SITUATIONS } from './all-situations.ts'
import { createMemoryKind } from './local-kind.ts'
import { listHostCases } from './situation.ts'
import { TEMPORAL_SITUATIONS } from './temporal-situations.ts'
import { createTemporalKind, NeedsTime } from './temporal-kind.test-kit.ts'

const program = findTemporal('the host contract over Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
const played = new Map<string, readonly (readonly Fact[])[]>()
const left: string[] = []

describe.skipIf(!server)('over a Temporal service', () => {
  if (!server) return
  const kind = createTemporalKind(server.address)
  const local = new Map(listHostCases(createMemoryKind(), SITUATIONS).map(({ name, run }) => [name, run]))
  const isAll = process.env['BATON_CONTRACT'] === 'all'
  const cases = listHostCases(kind, SITUATIONS).filter(({ name }) => isAll || TEMPORAL_SITUATIONS.includes(name))
  test('every situation that is listed exists', () => {
    expect(TEMPORAL_SITUATIONS.filter((name) => !(name in SITUATIONS))).toEqual([])
  })
  test.concurrent.each(cases.map(({ name, run }) => [name, run] as const))(
    '%s',
    { timeout: 60_000 },
    async (name, run) => {
      try {
        played.set(name, await run())
      } catch (cause) {
        if (!(cause instanceof NeedsTime)) throw cause
        left.push(name)
        return
      }
      expect(played.get(name)).toEqual(await local.get(name)?.())
    },
  )
})

afterAll(async () => {
  const facts = [...played.values()].flat(2).length
  console.log(
    `host contract over Temporal: ${played.size} situations with the canonical log of the local host, ${facts} facts; ${left.length} need time that can be moved, of ${Object.keys(SITUATIONS).length}`,
  )
  await server?.close()
})
