// Measures the cost of acquiring 500 sessions of the durable store at once, compared with 500 concurrent appends: both
// use the same queue.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '@baton/host'
import type { Measured } from '../measure.ts'
import { compared } from '../measure.ts'

const COUNT = 500
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(10)

export async function measureAcquires(_origin: string, rounds: number): Promise<readonly Measured[]> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  const store = await openSqliteStore(join(folder, 'sessions.db'))
  try {
    const values = { acquires: [] as number[], appends: [] as number[] }
    const owned = Array.from({ length: COUNT }, () => ({ epoch: 0, pos: -1 }))
    for (let round = 0; round < rounds; round++) {
      values.acquires.push(
        await timeAll((index) =>
          store.acquire(`s${index}`, 'bench').then((outcome) => {
            if (outcome.type === 'acquired') owned[index] = { epoch: outcome.epoch, pos: outcome.pos }
          }),
        ),
      )
      values.appends.push(
        await timeAll((index) => {
          const { epoch, pos } = owned[index] ?? { epoch: 0, pos: -1 }
          const facts = [{ type: 'note-queued', note: pos + 1, text: TEXT }] as const
          const record = { version: 1, pos: pos + 1, nowMs: 1, epoch, input: { type: 'pause' }, facts } as const
          return store.append(`s${index}`, epoch, pos, [record])
        }),
      )
    }
    const named = new Map([
      ['500 appends at once', values.appends],
      ['500 acquires at once', values.acquires],
    ])
    return compared(named, '500 appends at once')
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
}

/** Milliseconds until all have completed. */
async function timeAll(act: (index: number) => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await Promise.all(Array.from({ length: COUNT }, (_, index) => act(index)))
  return performance.now() - startMs
}
