// Measures how long reopening a session of 1,000 turns from the durable store takes: with its snapshot, and without
// one, when the whole log is folded.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Model } from '@baton/core'
import { defineAgent, voice } from '@baton/core'
import { createHost, openSqliteStore } from '@baton/host'
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'

const TURNS = 1000
const SESSION = 'long'
const ANSWER = 'The quick brown fox jumps over the lazy dog. '.repeat(10)

export async function measureResume(_origin: string, rounds: number): Promise<readonly Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  const path = join(folder, 'sessions.db')
  try {
    await withSession(path, async (send) => {
      for (let turn = 0; turn < TURNS; turn++) await send()
    })
    const values = { withSnapshot: [] as number[], without: [] as number[] }
    for (let round = 0; round < rounds; round++) {
      values.withSnapshot.push(await withSession(path, (send) => send()))
      forgetSnapshots(path)
      // The idle session writes a snapshot again.
      values.without.push(await withSession(path, (send) => send()))
    }
    const named = new Map([
      ['with its snapshot', values.withSnapshot],
      ['the whole log', values.without],
    ])
    return compared(named, 'with its snapshot')
  } finally {
    await rm(folder, { recursive: true })
  }
}

const TALKER: Model = {
  id: 'bench/talker',
  provider: 'bench',
  capabilities: { tools: 'native', images: false },
  run: async () => ({ parts: [{ type: 'text', text: ANSWER }], finish: 'end', usage: {}, model: 'talker' }),
}

/** Milliseconds for opening the session. Uses a new host each time, as after a restart. */
async function withSession(path: string, use: (send: () => Promise<unknown>) => Promise<unknown>): Promise<number> {
  const store = await openSqliteStore(path)
  const host = createHost({ store, agent: defineAgent({ name: 'bench', profile: voice, model: TALKER }) })
  const startMs = performance.now()
  const session = await host.session(SESSION)
  const openedMs = performance.now() - startMs
  await use(() => session.send('What does the fox do?').answer)
  await session.close()
  await host.stop()
  await store.close()
  return openedMs
}

function forgetSnapshots(path: string): void {
  const file = new DatabaseSync(path)
  file.exec('DELETE FROM snapshots')
  file.close()
}
