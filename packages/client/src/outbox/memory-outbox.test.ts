// The contract of outboxes, played by the one in memory.
import { expect, test } from 'vitest'
import { createMemoryOutbox } from './memory-outbox.ts'
import { OUTBOX_SITUATIONS } from './outbox-situations.ts'

test.each(Object.entries(OUTBOX_SITUATIONS))('%s', async (_, play) => {
  await expect(play(createMemoryOutbox())).resolves.toBeUndefined()
})
