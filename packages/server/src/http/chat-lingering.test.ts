// Commits and reads of a chat over SQLite, whose every request opens the session and lets it go again.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { openSqliteStore } from '@baton/host'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startChats } from './chat.test-kit.ts'

const MESSAGES = 60

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-chat-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** Counts what commits to the file, or reads it. */
function countActs(store: Store) {
  const counts: Record<string, number> = {}
  const counting =
    <Given extends readonly unknown[], Value>(name: string, act: (...given: Given) => Value) =>
    (...given: Given): Value => {
      counts[name] = (counts[name] ?? 0) + 1
      return act(...given)
    }
  const counted: Store = {
    ...store,
    acquire: counting('acquire', store.acquire),
    append: counting('append', store.append),
    release: counting('release', store.release),
    read: counting('read', store.read),
    snapshots: {
      put: counting('put a snapshot', store.snapshots.put),
      latest: counting('read a snapshot', store.snapshots.latest),
    },
  }
  return { store: counted, counts }
}

test.each([
  ['an answer', 2, 'pure', () => ({ text: 'Noon.' })],
  ['an answer after a quick pure tool', 3, 'pure', (call: number) => (call % 2 ? { text: 'Noon.' } : LOOK)],
  ['an answer after another tool', 4, 'once', (call: number) => (call % 2 ? { text: 'Noon.' } : LOOK)],
] as const)(
  '60 messages of a chat, each with %s, make %i commits each and read the log once',
  async (_, commits, effect, step) => {
    const file = await openSqliteStore(join(folder, `${commits}.db`))
    const { store, counts } = countActs(file)
    const look = tool({
      name: 'look',
      description: 'Looks',
      input: { type: 'object' },
      effect,
      execute: () => '12',
    })
    const model = createScriptedModel({ steps: (_request, call) => step(call) })
    const { openPage, stop } = startChats({ agent: defineAgent({ name: 'a', model, tools: [look] }), store })
    const page = openPage('c1')
    await page.sendMessage({ text: 'message 0' })
    for (const name of Object.keys(counts)) counts[name] = 0
    for (let n = 1; n < MESSAGES; n++) await page.sendMessage({ text: `message ${n}` })
    expect(page.messages).toHaveLength(2 * MESSAGES)
    const { append, 'put a snapshot': snapshots = 0, ...others } = counts
    expect(append).toBe(commits * (MESSAGES - 1))
    expect(snapshots).toBeLessThanOrEqual(1)
    expect(Object.values(others).every((count) => count === 0)).toBe(true)
    const inputs: string[] = []
    for await (const { input } of file.read('c1', 0)) inputs.push(input.type)
    expect(inputs.filter((type) => type === 'host-restarted' || type === 'agent-changed')).toEqual([])
    await stop()
    await file.close()
  },
)

const LOOK = { calls: [{ name: 'look', arguments: {} }] } as const
