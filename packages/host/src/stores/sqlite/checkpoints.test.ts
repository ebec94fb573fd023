// Checkpoints of the write-ahead log: the warning about a log that does not shrink, and the life of the process
// meanwhile. The test plays the checkpointer's thread.
import { EventEmitter } from 'node:events'
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'
import { Checkpoints } from './checkpoints.ts'
import type { CheckpointReply, CheckpointRequest } from './protocol.ts'
import type { WriteQueue } from './write-queue.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-checkpoints-'))
const path = join(folder, 'store.db')
afterAll(() => rmSync(folder, { recursive: true }))

const LOG_BYTES = 1000
/** More than starts a checkpoint at once. */
const MANY_CHARS = 1_048_577

function createWorld() {
  const asked: CheckpointRequest['mode'][] = []
  const warnings: string[] = []
  let isKept = false
  const thread = Object.assign(new EventEmitter(), {
    ref: () => void (isKept = true),
    unref: () => void (isKept = false),
    postMessage: ({ mode }: CheckpointRequest) => void asked.push(mode),
  })
  let work: Promise<void> | undefined
  const queue = { alone: (next: () => Promise<void>) => void (work = next()) }
  const checkpoints = new Checkpoints({
    path,
    thread: thread as unknown as Worker, // the parts in use
    queue: queue as unknown as WriteQueue, // likewise
    logBytes: LOG_BYTES,
    warn: (message) => void warnings.push(message),
  })
  const answer = async (logBytes: number): Promise<void> => {
    thread.emit('message', { restBytes: 0, logBytes } satisfies CheckpointReply)
    await new Promise((resolve) => void setImmediate(resolve))
  }
  /** Commits that make the log longer than its limit; it then has this many bytes after it was written back. */
  const commit = async (leftBytes: number): Promise<void> => {
    writeFileSync(`${path}-wal`, '')
    truncateSync(`${path}-wal`, leftBytes)
    checkpoints.note(MANY_CHARS)
    await answer(LOG_BYTES + 1)
    await answer(leftBytes)
    await work
  }
  return { checkpoints, asked, warnings, answer, commit, isKept: () => isKept }
}

test('a log that a read keeps from shrinking once is not told, one that stays long twice in a row is', async () => {
  const { commit, warnings, asked } = createWorld()
  await commit(4 * LOG_BYTES)
  await commit(0)
  await commit(4 * LOG_BYTES)
  expect(warnings).toEqual([])
  expect(asked).toEqual(['PASSIVE', 'TRUNCATE', 'PASSIVE', 'TRUNCATE', 'PASSIVE', 'TRUNCATE'])
  await commit(5 * LOG_BYTES)
  expect(warnings).toEqual([
    `the write-ahead log of the store ${path} has grown to 5000 bytes because another program keeps a read transaction open`,
  ])
})

test('the process stays while an answer is open for which commits wait, and not longer', async () => {
  const { checkpoints, answer, asked, isKept } = createWorld()
  expect(isKept()).toBe(false)
  checkpoints.note(MANY_CHARS)
  expect(isKept()).toBe(true)
  await answer(LOG_BYTES + 1)
  expect([asked, isKept()]).toEqual([['PASSIVE', 'TRUNCATE'], true])
  await answer(0)
  expect(isKept()).toBe(false)
})
