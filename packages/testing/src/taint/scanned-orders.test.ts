// Findings of the moderation rules in the instructions that attack the taint policy: the rules recognize forms, which
// an instruction does not need. So a scan informs people, and the policy protects.
import { scanText } from '@baton/kits/moderation'
import { expect, test } from 'vitest'
import { ORDERS } from './orders.test-kit.ts'

test('a scan by rules finds some orders, and is no protection', async () => {
  const scans = await Promise.all(ORDERS.map(async ({ says }) => await scanText(says)))
  const found = scans.filter(({ verdict }) => verdict !== 'clean').length
  console.info(`moderation: rules alone find ${found} of the ${ORDERS.length} orders of the taint suite`)
  expect(found).toBeGreaterThan(0)
  expect(found).toBeLessThan(ORDERS.length)
})
