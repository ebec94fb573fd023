// A response of server-sent events and its reader: keep-alive comments, a reader that is slow or absent, and a clean
// end.
import { expect, test } from 'vitest'
import type { EventWriter } from './event-response.ts'
import { answerEvents, findEventSource } from './event-response.ts'

/** A response whose reader takes bytes when the test says so, with time controlled by the test. */
function createWorld() {
  let nowMs = 0
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>()
  const end = Promise.withResolvers<void>()
  const written: string[] = []
  let writer: EventWriter | undefined
  let waiting = 0
  let ended = ''
  let hasLeft = false
  const response = answerEvents({
    headers: {},
    waitingBytes: 100,
    keepAliveMs: 10_000,
    timers: {
      start: (delayMs, callback) => {
        const timer = { atMs: nowMs + delayMs, callback }
        timers.add(timer)
        return () => void timers.delete(timer)
      },
    },
    run: async (given) => {
      writer = given
      void given.left.then(() => {
        hasLeft = true
        end.resolve()
      })
      await end.promise
    },
  })
  const settle = async (): Promise<void> => await new Promise((resolve) => void setImmediate(resolve))
  return {
    response,
    written,
    settle,
    timers,
    end: () => end.resolve(),
    write: (text: string) => writer?.write(text),
    waitForRoom: () => writer?.waitForRoom(),
    left: () => hasLeft,
    ended: () => ended,
    open: () =>
      findEventSource(response)?.({
        write: (text) => void written.push(text),
        afterTurn: (callback) => queueMicrotask(callback),
        waitingBytes: () => waiting,
        close: () => void (ended = 'closed'),
        fail: () => void (ended = 'failed'),
      }),
    fill: (bytes: number) => void (waiting = bytes),
    pass: async (ms: number) => {
      nowMs += ms
      for (const timer of timers) {
        if (timer.atMs > nowMs) continue
        timers.delete(timer)
        timer.callback()
      }
      await settle()
    },
  }
}

test('a silent response sends a comment in each interval, and an active one does not', async () => {
  const world = createWorld()
  world.open()
  for (let half = 0; half < 6; half += 1) await world.pass(5000)
  expect(world.written.length).toBeGreaterThanOrEqual(3)
  expect(new Set(world.written)).toEqual(new Set([':\n\n']))
  world.written.length = 0
  for (let half = 0; half < 6; half += 1) {
    world.write('data: x\n\n')
    await world.settle()
    await world.pass(5000)
  }
  expect(new Set(world.written)).toEqual(new Set(['data: x\n\n']))
})

test('a reader that takes something within its minute is not let go, however often it is slow', async () => {
  const world = createWorld()
  const source = world.open()
  for (let round = 0; round < 3; round += 1) {
    world.fill(200)
    const room = world.waitForRoom()
    await world.pass(59_000)
    world.fill(0)
    source?.onRoom()
    await room
    await world.pass(2000)
  }
  expect([world.left(), world.ended()]).toEqual([false, ''])
  world.fill(200)
  void world.waitForRoom()
  await world.pass(60_000)
  expect([world.left(), world.ended()]).toEqual([true, 'failed'])
})

test('a reader that reads slowly keeps its response, until it reads nothing for a minute', async () => {
  const world = createWorld()
  world.open()
  world.fill(400)
  void world.waitForRoom()
  for (const left of [300, 200, 101]) {
    world.fill(left)
    await world.pass(60_000)
    expect([world.left(), world.ended()]).toEqual([false, ''])
  }
  await world.pass(60_000)
  expect([world.left(), world.ended()]).toEqual([true, 'failed'])
})

test.each<[string, (world: ReturnType<typeof createWorld>) => unknown]>([
  ['its end', (world) => world.end()],
  ['a reader that leaves', (world) => world.open()?.onLeave()],
  [
    'a reader that leaves while the response is full',
    (world) => {
      world.fill(200)
      void world.waitForRoom()
      world.open()?.onLeave()
    },
  ],
])('%s leaves no timer, and nothing is written after it', async (_what, act) => {
  const world = createWorld()
  world.open()
  act(world)
  await world.settle()
  world.write('data: late\n\n')
  await world.settle()
  expect([world.left(), world.timers.size, world.written]).toEqual([true, 0, []])
})

test('a response that nobody reads yet begins with its reader, who gets all of it', async () => {
  const world = createWorld()
  await world.settle()
  world.open()
  world.write('data: first\n\n')
  await world.settle()
  expect(world.written).toEqual(['data: first\n\n'])
})

test('the last write arrives before the response ends', async () => {
  const world = createWorld()
  world.open()
  world.write('data: last\n\n')
  world.end()
  await world.settle()
  expect([world.written, world.ended()]).toEqual([['data: last\n\n'], 'closed'])
})

test.each<[string, (world: ReturnType<typeof createWorld>) => unknown]>([
  ['nobody reads for a minute', (world) => world.pass(60_000)],
  ['nobody will read', (world) => world.response.body?.cancel()],
])('a response that %s is let go', async (_what, act) => {
  const world = createWorld()
  await act(world)
  await world.settle()
  expect([world.left(), world.timers.size]).toEqual([true, 0])
})

test('a run that fails breaks the response off, and nothing is left unhandled', async () => {
  const rejections: unknown[] = []
  const note = (cause: unknown): void => void rejections.push(cause)
  process.on('unhandledRejection', note)
  try {
    const timers = { start: () => () => {} }
    const run = (): Promise<void> => Promise.reject(new Error('the list is broken'))
    const response = answerEvents({ headers: {}, waitingBytes: 100, keepAliveMs: 10_000, timers, run })
    await expect(response.text()).rejects.toThrow('the list is broken')
    await new Promise((resolve) => void setImmediate(resolve))
    expect(rejections).toEqual([])
  } finally {
    process.off('unhandledRejection', note)
  }
})
