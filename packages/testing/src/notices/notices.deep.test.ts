// Notices over a real Temporal service: the situations that every kind of host plays.
import { afterAll, describe, test } from 'vitest'
import { findTemporal, startTemporal } from '../components/temporal.ts'
import { NOTICE_SITUATIONS, playSituation } from './notice-situations.ts'
import { createTemporalTelling } from './temporal-telling.test-kit.ts'

const program = findTemporal('notices over Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
afterAll(() => server?.close())

describe.skipIf(!server)('over Temporal', () => {
  if (!server) return
  const kind = createTemporalTelling(server.address)
  test.concurrent.each(Object.entries(NOTICE_SITUATIONS))(
    '%s',
    async (_, situation) => await playSituation(kind, situation)(),
  )
})
