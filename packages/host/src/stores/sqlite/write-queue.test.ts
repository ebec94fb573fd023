// The queue of writes: which writes share a commit, on which thread, and what a slow disk may delay. Durations are
// injected.
import { expect, test } from 'vitest'
import type { Act, ActOutcome } from './acts.ts'
import { CommitPace } from './commit-pace.ts'
import { WriteQueue } from './write-queue.ts'

interface DiskOptions {
  /** Milliseconds of the nth commit. */
  readonly takesMs: (commit: number) => number
  readonly firstMs?: number
  /** Milliseconds of the message to the worker and back with the nth commit. */
  readonly hopMs?: (commit: number) => number
}

/** A disk whose commits take the given time, by a clock that only commits move. */
function createDisk({ takesMs, firstMs = takesMs(0), hopMs = () => 0 }: DiskOptions) {
  let nowMs = 0
  const commits: { readonly acts: number; readonly isHere: boolean; readonly tookMs: number }[] = []
  let isCommitting = false
  const commit = (acts: readonly Act[], isHere: boolean): { outcomes: readonly ActOutcome[]; tookMs: number } => {
    expect(isCommitting).toBe(false)
    const tookMs = takesMs(commits.length)
    nowMs += tookMs
    commits.push({ acts: acts.length, isHere, tookMs })
    return { outcomes: acts.map(() => ({ type: 'done', value: true })), tookMs }
  }
  const queue = new WriteQueue({
    commitHere: (acts) => commit(acts, true).outcomes,
    commitElsewhere: async (acts) => {
      isCommitting = true
      await new Promise<void>((resolve) => void setImmediate(resolve))
      isCommitting = false
      const hop = hopMs(commits.length)
      const committed = commit(acts, false)
      nowMs += hop
      return committed
    },
    pace: new CommitPace(firstMs),
    nowMs: () => nowMs,
    onCommit: () => {},
  })
  return { queue, commits, pass: (ms: number) => void (nowMs += ms) }
}

const act = (session: string, body = 'x'): Act => ({
  type: 'append',
  session,
  epoch: 1,
  afterPos: 0,
  lastMs: 0,
  entry: undefined,
  bodies: [body],
})

/** Commits of one session, one after another, with this many milliseconds of other work between them. */
async function commitOneByOne(disk: ReturnType<typeof createDisk>, count: number, pauseMs = 5): Promise<void> {
  for (let index = 0; index < count; index++) {
    await disk.queue.ask(act('s'))
    disk.pass(pauseMs)
  }
}

const countHere = ({ commits }: ReturnType<typeof createDisk>): number => commits.filter(({ isHere }) => isHere).length
const sumStalls = ({ commits }: ReturnType<typeof createDisk>): number =>
  commits.reduce((sum, { isHere, tookMs }) => sum + (isHere ? tookMs : 0), 0)

test('while the disk is quick, one session commits on the caller’s thread', async () => {
  const disk = createDisk({ takesMs: () => 0.1 })
  await commitOneByOne(disk, 1000)
  expect(countHere(disk)).toBe(1000)
})

test('a disk that was slow when it was opened never holds up the caller’s thread', async () => {
  const disk = createDisk({ takesMs: () => 10 })
  await commitOneByOne(disk, 1000)
  expect(countHere(disk)).toBe(0)
})

test('a disk that becomes slow holds up the caller’s thread once, and again only when it has been quick', async () => {
  const disk = createDisk({ takesMs: (commit) => (commit >= 100 && commit < 600 ? 10 : 0.1) })
  await commitOneByOne(disk, 1000)
  const slow = disk.commits.slice(100, 600)
  expect(slow.filter(({ isHere }) => isHere)).toHaveLength(1)
  expect(disk.commits.slice(0, 100).every(({ isHere }) => isHere)).toBe(true)
  expect(disk.commits.slice(800).every(({ isHere }) => isHere)).toBe(true)
})

test('on a busy machine, where a hop takes longer than a commit, the caller’s thread commits', async () => {
  const disk = createDisk({ takesMs: () => 2, hopMs: () => 4 })
  await commitOneByOne(disk, 1000)
  expect(disk.commits[0]?.isHere).toBe(false)
  expect(countHere(disk)).toBeGreaterThan(900)
})

test('on a busy machine a commit that waits for the processor is not taken for a stall of the disk', async () => {
  const disk = createDisk({ takesMs: (commit) => (commit % 50 === 49 ? 8 : 2), hopMs: () => 6 })
  await commitOneByOne(disk, 1000)
  expect(countHere(disk)).toBeGreaterThan(800)
})

test('a disk that becomes slow after a busy time does not hold up the caller’s thread', async () => {
  const slowFrom = 500
  const disk = createDisk({
    takesMs: (commit) => (commit < slowFrom ? 2 : 20),
    hopMs: (commit) => (commit < slowFrom ? 4 : 0.1),
  })
  await commitOneByOne(disk, 1000)
  expect(disk.commits.slice(slowFrom).filter(({ isHere }) => isHere).length).toBeLessThanOrEqual(2)
})

test('a disk that is slow now and then holds up the caller’s thread less and less', async () => {
  const disk = createDisk({ takesMs: (commit) => (commit % 20 === 19 ? 20 : 0.1) })
  await commitOneByOne(disk, 20_000, 1)
  const wallMs = disk.commits.reduce((sum, { tookMs }) => sum + tookMs, 0) + 20_000
  console.log(`the caller’s thread was held up for ${sumStalls(disk).toFixed(0)} of ${wallMs.toFixed(0)} ms`)
  expect(sumStalls(disk)).toBeLessThan(wallMs / 50)
  const late = disk.commits.slice(10_000).filter(({ isHere, tookMs }) => isHere && tookMs > 5)
  expect(late.length).toBeLessThanOrEqual(2)
})

test('with many sessions at work, and for what is large, the worker commits for all of them at once', async () => {
  const disk = createDisk({ takesMs: () => 0.1 })
  for (let round = 0; round < 10; round++)
    await Promise.all(Array.from({ length: 50 }, (_, session) => disk.queue.ask(act(`s${session}`))))
  expect(countHere(disk)).toBe(0)
  expect(disk.commits).toHaveLength(10)
  disk.pass(1000)
  await disk.queue.ask(act('s', 'x'.repeat(100_000)))
  expect(disk.commits.at(-1)?.isHere).toBe(false)
  await disk.queue.ask(act('s'))
  expect(disk.commits.at(-1)?.isHere).toBe(true)
})

test('simultaneous acts of every kind share one commit; later ones share the next', async () => {
  const disk = createDisk({ takesMs: () => 10 })
  const kinds: readonly Act[] = [
    act('a'),
    { type: 'acquire', session: 'b', owner: 'me' },
    { type: 'release', session: 'c', epoch: 1, left: 'nothing' },
    { type: 'put-snapshot', session: 'd', pos: 1, body: '{}' },
    { type: 'put-blob', session: 'e', name: 'b', body: 't' },
    { type: 'remove', session: 'f' },
  ]
  await Promise.all(kinds.map((one) => disk.queue.ask(one)))
  expect(disk.commits.map(({ acts }) => acts)).toEqual([kinds.length])
  const acquires = Array.from({ length: 500 }, (_, index) =>
    disk.queue.ask({ type: 'acquire', session: `s${index}`, owner: 'me' }),
  )
  const settled = disk.queue.settled()
  await Promise.all(acquires)
  await settled
  expect(disk.commits.map(({ acts }) => acts)).toEqual([kinds.length, 256, 244])
})

test('an act that runs alone waits for the commit in progress, and delays those behind it', async () => {
  const disk = createDisk({ takesMs: () => 10 })
  const order: string[] = []
  const first = disk.queue.ask(act('a')).then(() => order.push('first'))
  await Promise.resolve()
  await Promise.resolve()
  const gate = Promise.withResolvers<void>()
  disk.queue.alone(async () => {
    order.push('alone')
    await gate.promise
  })
  const second = disk.queue.ask(act('a')).then(() => order.push('second'))
  await first
  await new Promise<void>((resolve) => void setImmediate(resolve))
  expect(order).toEqual(['first', 'alone'])
  gate.resolve()
  await second
  expect(order).toEqual(['first', 'alone', 'second'])
  await disk.queue.ended()
})
