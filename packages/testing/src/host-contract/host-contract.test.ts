// The contract of every host: the same situations, and the same canonical logs, whatever kind of host plays them.
import type { Fact } from '@baton/core/machine'
import { afterAll, describe, expect, test } from 'vitest'
import { APPROVAL_SITUATIONS } from './approvals-situations.ts'
import { ARGUMENT_SITUATIONS } from './arguments-situations.ts'
import { CLIENT_RESULT_SITUATIONS } from './client-results-situations.ts'
import { CLIENT_SITUATIONS } from './clients-situations.ts'
import { CONTROL_SITUATIONS } from './control-situations.ts'
import { EVENT_SITUATIONS } from './events-situations.ts'
import { FRAME_SITUATIONS } from './frames-situations.ts'
import { createHostKinds } from './host-kinds.ts'
import { INPUT_SITUATIONS } from './inputs-situations.ts'
import { INTERRUPT_SITUATIONS } from './interrupts-situations.ts'
import { LEASE_CLIENT_SITUATIONS } from './lease-clients-situations.ts'
import { MEDIA_SITUATIONS } from './media-situations.ts'
import { MODEL_SITUATIONS } from './models-situations.ts'
import { OUTPUT_SITUATIONS } from './output-situations.ts'
import { QUESTION_SITUATIONS } from './questions-situations.ts'
import { REWIND_SITUATIONS } from './rewind-situations.ts'
import { RESTART_SITUATIONS } from './restart-situations.ts'
import { RESULT_SITUATIONS } from './results-situations.ts'
import { SESSION_SITUATIONS } from './sessions-situations.ts'
import { listHostCases } from './situation.ts'
import { TIME_SITUATIONS } from './time-situations.ts'
import { TOOL_SITUATIONS } from './tools-situations.ts'
import { TRUST_SITUATIONS } from './trust-situations.ts'
import { WORLD_SITUATIONS } from './worlds-situations.ts'

const SITUATIONS = {
  ...TOOL_SITUATIONS,
  ...ARGUMENT_SITUATIONS,
  ...RESULT_SITUATIONS,
  ...CLIENT_SITUATIONS,
  ...CLIENT_RESULT_SITUATIONS,
  ...LEASE_CLIENT_SITUATIONS,
  ...MEDIA_SITUATIONS,
  ...MODEL_SITUATIONS,
  ...APPROVAL_SITUATIONS,
  ...OUTPUT_SITUATIONS,
  ...CONTROL_SITUATIONS,
  ...SESSION_SITUATIONS,
  ...TRUST_SITUATIONS,
  ...QUESTION_SITUATIONS,
  ...INPUT_SITUATIONS,
  ...INTERRUPT_SITUATIONS,
  ...REWIND_SITUATIONS,
  ...EVENT_SITUATIONS,
  ...FRAME_SITUATIONS,
  ...WORLD_SITUATIONS,
  ...TIME_SITUATIONS,
}
const KINDS = createHostKinds()
/** The canonical logs of each situation, by kind. */
const LOGS = new Map<string, Map<string, readonly (readonly Fact[])[]>>()

describe.each(KINDS)('$name', (kind) => {
  for (const { name, run } of listHostCases(kind, SITUATIONS))
    test(name, async () => {
      const logs = await run()
      LOGS.set(name, (LOGS.get(name) ?? new Map()).set(kind.name, logs))
    })
  // Where a session outlives every process there is no restart.
  for (const { name, run } of listHostCases(kind, RESTART_SITUATIONS)) test.skipIf(!kind.restarts)(name, () => run())
})

test('every situation has the same canonical log on all kinds of hosts', () => {
  const [first, ...others] = KINDS.map(({ name }) => name)
  let compared = 0
  let facts = 0
  for (const [name, logs] of LOGS) {
    // Some of them failed, or were not asked to play.
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
