// The contract of outboxes, for the one in memory.
import { expect, test } from 'vitest'
import type { OutboxEntry } from './outbox.ts'
import { createMemoryOutbox } from './memory-outbox.ts'
import { OUTBOX_SITUATIONS } from './outbox-situations.ts'

test.each(Object.entries(OUTBOX_SITUATIONS))('%s', async (_, play) => {
  await expect(play(createMemoryOutbox())).resolves.toBeUndefined()
})

test('who leaves in the moment of joining leaves what it has and what was left to it', async () => {
  const outbox = createMemoryOutbox()
  const entry = (id: string, atMs: number): OutboxEntry => ({
    kind: 'input',
    id,
    atMs,
    type: 'input.send',
    given: { input: id, content: 'hello' },
  })
  const join = (onLeft: (entries: readonly OutboxEntry[]) => void) =>
    outbox.join({ scope: 's', onLeft, onBroken: (cause) => expect.unreachable(String(cause)) })
  const first = join(() => {})
  first.save(entry('a', 1))
  await first.leave()
  const hasty = join(() => {})
  hasty.save(entry('b', 2))
  await hasty.leave()
  const left = await new Promise<readonly OutboxEntry[]>((resolve) => void join(resolve))
  expect(left.map(({ id }) => id)).toEqual(['a', 'b'])
})
