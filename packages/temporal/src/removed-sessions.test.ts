// Writes of an activity for a session that was removed while it was running.
import type { SessionRecord } from '@baton/core/machine'
import { createMemoryStore } from '@baton/host'
import { expect, test } from 'vitest'
import { checkNotRemoved, markRemoved } from './removed-sessions.ts'

function createOpening(birth: string): SessionRecord {
  const opened = { type: 'session-opened', session: 's', birth, principal: 'ann', agent: 'a', specHash: 'h' } as const
  return { version: 1, pos: 0, nowMs: 1, epoch: 1, input: { type: 'session-opened' }, facts: [opened] } as SessionRecord
}

async function listSessions(store: ReturnType<typeof createMemoryStore>): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { session } of store.list()) names.push(session)
  return names
}

test('the beginning of a removed session that is written late is removed again', async () => {
  const store = createMemoryStore()
  const late = [createOpening('first')]
  await markRemoved(store.blobs, 's', 'first')
  await store.put('s', late)
  await expect(checkNotRemoved(store, 's', late)).rejects.toMatchObject({ code: 'store_conflict' })
  expect(await listSessions(store)).toEqual([])
})

test('the next session of that name stays', async () => {
  const store = createMemoryStore()
  await markRemoved(store.blobs, 's', 'first')
  const next = [createOpening('second')]
  await store.put('s', next)
  await checkNotRemoved(store, 's', next)
  await expect(checkNotRemoved(store, 's', [createOpening('first')])).rejects.toMatchObject({ code: 'store_conflict' })
  expect(await listSessions(store)).toEqual(['s'])
})

test('nothing after the beginning is looked up', async () => {
  const store = createMemoryStore()
  await markRemoved(store.blobs, 's', 'first')
  await checkNotRemoved(store, 's', [{ ...createOpening('first'), pos: 1 }])
  await checkNotRemoved(store, 's', [])
})
