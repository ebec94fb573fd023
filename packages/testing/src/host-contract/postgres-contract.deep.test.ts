// The contract of every host over PostgreSQL: the same situations, compared with the canonical logs over the memory store.
import { openPostgresStore } from '@baton/host/postgres'
import { afterAll, describe, expect, test } from 'vitest'
import { chooseRotating, describeRotation } from '../components/depth.ts'
import { findPostgres, startPostgres } from '../components/postgres.ts'
import { SITUATIONS } from './all-situations.ts'
import { BACKGROUND_AGENT_SITUATIONS } from './background-agents-situations.ts'
import { CHILDREN_SITUATIONS } from './children-situations.ts'
import { createMemoryKind, createSharedKind } from './local-kind.ts'
import { RESTART_SITUATIONS } from './restart-situations.ts'
import type { HostCase } from './situation.ts'
import { listHostCases } from './situation.ts'
import { RESTARTED_TASK_SITUATIONS, TASK_SITUATIONS } from './tasks-situations.ts'
import { VOICE_TASK_SITUATIONS } from './voice-tasks-situations.ts'

const programs = findPostgres('the host contract over PostgreSQL', (message) => console.warn(message))
const server = programs === undefined ? undefined : await startPostgres(programs)
let played = 0

/** Those of tasks and of other agents each time, and a share of all others. */
function chooseCases(cases: readonly HostCase[]): readonly HostCase[] {
  const always = {
    ...TASK_SITUATIONS,
    ...VOICE_TASK_SITUATIONS,
    ...CHILDREN_SITUATIONS,
    ...BACKGROUND_AGENT_SITUATIONS,
  }
  const others = chooseRotating(cases.filter(({ name }) => !(name in always)))
  return [...cases.filter(({ name }) => name in always), ...others]
}

describe.skipIf(!server)('over PostgreSQL', () => {
  if (!server) return
  const store = openPostgresStore(server.createDatabase())
  const kind = createSharedKind('local over PostgreSQL', store, async () => (await store).close())
  const local = new Map(listHostCases(createMemoryKind(), SITUATIONS).map(({ name, run }) => [name, run]))
  test.each(chooseCases(listHostCases(kind, SITUATIONS)).map(({ name, run }) => [name, run] as const))(
    '%s',
    async (name, run) => {
      expect(await run()).toEqual(await local.get(name)?.())
      played += 1
    },
  )
  const restarts = listHostCases(kind, { ...RESTART_SITUATIONS, ...RESTARTED_TASK_SITUATIONS })
  test.each(restarts.map(({ name, run }) => [name, run] as const))('%s', async (_, run) => {
    expect((await run()).length).toBeGreaterThan(0)
  })
  afterAll(() => kind.close())
})

afterAll(async () => {
  console.log(`host contract over PostgreSQL: ${played} of ${Object.keys(SITUATIONS).length}; ${describeRotation()}`)
  await server?.close()
})
