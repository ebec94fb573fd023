// The contract of every host: the same situations, and the same canonical logs, whatever kind of host plays them.
import { afterAll, describe, test } from 'vitest'
import { APPROVAL_SITUATIONS } from './approvals-situations.ts'
import { CLIENT_SITUATIONS } from './clients-situations.ts'
import { CONTROL_SITUATIONS } from './control-situations.ts'
import { createHostKinds } from './host-kinds.ts'
import { MODEL_SITUATIONS } from './models-situations.ts'
import { OUTPUT_SITUATIONS } from './output-situations.ts'
import { RESTART_SITUATIONS } from './restart-situations.ts'
import { SESSION_SITUATIONS } from './sessions-situations.ts'
import { listHostCases } from './situation.ts'
import { TOOL_SITUATIONS } from './tools-situations.ts'
import { TRUST_SITUATIONS } from './trust-situations.ts'

const SITUATIONS = {
  ...TOOL_SITUATIONS,
  ...CLIENT_SITUATIONS,
  ...MODEL_SITUATIONS,
  ...APPROVAL_SITUATIONS,
  ...OUTPUT_SITUATIONS,
  ...CONTROL_SITUATIONS,
  ...SESSION_SITUATIONS,
  ...TRUST_SITUATIONS,
}
const KINDS = createHostKinds()

describe.each(KINDS)('$name', (kind) => {
  for (const { name, run } of listHostCases(kind, SITUATIONS)) test(name, run)
  // Where a session outlives every process there is no restart.
  for (const { name, run } of listHostCases(kind, RESTART_SITUATIONS)) test.skipIf(!kind.restarts)(name, run)
})

afterAll(async () => {
  for (const kind of KINDS) await kind.close()
})
