// The same interrupts over SQLite, and a rotating subset over a real Temporal service.
import { afterAll, describe, expect, test } from 'vitest'
import { chooseRotating, describeRotation } from '../components/depth.ts'
import { createSqliteKind } from '../host-contract/local-kind.ts'
import { createTemporalKind } from '../host-contract/temporal-kind.test-kit.ts'
import { findTemporal, startTemporal } from '../components/temporal.ts'
import { listCells, nameCell } from './cells.ts'
import { checkCells, checkCellOfService } from './check-cells.test-kit.ts'
import { suits } from './play.ts'

const program = findTemporal('barge-in over Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
/** A conversation takes the service several seconds. */
const DAYS = 9
let played = 0

test.each([1, 2] as const)('over SQLite, version %i', async (version) => {
  const kind = createSqliteKind()
  console.log(await checkCells(kind, version))
  await kind.close()
})

describe.skipIf(!server)('over a Temporal service', () => {
  if (!server) return
  const kind = createTemporalKind(server.address)
  const cases = ([1, 2] as const).flatMap((version) =>
    listCells()
      .filter((cell) => suits(version, cell))
      .map((cell) => [`version ${version}, ${nameCell(cell)}`, version, cell] as const),
  )
  const chosen = chooseRotating(cases, DAYS)
  test.concurrent.each(chosen)('%s', async (_, version, cell) => {
    await checkCellOfService(kind, version, cell)
    played += 1
  })
  test('is there', () => expect(chosen.length).toBeGreaterThan(0))
})

afterAll(async () => {
  console.log(`barge-in: ${played} interrupts over Temporal; ${describeRotation(DAYS)}`)
  await server?.close()
})
