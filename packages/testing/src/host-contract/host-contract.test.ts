// The contract of every host: the same situations yield the same canonical logs, whatever kind of host plays them.
import type { Fact } from '@baton/core/machine'
import { afterAll, describe, expect, test } from 'vitest'
import { SITUATIONS } from './all-situations.ts'
import { createHostKinds } from './host-kinds.ts'
import { PAIR_RESTART_SITUATIONS } from './pair-situations.ts'
import { RESTART_SITUATIONS } from './restart-situations.ts'
import { listHostCases } from './situation.ts'
import { RESTARTED_TASK_SITUATIONS } from './tasks-situations.ts'

const KINDS = createHostKinds()
/** The canonical logs of each situation, by kind. */
const LOGS = new Map<string, Map<string, readonly (readonly Fact[])[]>>()

describe.each(KINDS)('$name', (kind) => {
  for (const { name, run } of listHostCases(kind, SITUATIONS))
    test(name, async () => {
      const logs = await run()
      LOGS.set(name, (LOGS.get(name) ?? new Map()).set(kind.name, logs))
    })
  // A session that outlives every process has no restarts.
  const restarts = { ...RESTART_SITUATIONS, ...PAIR_RESTART_SITUATIONS, ...RESTARTED_TASK_SITUATIONS }
  for (const { name, run } of listHostCases(kind, restarts)) test.skipIf(!kind.restarts)(name, () => run())
})

test('every situation has the same canonical log on all kinds of hosts', () => {
  const [first, ...others] = KINDS.map(({ name }) => name)
  let compared = 0
  let facts = 0
  for (const [name, logs] of LOGS) {
    // Some of them failed, or were not selected.
    if (logs.size < KINDS.length) continue
    for (const other of others) expect(logs.get(other), `${name}: ${other}`).toEqual(logs.get(first ?? ''))
    compared += 1
    facts += logs.get(first ?? '')?.flat().length ?? 0
  }
  const situations = Object.keys(SITUATIONS).length
  console.log(
    `host contract: ${KINDS.length} kinds, ${situations} situations, ${compared} conversations with ${facts} facts compared`,
  )
})

afterAll(async () => {
  for (const kind of KINDS) await kind.close()
})
