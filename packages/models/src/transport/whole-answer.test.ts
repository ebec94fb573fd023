// When waiting for an answer ends: at its end, whatever the connection does, and eventually if only keep-alives arrive.
import type { HttpHead } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import type { AnswerProgress } from './whole-answer.ts'
import { DOUBTFUL_QUIET_MS, postUntilWhole, QUIET_MS } from './whole-answer.ts'

const HEAD: HttpHead = { status: 200, headers: {} }

/** A connection that never ends by itself, in a world whose time only the test advances. */
function open() {
  let nowMs = 0
  let timers: readonly { readonly atMs: number; readonly callback: () => void }[] = []
  const reader = { progress: 'open' as AnswerProgress, heard: 0, pushed: 0, push: () => void (reader.pushed += 1) }
  const user = new AbortController()
  let deliver: (bytes: Uint8Array, head: HttpHead) => void = () => {}
  let finish: (head: HttpHead) => void = () => {}
  let closed = false
  const answer = postUntilWhole({
    post: (signal, onBytes) => {
      deliver = onBytes
      return new Promise((resolve, reject) => {
        finish = resolve
        signal.addEventListener('abort', () => {
          closed = true
          reject(new Error('aborted'))
        })
      })
    },
    reader,
    signal: user.signal,
    clock: { nowMs: () => nowMs },
    timers: {
      start: (ms, callback) => {
        const timer = { atMs: nowMs + ms, callback }
        timers = [...timers, timer]
        return () => {
          timers = timers.filter((one) => one !== timer)
        }
      },
    },
    keepAliveTimeoutMs: 300_000,
    url: 'https://api.example.com/v1',
  })
  const outcome = answer.then(
    () => 'answered',
    (cause: unknown) => (isBatonError(cause) ? cause.code : String(cause)),
  )
  let settled: string | undefined
  void outcome.then((what) => (settled = what))
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms
    for (const timer of timers.filter(({ atMs }) => atMs <= nowMs)) {
      timers = timers.filter((one) => one !== timer)
      timer.callback()
    }
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  }
  /** A piece of the answer (text, its finish reason, or its end), or a keep-alive if nothing new was heard. */
  const say = async (progress: AnswerProgress, isNew = true): Promise<void> => {
    reader.progress = progress
    if (isNew) reader.heard += 1
    try {
      deliver(new Uint8Array(1), HEAD)
    } catch (cause) {
      finish(Promise.reject(cause as Error) as unknown as HttpHead) // as a transport passes on what its listener throws
    }
    await pass(0)
  }
  return {
    say,
    pass,
    user,
    reader,
    outcome,
    finish: () => finish(HEAD),
    isClosed: () => closed,
    settled: () => settled,
    timers: () => timers.length,
  }
}

test('an answer that is whole ends at once, and its connection gets a second to end by itself', async () => {
  const world = open()
  await world.say('open')
  expect(world.settled()).toBeUndefined()
  await world.say('whole')
  expect([world.settled(), world.isClosed()]).toEqual(['answered', false])
  await world.pass(1000)
  expect(world.isClosed()).toBe(true)
})

test('a connection that ends by itself is not closed, and nothing waits behind it', async () => {
  const world = open()
  await world.say('whole')
  world.finish()
  await world.pass(0)
  expect([world.settled(), world.isClosed(), world.timers()]).toEqual(['answered', false, 0])
})

test('an answer with a reason ends after a short silence; what comes before that belongs to it', async () => {
  const world = open()
  await world.say('ended')
  await world.pass(QUIET_MS - 1)
  expect(world.settled()).toBeUndefined()
  await world.say('ended')
  await world.pass(QUIET_MS - 1)
  expect(world.settled()).toBeUndefined()
  await world.pass(1)
  expect(world.settled()).toBe('answered')
  const { pushed } = world.reader
  await world.say('ended')
  expect(world.reader.pushed).toBe(pushed)
})

test('signs of life do not hold an answer that has its reason', async () => {
  const world = open()
  await world.say('ended')
  await world.pass(QUIET_MS / 2)
  await world.say('ended', false)
  await world.pass(QUIET_MS / 2)
  expect(world.settled()).toBe('answered')
})

test('an answer of which only signs of life come is given up', async () => {
  const world = open()
  await world.say('open')
  for (let minute = 1; minute < 5; minute++) {
    await world.pass(60_000)
    await world.say('open', false)
  }
  expect(world.settled()).toBeUndefined()
  await world.pass(60_000)
  await world.say('open', false)
  expect(world.settled()).toBe('model_timeout')
})

test('who aborts closes the connection at once', async () => {
  const world = open()
  await world.say('open')
  world.user.abort()
  await world.pass(0)
  expect([world.isClosed(), world.settled()]).toEqual([true, 'Error: aborted'])
})

test('an answer that says something now and then between signs of life is not given up', async () => {
  const world = open()
  for (let minute = 1; minute <= 20; minute++) {
    await world.say('open', minute % 4 === 0)
    await world.pass(60_000)
  }
  expect(world.settled()).toBeUndefined()
})

test('an answer that went on behind a reason is waited for longer', async () => {
  const world = open()
  await world.say('doubtful')
  await world.pass(DOUBTFUL_QUIET_MS - 1)
  expect(world.settled()).toBeUndefined()
  await world.pass(1)
  expect(world.settled()).toBe('answered')
})

test.each(['whole', 'open'] as const)(
  'a call whose connection ended, its answer %s, listens for no abort',
  async (progress) => {
    const world = open()
    await world.say(progress)
    world.finish()
    await world.pass(0)
    expect(getEventListeners(world.user.signal, 'abort')).toEqual([])
  },
)
